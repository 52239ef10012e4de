package transfer_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

func (b *bench) ownOf(user string) transfer.Options {
	o := b.own()
	o.User = user
	return o
}

// userMemory is the memory of a row about a user who was named.
func (b *bench) userMemory(key, user string) amber.Memory {
	b.t.Helper()
	return must.Get(b.store.Memories.Get(b.t.Context(), foreign.MemoryID("toy", foreign.Key{key, "user " + user})))(b.t)
}

// The same files imported for two users are memories of both: what is one's own never moves to another.
func TestEachNamedUserHasMemoriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(toyLine{Key: "u", Text: "likes tea", Scope: amber.ScopeUser}, toyLine{Key: "p", Text: "tabs"}, toyLine{From: "u", To: "p"})
	for _, user := range []string{"ada", "bob"} {
		r := b.run(b.ownOf(user))
		must.Equal(t, user+" changed", fmt.Sprint(r.Changed, r.Conflicts, r.Skipped), "0 0 0")
		m := b.userMemory("u", user)
		must.Equal(t, "reach", string(m.Scope)+m.UserID, "user"+user)
		must.Equal(t, "related", len(must.Get(b.store.Relations.Related(t.Context(), m.ID))(t)), 1)
		head := b.head()
		must.Equal(t, user+" again", b.run(b.ownOf(user)).Known, 3)
		must.Equal(t, "head of the change log", b.head(), head)
	}
	must.Equal(t, "what is about nobody is one memory", len(must.Get(b.store.Memories.List(t.Context(), amber.ListQuery{All: true}))(t).Items), 3)
}

// The warning about memories that everybody sees names the remedy.
func TestUndoAndAUserKeepMemoriesToOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(toyLine{Key: "u", Text: "likes tea", Scope: amber.ScopeUser})
	r := b.run(b.own())
	must.Says(t, "warning", fmt.Sprint(r.Warnings), "undo the import and import again with --user")
	b.undo(r.ID)
	must.Equal(t, "new", b.run(b.ownOf("ada")).New, 1)
	items := must.Get(b.store.Memories.List(t.Context(), amber.ListQuery{All: true}))(t).Items
	must.Equal(t, "memories", len(items), 1)
	must.Equal(t, "reach", string(items[0].Scope)+items[0].UserID, "userada")
}

// Files cannot move what is one's own. The report says so, and counts a change where there is one.
func TestOwnMemoriesStayWithTheirProject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	line := toyLine{Key: "a", Text: "tabs", Project: "shop"}
	b.put(line)
	b.run(b.own())
	line.Project = "shed"
	b.put(line)
	head := b.head()
	for range 2 {
		r := b.run(b.own())
		must.Equal(t, "memories", r.Memories, counts(1, 0, 0, 1))
		must.Equal(t, "head of the change log", b.head(), head)
		must.Says(t, "warnings", fmt.Sprint(r.Warnings), "1", "your own")
	}
	line.Text = "spaces"
	b.put(line)
	must.Equal(t, "with another text", b.run(b.own()).Memories, counts(1, 0, 1, 0))
	must.Equal(t, "memory", fmt.Sprint(b.memory("a").ProjectID, " ", b.memory("a").Content, b.memory("a").Revision), "shop spaces2")
	must.Equal(t, "again", b.run(b.own()).Memories, counts(1, 0, 0, 1))
}

// Undoing an import that made files one's own gives what they say the trust it had, and files of others their say in it.
func TestUndoOfAVouchGivesTheTrustBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.imported(sample[0], sample[1])
	vouch := b.run(b.own())
	must.Equal(t, "trust", b.memory("a").Trust, amber.TrustOwn)
	mine := "said here"
	must.Get(b.store.Editor.Edit(t.Context(), amber.EditRequest{ID: b.memory("b").ID, Content: &mine}))(t)

	u := b.undo(vouch.ID)
	must.Equal(t, "restored and deleted", fmt.Sprint(u.Restored, u.Deleted), "1 0")
	must.Equal(t, "kept", fmt.Sprint(u.Kept), fmt.Sprintf("[{memory %s was changed since}]", b.memory("b").ID))
	must.Equal(t, "trust after undo", fmt.Sprint(b.memory("a").Trust, b.memory("a").Content), "imported"+sample[0].Text)

	changed := sample[0]
	changed.Text = "newer"
	must.Equal(t, "a newer file of anybody", b.imported(changed).Memories, counts(1, 0, 1, 0))
	for _, r := range must.Get(transfer.List(t.Context(), b.store))(t) {
		b.undo(r.ID)
	}
	_, err := b.store.Memories.Get(t.Context(), foreign.MemoryID("toy", foreign.Key{"a"}))
	must.Kind(t, "memory after all were undone", err, amber.KindNotFound)
}

// The same as an import and an undo in a row, and then one's own once more.
func TestUndoOfAVouchAndOfTheImportBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.imported(sample[0])
	b.undo(b.run(b.own()).ID)
	u := b.undo(first.ID)
	must.Equal(t, "deleted and kept", fmt.Sprint(u.Deleted, len(u.Kept)), "1 0")
	must.Equal(t, "left", b.told(), "")
	must.Equal(t, "own again", fmt.Sprint(b.run(b.own()).New, b.memory("a").Trust), "1own")
}
