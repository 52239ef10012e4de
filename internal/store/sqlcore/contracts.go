package sqlcore

import (
	"context"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// Options say how the contracts work. Clock, Random and Wrap are required.
type Options struct {
	Clock  amber.Clock
	Random io.Reader
	Queue  amber.QueueOptions
	// Model turns texts into vectors, for questions in other words; nil searches by words
	// alone.
	Model search.Model
	// Crowded reports whether the machine has more to do than it can; nil: never. A question
	// with little time is answered by words alone then.
	Crowded func() bool
	// MeaningOnly answers questions by the model alone, for measuring. Without a model it
	// finds nothing.
	MeaningOnly bool
	// SetAside is called for each row that was left out of an answer because it
	// cannot be read, also from several goroutines. It may be nil.
	SetAside func(amber.SetAside)
	// Wrap gives an error of the engine its kind. Errors that have one keep it.
	Wrap func(op, id string, err error) error
	// Backend is the name of the engine, for [amber.Health].
	Backend string
}

// Database is one of the two databases of an agent: that of its memory or that of
// its control plane.
type Database interface {
	// Name is for messages.
	Name() string
	// Update runs fn in a write transaction that is durable when Update returns. On
	// any error nothing of it stays. Fn runs at most once. Callers that wait may share
	// the transaction.
	Update(ctx context.Context, op, id string, fn func(*Tx) error) error
	// UpdateAlone is Update for work that needs the whole transaction for itself, or
	// takes so long that others should not wait for its end.
	UpdateAlone(ctx context.Context, op, id string, fn func(*Tx) error) error
	// View runs fn in a read transaction: one consistent view. Fn runs at most once.
	View(ctx context.Context, op, id string, fn func(*Tx) error) error
	// Bytes returns how much room the database takes.
	Bytes(t *Tx) (int64, error)
	// Forget makes what was erased unreadable outside of the rows, too, as far as the
	// engine can, and names what remains.
	Forget(ctx context.Context) (remaining []string, err error)
}

// Tx is one transaction of the contracts.
type Tx struct {
	*sqlrows.Tx
	o *Options
	// Late leaves what is to be indexed to others; only for work that goes alone.
	Late bool
	// Subjects are the ids of what the caller has changed, where it does not name them itself.
	Subjects []string
	// Unasked says that no caller asked for the change, so it does not go to the audit log.
	Unasked bool
	// together says that any error undoes everything, and each caller does its work again by itself.
	together bool
}

// about notes what an answer is about, where only the answer says it.
func (t *Tx) about(answer any) {
	switch v := answer.(type) {
	case amber.WriteAck:
		t.Subjects = append(t.Subjects, string(v.ID))
	case amber.Memory:
		t.Subjects = append(t.Subjects, string(v.ID))
	case amber.Session:
		t.Subjects = append(t.Subjects, string(v.ID))
	case amber.Turn:
		t.Subjects = append(t.Subjects, string(v.ID))
	case amber.Compaction:
		t.Subjects = append(t.Subjects, v.ID)
	case amber.Relation:
		t.Subjects = append(t.Subjects, v.ID)
	case amber.Approval:
		t.Subjects = append(t.Subjects, v.ID)
	case amber.Claim:
		t.Subjects = append(t.Subjects, v.Envelope.EntryID)
	}
}

// NewTx returns the transaction of a caller with options.
func NewTx(t *sqlrows.Tx, o *Options) *Tx { return &Tx{Tx: t, o: o} }

type scanner = sqlrows.Row

// Contracts is every contract but notes and documents of state. It is safe for
// concurrent use.
type Contracts struct {
	memory  Database
	control Database
	index   *Indexer
	past    *pastIndex // of a file of an older schema that is only read
	noNotes bool       // a file of an older schema that is only read
	asked   search.Questions
	turns   turns // nil: no caller waits
	o       *Options
}

// New returns the contracts over two databases. Index is the one that both were given, nil where no
// caller writes.
func New(memory, control Database, index *Indexer, o *Options) *Contracts {
	return &Contracts{memory: memory, control: control, index: index, turns: newTurns(), o: o}
}

// OfSchema says that memory.db is an older file, which is only read: what it does not
// have is done without. New files need no call.
func (s *Contracts) OfSchema(version int64) *Contracts {
	if version < IndexedSince {
		s.past = &pastIndex{}
	}
	s.noNotes = version < sqlrows.NotesSince
	return s
}

// HasNotes reports whether the database can hold a copy of the notes.
func (s *Contracts) HasNotes() bool { return !s.noNotes }

// Parts returns the contracts there are: all but notes and documents of state.
func (s *Contracts) Parts() amber.Parts {
	return amber.Parts{
		LongTerm: s, Memories: s, Batch: s, Editor: s, Eraser: s, Relations: s, Concepts: s,
		Compactions: s, Stats: s, Changes: s, Everything: everything{s},
		Turns: s, Loops: s, Sessions: s, Names: s, Active: s, States: s, Ingest: s, Activities: s,
		Tasks: s, Events: s, Approvals: s, Results: s, Queue: s, QueueKeeper: s,
		ControlChanges: controlLog{s},
		Sync:           s,
		Semantic:       s.o.Model != nil,
	}
}

// Replica returns the part that sync works on.
func (s *Contracts) Replica() amber.Replica { return s }

// update is [Database.Update] for a transaction that answers.
func update[T any](ctx context.Context, d Database, op, id string, fn func(*Tx) (T, error)) (v T, err error) {
	err = d.Update(ctx, op, id, func(t *Tx) error {
		if v, err = fn(t); err == nil {
			t.about(v)
		}
		return err
	})
	return v, err
}

// view is [Database.View] for a transaction that answers.
func view[T any](ctx context.Context, d Database, op, id string, fn func(*Tx) (T, error)) (v T, err error) {
	err = d.View(ctx, op, id, func(t *Tx) error {
		v, err = fn(t)
		return err
	})
	return v, err
}

// briefly is for a transaction of many statements that are short, each of which is finished:
// the end of its context is noticed between two of them.
func (t *Tx) briefly() { t.Ctx = steady{t.Ctx} }

// one reads the row of a query, or says that there is no record id.
func one[T any](t *Tx, op, id string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	v, err := scan(t.Row(query, args...))
	if sqlrows.Absent(err) {
		err = sqlrows.NotFound(op, id)
	}
	return v, err
}
