package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/wire"
)

// rounds is how often each goroutine of the test below does its work.
const rounds = 6

// TestManyGoroutinesShareAnAgent uses every part of one open agent at the same time:
// store, notes, journal, drain, snapshots, bundles and sync. Everything acknowledged
// is there afterwards, and every snapshot is sound. It is the test that shows data
// races between the packages below this one.
func TestManyGoroutinesShareAnAgent(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	a := opened(t)
	c := &crowd{T: t, a: a, store: a.Store(), dir: t.TempDir()}
	var all sync.WaitGroup
	for n, work := range []func(context.Context, int, int) error{
		c.remember, c.remember, c.remember, c.recall, c.erase, c.talk, c.talk, c.drain, c.note, c.freeze, c.share,
	} {
		all.Go(func() {
			for round := range rounds {
				if err := work(t.Context(), n, round); err != nil {
					t.Errorf("goroutine %d, round %d: %v", n, round, err)
					return
				}
			}
		})
	}
	all.Wait()
	c.check()
}

// crowd is an agent that many use, and what it has acknowledged.
type crowd struct {
	*testing.T
	a     *Agent
	store amber.Store
	dir   string

	mu   sync.Mutex
	kept []amber.MemoryID
}

func (c *crowd) remember(ctx context.Context, n, round int) error {
	ack, err := c.store.LongTerm.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("goroutine %d found lighthouse %d", n, round)})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, ack.ID)
	return nil
}

func (c *crowd) recall(ctx context.Context, _, _ int) error {
	_, err := c.store.LongTerm.Recall(ctx, amber.Query{Text: "which lighthouse"})
	return err
}

func (c *crowd) erase(ctx context.Context, n, round int) error {
	ack, err := c.store.LongTerm.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("goroutine %d forgets harbour %d", n, round)})
	if err != nil {
		return err
	}
	_, err = c.a.Erase(ctx, ack.ID)
	return err
}

func (c *crowd) talk(_ context.Context, n, round int) error {
	say(c.T, c.a, amber.SessionID(fmt.Sprint("s", n)), fmt.Sprintf("prompt %d", round))
	return nil
}

func (c *crowd) drain(ctx context.Context, _, _ int) error {
	_, err := c.a.Drain(ctx, false)
	return err
}

func (c *crowd) note(ctx context.Context, _, round int) error {
	_, err := c.store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "plan", Content: fmt.Sprintf("step %d\n", round)})
	return err
}

// freeze takes a snapshot, verifies it and writes every third one to a bundle.
func (c *crowd) freeze(ctx context.Context, _, round int) error {
	meta, err := c.a.Snapshot(ctx, wire.SnapshotRequest{Label: fmt.Sprint("round ", round)})
	if err != nil || round%3 != 0 {
		return err
	}
	engine, err := c.a.Snapshots(ctx)
	if err != nil {
		return err
	}
	ref := wire.SnapshotRef{Tenant: c.a.Tenant(), Agent: c.a.ID(), ID: meta.ID}
	_, err = engine.Export(ctx, wire.ExportRequest{SnapshotRef: ref, File: filepath.Join(c.dir, fmt.Sprint(round, ".tar.zst"))})
	return err
}

func (c *crowd) share(ctx context.Context, _, _ int) error {
	s, err := gitsync.Open(c.store, filepath.Join(c.dir, ".amber"))
	if err != nil {
		return err
	}
	_, err = s.Export(ctx, gitsync.ExportOptions{CreatedBy: "ann"})
	return err
}

// check reads back everything that was acknowledged.
func (c *crowd) check() {
	c.Helper()
	ctx := c.Context()
	for _, id := range c.kept {
		if _, err := c.store.Memories.Get(ctx, id); err != nil {
			c.Errorf("memory %s was acknowledged: %v", id, err)
		}
	}
	if want := 3 * rounds; len(c.kept) != want {
		c.Errorf("%d memories were acknowledged, want %d", len(c.kept), want)
	}
	if _, err := c.a.Drain(ctx, false); err != nil {
		c.Error(err)
	}
	page, err := c.store.Sessions.ListSessions(ctx, amber.SessionQuery{})
	if err != nil || len(page.Items) != 2 {
		c.Errorf("%d sessions, want 2: %v", len(page.Items), err)
	}
	engine, err := c.a.Snapshots(ctx)
	if err != nil {
		c.Fatal(err)
	}
	report, err := engine.CheckRepository(ctx, wire.CheckRequest{Tenant: c.a.Tenant(), ReadData: true})
	if err != nil || !report.OK() {
		c.Errorf("the repository: %v, %+v", err, report)
	}
}
