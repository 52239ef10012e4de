//go:build linux

package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// An agent that nobody uses is frozen once, however long the server runs; one that
// changes is frozen again.
func TestAnIdleAgentIsFrozenOnce(t *testing.T) {
	t.Parallel()
	s := newSetting(t, true)
	s.set("AMBER_SNAPSHOT__AUTO__SCHEDULE", "15m")
	s.does("remember", "x")
	s.does("note", "write", "a.md", "a note")
	a := &app{world: s.world("", io.Discard, io.Discard)}
	a.global.tenant, a.global.agent = "default", "default"
	serving, err := a.newServing(t.Context(), &cobra.Command{}, serveFlags{tools: "default", logLevel: "error"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := serving.close(); err != nil {
			t.Error(err)
		}
	}()
	var told []string
	w := serving.scheduler(func(detail string, err error) {
		if err != nil {
			t.Error(err)
		}
		told = append(told, detail)
	})
	s.now = time.Now()
	period := func() {
		t.Helper()
		r, err := w.Tick(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.Report(r)
		s.now = s.now.Add(15 * time.Minute)
	}
	for range 10 {
		period()
	}
	want := append([]string{"1 taken, 0 unchanged"}, repeat("0 taken, 1 unchanged", 9)...)
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told %q", told)
	}
	for _, change := range [][]string{
		{"remember", "y"},
		{"note", "write", "a.md", "another note"},
		{"task", "save", "t1", "--goal", "x"},
		{"journal", "append", "--session", "s1", "--type", "prompt", "hello"},
		{"session", "start", "s2"},
		{"journal", "drain"},
	} {
		told = nil
		s.does(change...)
		period()
		if fmt.Sprint(told) != "[1 taken, 0 unchanged]" {
			t.Errorf("after %q: %q", change, told)
		}
	}
	if n := len(s.listed()); n != 7 {
		t.Errorf("%d snapshots", n)
	}
}

func (s *setting) listed() []amber.SnapshotMeta {
	return told[amber.Page[amber.SnapshotMeta]](s, "snapshot", "list").Items
}

func repeat(text string, n int) (out []string) {
	for range n {
		out = append(out, text)
	}
	return out
}
