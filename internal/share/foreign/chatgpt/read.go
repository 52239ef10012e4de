package chatgpt

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// reader reads one export.
type reader struct {
	ctx      context.Context
	to       foreign.Sink
	project  string
	seen     foreign.Seen // conversations
	memories memories
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{ctx: ctx, to: to, project: o.Project, seen: foreign.Seen{}, memories: newMemories(to)}
	for _, f := range candidates(t) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if isTheirs(f.Names()) {
			continue
		}
		take := func(at foreign.Place, c *conversation) error { return r.conversation(f, at, c) }
		if err := foreign.Conversations(ctx, f, to, take); err != nil {
			return err
		}
	}
	return r.memories.tell()
}

// conversation takes one conversation of a file.
func (r *reader) conversation(f foreign.File, at foreign.Place, c *conversation) error {
	id := c.id()
	switch {
	case c.Mapping == nil || id == "":
		r.to.Skip(at, "element has no id or no messages, want a conversation with conversation_id and mapping")
		return nil
	case bool(c.DoNotRemember):
		r.to.Skip(at, "conversation is marked as not to be remembered")
		return nil
	case r.seen.Add(foreign.Key{id}) != foreign.First:
		r.to.Skip(at, "conversation %.60q is there twice; the first is read", id)
		return nil
	}
	c.date(f.ModifiedAt())
	r.memories.collect(c, at, int64(len(r.seen)))
	return r.session(c, at)
}

// session gives out a conversation and its turns.
func (r *reader) session(c *conversation, at foreign.Place) error {
	for _, t := range []struct {
		name string
		time seconds
	}{{"create_time", c.CreateTime}, {"update_time", c.UpdateTime}} {
		if t.time.err != nil {
			r.to.Skip(at, "%s of the conversation is not used: %v", t.name, t.time.err)
		}
	}
	turns := r.turns(c, at)
	if len(turns) == 0 {
		return nil
	}
	return foreign.Tell(r.to, foreign.Session{
		Place: at, ID: foreign.SessionID(name, c.id()), Name: strings.TrimSpace(c.Title), Project: r.project,
		StartedAt: c.began, EndedAt: c.ended, Turns: int64(len(turns)), State: turns[len(turns)-1].Key[0],
	}, turns)
}

// turns returns what was said on the way to the current message.
func (r *reader) turns(c *conversation, at foreign.Place) (out []foreign.Turn) {
	ids, problem := c.chain()
	if problem != "" {
		r.to.Skip(at, "%s", problem)
	}
	last, known := c.began, map[string]bool{}
	for _, id := range ids {
		m := c.Mapping[id].Message
		if m == nil || m.isSilent() {
			continue
		}
		place := messagePlace(at, id)
		if !m.CreateTime.at.IsZero() {
			last = m.CreateTime.at
		}
		t := foreign.Turn{Place: place, Key: foreign.Key{cmp.Or(m.ID, id)}, Role: m.role(), Content: m.text(), At: last}
		switch {
		case strings.TrimSpace(t.Content) == "":
			if !m.isKnown() {
				r.to.Skip(place, "content is of type %.60q, which is not known and has no text", m.Content.Type)
			}
		case t.Role == "":
			r.to.Skip(place, "author is %.60q, want user, assistant, system or tool", m.Author.Role)
		case m.CreateTime.err != nil:
			r.to.Skip(place, "%v", m.CreateTime.err)
		case known[t.Key[0]]:
			r.to.Skip(place, "message %.60q is in the conversation twice; the first is read", t.Key[0])
		default:
			known[t.Key[0]] = true
			out = append(out, t)
		}
	}
	return out
}

func messagePlace(at foreign.Place, id string) foreign.Place {
	if len(id) > 60 {
		id = clip.Bytes(id, 60)
	}
	return foreign.Place{File: at.File, At: at.At + ", message " + strings.ToValidUTF8(id, "")}
}

// isKnown reports whether the type of the content is one that may be empty.
func (m *message) isKnown() bool {
	return slices.Contains([]string{typeText, typeMultimodal, typeCode, typeOutput, typeQuote}, m.Content.Type)
}
