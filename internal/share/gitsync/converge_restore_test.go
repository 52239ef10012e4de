package gitsync_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Histories that random ones were cut down to.

// snapshots opens the engine of a clone's home.
func (c *clone) snapshots() *snapshot.Engine {
	c.t.Helper()
	h, _, err := home.Open(c.home, home.Options{Clock: c.clock.now, Random: rand.Reader})
	must.Do(c.t, err)
	return must.Get(snapshot.New(snapshot.Options{Home: h, Clock: c.clock.now, Random: rand.Reader}))(c.t)
}

func (c *clone) snapshot() amber.SnapshotID {
	c.t.Helper()
	meta, err := c.snapshots().Snapshot(c.t.Context(), wire.SnapshotRequest{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent})
	must.Do(c.t, err)
	return meta.ID
}

func (c *clone) restore(id amber.SnapshotID) {
	c.t.Helper()
	_, err := c.snapshots().Restore(c.t.Context(), wire.RestoreRequest{
		SnapshotRef: wire.SnapshotRef{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent, ID: id},
	})
	must.Do(c.t, err)
}

// prompt appends a prompt and returns its id.
func (c *clone) prompt(session amber.SessionID, text string) amber.TurnID {
	c.t.Helper()
	turn, err := c.AppendTurn(c.t.Context(), amber.Turn{SessionID: session, Role: amber.RoleUser, Content: text, ProjectID: shop})
	must.Do(c.t, err)
	return turn.ID
}

// said returns the prompts of a session, sorted.
func (c *clone) said(session amber.SessionID) []string {
	c.t.Helper()
	turns := must.Get(amber.LastTurns(c.t.Context(), c, session, 100))(c.t)
	out := []string{}
	for _, turn := range turns {
		out = append(out, turn.Content)
	}
	slices.Sort(out)
	return out
}

// settled lets clones export, give each other everything and import, twice.
func settled(clones ...*clone) {
	for range 2 {
		for _, c := range clones {
			c.export(gitsync.ExportOptions{})
		}
		for _, from := range clones {
			for _, to := range clones {
				if from != to {
					from.gives(to)
				}
			}
		}
		for _, c := range clones {
			c.imports()
		}
	}
}

// Deleting a session deletes the prompts that the clone knows. A prompt that another person typed meanwhile stays, on
// every clone, in whatever order the records arrive.
func TestPromptsUnknownToTheDeleterOfASessionStay(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, b := newClone(t), newClone(t)
	for _, c := range []*clone{a, b} {
		must.Get(c.StartSession(ctx, amber.SessionStart{ID: "s", Project: shop}))(t)
	}
	b.prompt("s", "said by b")
	must.Do(t, a.DeleteSession(ctx, "s"))
	settled(a, b)
	joined := newClone(t)
	a.gives(joined)
	joined.imports()
	want := []string{"said by b"}
	for i, c := range []*clone{a, b, joined} {
		must.Equal(t, fmt.Sprintf("clone %d", i), c.said("s"), want)
	}
}

// Text of a memory that other clones know stays in the history of the clone that restores.
func TestARestoreKeepsExportedTextInTheHistory(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	id := a.save("one")
	before := a.snapshot()
	a.edit(id, "two")
	settled(a, b)
	a.restore(before)
	settled(a, b)
	for i, c := range []*clone{a, b} {
		all := must.Get(amber.All(t.Context(), c.History, id))(t)
		if !slices.ContainsFunc(all, func(m amber.Memory) bool { return m.Content == "two" }) {
			t.Errorf("clone %d lacks the text: %+v", i, all)
		}
	}
}

// A restore keeps what was erased erased, and others still learn of it.
func TestARestoreStillTellsOfAnErasure(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	before := a.snapshot()
	id := b.save("erased by a")
	settled(a, b)
	must.Get(a.Erase(t.Context(), id))(t)
	a.restore(before)
	settled(a, b)
	for i, c := range []*clone{a, b} {
		must.Equal(t, fmt.Sprintf("texts of clone %d", i), len(c.texts()), 0)
	}
}

// A prompt whose deletion others know of is gone, also after a restore that
// would have it: nothing orders the two.
func TestARestoreDoesNotKeepAPromptThatOthersDeleted(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.prompt("s", "said by a")
	settled(a, b)
	before := a.snapshot()
	must.Get(a.DeleteTurns(t.Context(), "s"))(t)
	settled(a, b)
	a.restore(before)
	settled(a, b)
	must.Equal(t, "what was said", b.said("s"), a.said("s"))
}

// A chunk that another chunk rewrites is not missing, also for a clone that has applied the rewritten one long ago.
func TestARewrittenChunkIsNotMissed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, b, joined := newClone(t), newClone(t), newClone(t)
	id := a.save("one")
	a.save("two")
	a.pushes(b)
	must.Get(b.Erase(ctx, id))(t)
	b.export(gitsync.ExportOptions{})
	b.gives(a)
	must.Get(a.sync.Compact(ctx))(t)
	a.gives(joined)
	joined.imports()
	a.save("three") // its chunk follows upon the one that is no more
	must.Equal(t, "missing", len(a.pushes(joined).Missing), 0)
}

// A chunk that was rewritten is there by itself, and again when the pack that
// holds the old one is rewritten: it is one file.
func TestCompactKeepsAChunkThatWasRewrittenTwice(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, b, joined := newClone(t), newClone(t), newClone(t)
	id := a.save("to be erased")
	a.save("to be kept")
	a.pushes(b)
	must.Get(b.Erase(ctx, id))(t)
	b.export(gitsync.ExportOptions{})
	must.Get(b.sync.Compact(ctx))(t) // rewrites the chunk
	for _, text := range []string{"two", "three", "four", "five"} {
		a.shares(text)
	}
	must.Get(a.sync.Compact(ctx))(t) // packs the chunk
	b.gives(a)
	must.Get(a.sync.Compact(ctx))(t)
	a.gives(joined)
	joined.imports()
	must.Equal(t, "a new clone", joined.texts(), []string{"five", "four", "three", "to be kept", "two"})
}

// A memory that was deleted after a restore keeps its text in this store alone, and so does the version that was
// restored.
func TestWhatWasDeletedAfterARestoreDoesNotLeave(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	id := a.save("one")
	before := a.snapshot()
	a.edit(id, "two")
	a.restore(before)
	must.Do(t, a.Delete(t.Context(), id))
	a.pushes(b)
	all, err := amber.All(t.Context(), b.History, id)
	if err != nil || len(all) != 1 || all[0].Content != "" {
		t.Errorf("it left as %+v, %v", all, err)
	}
}
