package transfer_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign"
	"github.com/amber-memory/amber/foreign/transfer"
	"github.com/amber-memory/amber/internal/must"
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

// The warning about memories that everybody sees tells what helps.
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
