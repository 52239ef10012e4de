package nexo

import (
	"context"

	"github.com/amber-memory/amber"
)

// Sink stores what [Import] reads, in an agent that is empty at first. Update
// runs fn in one transaction; the other methods are called inside fn alone.
// A record whose id is taken is an error of kind conflict; a record that
// belongs to a memory which is not there, of kind not_found.
type Sink interface {
	Update(ctx context.Context, fn func() error) error
	// AddMemory reports whether another memory says the same: then that one is
	// counted once more, and nothing is stored.
	AddMemory(m amber.Memory) (twin bool, err error)
	// AddConcepts adds to the concepts of a memory and reports whether these
	// are its first.
	AddConcepts(id amber.MemoryID, concepts []string) (first bool, err error)
	AddRelation(r amber.Relation) error
	AddSession(s amber.Session) error
	AddTurn(t amber.Turn) error
	AddCompaction(c amber.Compaction) error
	// AddEmbedding reports whether the vector was stored: a memory that has it,
	// or one of the same model, keeps what it has.
	AddEmbedding(e amber.Embedding) (added bool, err error)
	// HasSession reports whether a session, or a turn of it, is stored.
	HasSession(id amber.SessionID) (bool, error)
}

// Source is the agent that [Export] reads. Each method calls fn for every
// record in the order of its making, with ok false for one that cannot be read.
// Deleted records are not among them, nor are turns of other people.
type Source interface {
	Memories(fn func(m amber.Memory, concepts []string, ok bool) error) error
	Relations(fn func(r amber.Relation, ok bool) error) error
	Turns(fn func(seq int64, t amber.Turn, ok bool) error) error
	Sessions(fn func(s amber.Session, ok bool) error) error
	Compactions(fn func(seq int64, c amber.Compaction, ok bool) error) error
	Embeddings(fn func(e amber.Embedding, ok bool) error) error
	// Models counts the vectors of each model and dimension.
	Models(fn func(model string, dimension int, vectors int64) error) error
	// Rest counts what the methods above do not show.
	Rest(fn func(what string, n int64) error) error
}
