package authorship

import (
	"cmp"
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

// Writer is who speaks: how far it is believed, and what is known of it.
type Writer struct {
	Trust  amber.Trust // own or agent
	Author amber.Author
}

// Sign returns a store in which every write bears its writer.
func Sign(s amber.Store, w Writer) amber.Store {
	p := &s.Parts
	guard := guard{w, p.Memories}
	p.LongTerm = longTerm{p.LongTerm, guard}
	p.Batch = batch{p.Batch, w}
	p.Editor = editor{p.Editor, w}
	p.Eraser = eraser{p.Eraser, guard}
	p.Relations = relations{p.Relations, w}
	p.Concepts = concepts{p.Concepts, guard}
	p.Ingest = ingester{p.Ingest, w}
	return s
}

// trust is what a write of the writer is trusted with, where it asks for some trust.
func (w Writer) trust(asked amber.Trust) amber.Trust {
	return cmp.Or(asked, amber.TrustOwn).AtMost(w.Trust)
}

// author is the author of a write. The owner's programs may say more than the door knows: the command line speaks for an agent when
// it runs in the agent's shell, also where it asks a server. Others say nothing about themselves.
func (w Writer) author(said amber.Author) amber.Author {
	if w.Trust != amber.TrustOwn || said == (amber.Author{}) {
		return w.Author
	}
	said.Token = cmp.Or(w.Author.Token, said.Token)
	return said
}

func (w Writer) write(r amber.WriteRequest) amber.WriteRequest {
	r.Trust, r.Author = w.trust(r.Trust), w.author(r.Author)
	return r
}

// guard keeps a writer from what is trusted more, where a call names nothing but an id. The look comes before the call: a memory
// that its owner keeps in between is not seen. Texts are changed under the store's own check.
type guard struct {
	Writer
	memories amber.MemoryReader
}

// check refuses a memory that is trusted more than the writer. One that is not there is left to the call.
func (g guard) check(ctx context.Context, op string, id amber.MemoryID) error {
	if !amber.TrustOwn.Outranks(g.Trust) {
		return nil
	}
	m, err := g.memories.Get(ctx, id)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil
	}
	return cmp.Or(err, m.Trust.MayChange(g.Trust, op, string(id)))
}

type longTerm struct {
	amber.LongTerm
	guard
}

// Write implements [amber.LongTerm].
func (l longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	return l.LongTerm.Write(ctx, l.write(r))
}

// Delete implements [amber.LongTerm].
func (l longTerm) Delete(ctx context.Context, id amber.MemoryID) error {
	if err := l.check(ctx, "delete memory", id); err != nil {
		return err
	}
	return l.LongTerm.Delete(ctx, id)
}

type batch struct {
	amber.BatchWriter
	Writer
}

// WriteBatch implements [amber.BatchWriter].
func (b batch) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	signed := make([]amber.WriteRequest, len(rs))
	for i, r := range rs {
		signed[i] = b.write(r)
	}
	return b.BatchWriter.WriteBatch(ctx, signed)
}

type editor struct {
	amber.Editor
	Writer
}

// Edit implements [amber.Editor].
func (e editor) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	r.Trust, r.Author = e.trust(r.Trust), e.author(r.Author)
	return e.Editor.Edit(ctx, r)
}

type eraser struct {
	amber.Eraser
	guard
}

// Erase implements [amber.Eraser].
func (e eraser) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	if err := e.check(ctx, "erase memory", id); err != nil {
		return amber.EraseReport{}, err
	}
	return e.Eraser.Erase(ctx, id)
}

type relations struct {
	amber.Relations
	Writer
}

// Relate implements [amber.Relations].
func (s relations) Relate(ctx context.Context, r amber.Relation) (amber.Relation, error) {
	r.Trust, r.Author = s.trust(r.Trust), s.author(r.Author)
	return s.Relations.Relate(ctx, r)
}

// Unrelate implements [amber.Relations].
func (s relations) Unrelate(ctx context.Context, id string) error {
	if amber.TrustOwn.Outranks(s.Trust) {
		r, err := s.Relation(ctx, id)
		if err := cmp.Or(err, r.Trust.MayChange(s.Trust, "unrelate memories", id)); err != nil {
			return err
		}
	}
	return s.Relations.Unrelate(ctx, id)
}

// A contract that has a method of its own name is embedded under another.
type conceptKeeper = amber.Concepts

type concepts struct {
	conceptKeeper
	guard
}

// SetConcepts implements [amber.Concepts].
func (c concepts) SetConcepts(ctx context.Context, id amber.MemoryID, words []string) error {
	if err := c.check(ctx, "set concepts", id); err != nil {
		return err
	}
	return c.conceptKeeper.SetConcepts(ctx, id, words)
}

type ingester struct {
	amber.Ingester
	Writer
}

// Ingest implements [amber.Ingester].
func (i ingester) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	in.Steps = slices.Clone(in.Steps)
	for n, step := range in.Steps {
		in.Steps[n].Memories = make([]amber.WriteRequest, len(step.Memories))
		for k, r := range step.Memories {
			in.Steps[n].Memories[k] = i.write(r)
		}
	}
	return i.Ingester.Ingest(ctx, in)
}
