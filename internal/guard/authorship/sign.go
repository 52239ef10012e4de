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
	return amber.Around(s, signed, writerOf{w, s}.call)
}

// signed reports whether records that a method changes bear a writer.
func signed(m amber.Method) bool { return m.Effect == amber.Changes && m.Layer != amber.LayerControl }

// writerOf is a writer of a store.
type writerOf struct {
	Writer
	store amber.Store
}

func (w writerOf) call(ctx context.Context, c *amber.Call) (err error) {
	op := c.Method.Op
	switch in := c.In[0].(type) {
	case *amber.WriteRequest:
		*in = w.write(*in)
	case *[]amber.WriteRequest:
		*in = w.writes(*in)
	case *amber.EditRequest:
		in.Trust, in.Author = w.trust(in.Trust), w.author(in.Author)
	case *amber.Relation:
		in.Trust, in.Author = w.trust(in.Trust), w.author(in.Author)
	case *amber.Turn:
		*in = w.turn(*in)
	case *amber.Ingestion:
		in.Steps = w.steps(in.Steps)
	case *amber.Incoming:
		err = w.incoming(op, *in)
	case *amber.NoteWrite:
		in.NoteBy = w.by(in.NoteBy)
		err = w.checkNote(ctx, op, in.Name)
	case *amber.MemoryID:
		err = w.Check(ctx, w.store.Memories, op, *in)
	case *string:
		if by, note := c.In[1].(*amber.NoteBy); note {
			*by = w.by(*by)
			err = w.checkNote(ctx, op, *in)
		} else if c.Method.Layer == amber.LayerLongTerm { // the id of a relation
			err = w.checkRelation(ctx, op, *in)
		}
	}
	if err != nil {
		return err
	}
	return c.Next(ctx)
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

// writes signs a list; the caller's stays as it is.
func (w Writer) writes(rs []amber.WriteRequest) []amber.WriteRequest {
	signed := make([]amber.WriteRequest, len(rs))
	for i, r := range rs {
		signed[i] = w.write(r)
	}
	return signed
}

// turn signs a turn. One in which an agent quotes the user is the word of the agent; turns of other roles are trusted
// less anyway.
func (w Writer) turn(t amber.Turn) amber.Turn {
	if trust := w.trust(t.Trust); t.Role == amber.RoleUser && trust != amber.TrustOwn {
		t.Trust = trust
	}
	return t
}

func (w Writer) steps(steps []amber.IngestStep) []amber.IngestStep {
	steps = slices.Clone(steps)
	for i, step := range steps {
		steps[i].Turns = make([]amber.Turn, len(step.Turns))
		for k, t := range step.Turns {
			steps[i].Turns[k] = w.turn(t)
		}
		steps[i].Memories = w.writes(step.Memories)
	}
	return steps
}

// by is what a change of a note says of who makes it, with what is known of the writer.
func (w Writer) by(said amber.NoteBy) amber.NoteBy {
	return amber.NoteBy{Trust: w.trust(said.Trust), Author: w.author(said.Author)}
}

// checkNote refuses a note that is trusted more than the writer. It leaves other faults of the name to the call.
func (w writerOf) checkNote(ctx context.Context, op, name string) error {
	if !amber.TrustOwn.Outranks(w.Trust) {
		return nil
	}
	now, err := w.store.Notes.ReadNote(ctx, name)
	switch amber.KindOf(err) {
	case "":
		return now.Trust.MayChange(w.Trust, op, now.Name)
	case amber.KindNotFound, amber.KindInvalid:
		return nil
	}
	return err
}

// checkRelation refuses a relation that is trusted more than the writer.
func (w writerOf) checkRelation(ctx context.Context, op, id string) error {
	if !amber.TrustOwn.Outranks(w.Trust) {
		return nil
	}
	r, err := w.store.Relations.Relation(ctx, id)
	return cmp.Or(err, r.Trust.MayChange(w.Trust, op, id))
}

// incoming refuses a chunk whose records the caller, who is not the owner, calls own ones.
func (w Writer) incoming(op string, c amber.Incoming) error {
	if c.Trust == amber.TrustOwn && amber.TrustOwn.Outranks(w.Trust) {
		return amber.Errorf(amber.KindRefused, op, c.Chunk, "the caller speaks for an agent; the owner alone says that records from elsewhere are own ones").
			WithHint("import them without saying that they are own, or ask the owner")
	}
	return nil
}
