package gitsync_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func (c *clone) look() gitsync.Look {
	c.t.Helper()
	return must.Get(c.sync.Look(c.t.Context()))(c.t)
}

// An import makes exactly the records that a look before it counts as new, and a look after it counts them as known. A
// look writes nothing.
func TestALookTellsWhatAnImportOfEngramBrings(t *testing.T) {
	t.Parallel()
	for _, vector := range vectors {
		t.Run(vector, func(t *testing.T) {
			t.Parallel()
			c := engramClone(t)
			c.take(vector)
			before := c.look()
			must.Equal(t, "memories after a look", len(c.texts()), 0)
			must.Equal(t, "look again", c.look(), before)
			done := c.imports()
			must.Equal(t, "new memories", int(before.Memories.New), len(c.texts()))
			must.Equal(t, "new sessions", int(before.Sessions.New), done.Sessions)
			must.Equal(t, "new prompts", int(before.Prompts.New), done.Prompts)
			after := c.look()
			must.Equal(t, "memories afterwards", after.Memories, known(before.Memories))
			must.Equal(t, "sessions afterwards", after.Sessions, known(before.Sessions))
			must.Equal(t, "prompts afterwards", after.Prompts, known(before.Prompts))
		})
	}
}

func known(c wire.ImportCounts) wire.ImportCounts {
	return wire.ImportCounts{Read: c.Read, Known: c.Read}
}

// A part of the rows does not count as the chunk: the rest comes later, and what came first is not stored twice.
func TestAPartOfEngramsRowsLeavesTheRestForLater(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.take("basic")
	part := must.Get(gitsync.Options{Format: wire.SyncEngram, Only: []amber.ChangeScope{amber.ChangeMemory}}.Open(c.Store, c.folder))(t)
	first := must.Get(part.Import(t.Context()))(t)
	must.Equal(t, "rows of a part", []int{first.Observations, first.Sessions, first.Prompts}, []int{2, 0, 0})
	must.Equal(t, "chunks of the same part", must.Get(part.Import(t.Context()))(t).Chunks, 0)
	must.Equal(t, "pending chunks", c.status().PendingImport, int64(1))
	rest := c.imports()
	must.Equal(t, "rows of the rest", []int{rest.Observations, rest.Sessions, rest.Prompts}, []int{0, 1, 1})
	must.Equal(t, "pending chunks afterwards", c.status().PendingImport, int64(0))
	must.Equal(t, "chunks of the part afterwards", must.Get(part.Import(t.Context()))(t).Chunks, 0)
	must.Equal(t, "memories", len(c.texts()), 2)
}
