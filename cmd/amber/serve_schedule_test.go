//go:build linux

package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// calendar is a clock that a test moves, and the waits of a schedule that end when
// it does.
type calendar struct {
	mu    sync.Mutex
	now   time.Time
	waits chan chan time.Time
}

func (c *calendar) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *calendar) after(time.Duration) <-chan time.Time {
	over := make(chan time.Time, 1)
	c.waits <- over
	return over
}

// period waits until the schedule waits, and lets the next period begin.
func (c *calendar) period(d time.Duration) {
	over := <-c.waits
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
	over <- c.now
}

// A server on a schedule freezes an idle agent once, however many periods pass, and counts it as unchanged; an
// agent that changes is frozen again.
func TestAnIdleAgentIsFrozenOnce(t *testing.T) {
	t.Parallel()
	s := newSetting(t, true)
	c := &calendar{now: time.Now(), waits: make(chan chan time.Time, 1)}
	s.at, s.after = c.read, c.after
	s.set("AMBER_SNAPSHOT__AUTO__SCHEDULE", "15m")
	s.does("remember", "x")
	s.does("note", "write", "a.md", "a note")
	w := s.serve()
	told := func() string { // by /health, once the period is over
		over := <-c.waits
		c.waits <- over
		return w.worker("scheduled snapshots").Detail
	}
	got := []string{told()}
	for range 9 {
		c.period(15 * time.Minute)
		got = append(got, told())
	}
	want := append([]string{"1 taken, 0 unchanged"}, repeat("0 taken, 1 unchanged", 9)...)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("told %q", got)
	}
	must.Equal(t, "periods that are counted", w.rounds("scheduled snapshots"), 10)
	for _, change := range [][]string{
		{"remember", "y"},
		{"note", "write", "a.md", "another note"},
		{"task", "save", "t1", "--goal", "x"},
		{"journal", "append", "--session", "s1", "--type", "prompt", "hello"},
		{"session", "start", "s2"},
	} {
		s.does(change...)
		c.period(15 * time.Minute)
		must.Equal(t, strings.Join(change, " "), told(), "1 taken, 0 unchanged")
	}
	must.Equal(t, "snapshots", len(s.listed()), 6)
}

func (s *setting) listed() []wire.SnapshotMeta {
	return told[amber.Page[wire.SnapshotMeta]](s, "snapshot", "list").Items
}

func repeat(text string, n int) (out []string) {
	for range n {
		out = append(out, text)
	}
	return out
}
