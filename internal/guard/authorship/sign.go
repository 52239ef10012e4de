package authorship

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Writer is who speaks: how far it is believed, and what is known of it.
type Writer struct {
	Trust  amber.Trust // own or agent
	Author amber.Author
}

// Name returns what a program or a token calls itself as a name of an author: without characters that are not printed, and cut.
func Name(said string) string {
	kept := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, said)
	for len(kept) > maxName {
		_, size := utf8.DecodeLastRuneInString(kept)
		kept = kept[:len(kept)-size]
	}
	return strings.TrimSpace(kept)
}

// maxName bounds the name of an author in bytes.
const maxName = 64

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
	p.Turns = turns{p.Turns, w}
	p.Notes = notes{p.Notes, w}
	p.Ingest = ingester{p.Ingest, w}
	p.Sync = replica{p.Sync, w}
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

// Asks is who asks for something by the writer, where the request says that said does.
func (w Writer) Asks(said wire.Asker) wire.Asker {
	return wire.Asker{Trust: w.trust(said.Trust), Author: w.author(said.Author)}
}

func (w Writer) write(r amber.WriteRequest) amber.WriteRequest {
	r.Trust = w.trust(r.Trust)
	if r.ID == "" || w.Trust != amber.TrustOwn { // the owner stores a recorded memory as it was
		r.Author = w.author(r.Author)
	}
	return r
}

// Check refuses a memory that is trusted more than the writer, forgotten ones too, where a call names nothing but its id. A memory
// that is not there is left to the call. The look comes before the call: a memory that its owner keeps in between is not seen. The
// store itself checks changes of texts.
func (w Writer) Check(ctx context.Context, memories amber.MemoryReader, op string, id amber.MemoryID) error {
	if !amber.TrustOwn.Outranks(w.Trust) {
		return nil
	}
	m, err := memories.Get(ctx, id)
	if amber.KindOf(err) == amber.KindNotFound {
		m, err = latest(ctx, memories, id)
	}
	if amber.KindOf(err) == amber.KindNotFound {
		return nil
	}
	return cmp.Or(err, m.Trust.MayChange(w.Trust, op, string(id)))
}

// latest is the newest revision of a memory, also of one that was forgotten.
func latest(ctx context.Context, memories amber.MemoryReader, id amber.MemoryID) (amber.Memory, error) {
	revisions, err := amber.All(ctx, memories.History, id)
	if err != nil || len(revisions) == 0 {
		return amber.Memory{}, err
	}
	return revisions[len(revisions)-1], nil
}

// guard checks the memories of a store for a writer.
type guard struct {
	Writer
	memories amber.MemoryReader
}

func (g guard) check(ctx context.Context, op string, id amber.MemoryID) error {
	return g.Check(ctx, g.memories, op, id)
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

// A contract that has a method of its own name is embedded under another.
type turnKeeper = amber.Turns

type turns struct {
	turnKeeper
	Writer
}

// AppendTurn implements [amber.Turns]. A turn in which an agent quotes the user is the word of the agent; turns of
// other roles are trusted less anyway.
func (s turns) AppendTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	return s.turnKeeper.AppendTurn(ctx, s.turn(t))
}

func (w Writer) turn(t amber.Turn) amber.Turn {
	if trust := w.trust(t.Trust); t.Role == amber.RoleUser && trust != amber.TrustOwn {
		t.Trust = trust
	}
	return t
}

// A contract that has a method of its own name is embedded under another.
type noteKeeper = amber.Notes

type notes struct {
	noteKeeper
	Writer
}

// WriteNote implements [amber.Notes].
func (n notes) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	if err := n.check(ctx, "write note", w.Name); err != nil {
		return amber.Note{}, err
	}
	w.NoteBy = n.by(w.NoteBy)
	return n.noteKeeper.WriteNote(ctx, w)
}

// DeleteNote implements [amber.Notes].
func (n notes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	if err := n.check(ctx, "delete note", name); err != nil {
		return err
	}
	return n.noteKeeper.DeleteNote(ctx, name, n.by(by))
}

// check refuses a note that is trusted more than the writer. It leaves other faults of the name to the call.
func (n notes) check(ctx context.Context, op, name string) error {
	if !amber.TrustOwn.Outranks(n.Trust) {
		return nil
	}
	now, err := n.ReadNote(ctx, name)
	switch amber.KindOf(err) {
	case "":
		return now.Trust.MayChange(n.Trust, op, now.Name)
	case amber.KindNotFound, amber.KindInvalid:
		return nil
	}
	return err
}

// by is what a change says of who makes it, with what is known of the writer.
func (n notes) by(said amber.NoteBy) amber.NoteBy {
	return amber.NoteBy{Trust: n.trust(said.Trust), Author: n.author(said.Author)}
}

type ingester struct {
	amber.Ingester
	Writer
}

// Ingest implements [amber.Ingester].
func (i ingester) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	in.Steps = slices.Clone(in.Steps)
	for n, step := range in.Steps {
		in.Steps[n].Turns = make([]amber.Turn, len(step.Turns))
		for k, t := range step.Turns {
			in.Steps[n].Turns[k] = i.turn(t)
		}
		in.Steps[n].Memories = make([]amber.WriteRequest, len(step.Memories))
		for k, r := range step.Memories {
			in.Steps[n].Memories[k] = i.write(r)
		}
	}
	return i.Ingester.Ingest(ctx, in)
}

type replica struct {
	amber.Replica
	Writer
}

// Apply implements [amber.Replica].
func (r replica) Apply(ctx context.Context, c amber.Incoming) (amber.Applied, error) {
	if c.Trust == amber.TrustOwn && amber.TrustOwn.Outranks(r.Trust) {
		return amber.Applied{}, amber.Errorf(amber.KindRefused, "apply chunk", c.Chunk, "the caller speaks for an agent; the owner alone says that records from elsewhere are own ones").
			WithHint("import them without saying that they are own, or ask the owner")
	}
	return r.Replica.Apply(ctx, c)
}
