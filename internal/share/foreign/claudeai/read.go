package claudeai

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// reader reads one export.
type reader struct {
	ctx    context.Context
	tree   *foreign.Tree
	to     foreign.Sink
	o      foreign.Options
	seen   foreign.Seen               // conversations and memories
	named  map[string]*project        // projects by uuid
	placed map[foreign.Place]*project // by file and number
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{ctx: ctx, tree: t, to: to, o: o, seen: foreign.Seen{}, named: map[string]*project{}, placed: map[foreign.Place]*project{}}
	for _, step := range []func() error{r.findProjects, r.conversations, r.memories, r.notes} {
		if err := step(); err != nil {
			return err
		}
	}
	r.passedOver()
	return nil
}

// passedOver warns about the parts of the export that Amber does not import.
func (r *reader) passedOver() {
	designs := 0
	for _, f := range r.tree.Files() {
		if f.Is(".json") && strings.Contains(f.Name, "design_chats") {
			designs++
		}
	}
	if designs > 0 {
		r.to.Warn("%d files of design chats are not imported", designs)
	}
}

// each reads the files of a kind.
func (r *reader) each(k kind, read func(f foreign.File) error) error {
	for _, f := range files(r.tree, k) {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := read(f); err != nil {
			return err
		}
	}
	return nil
}

// document reads a file as JSON. Where tell is false, another pass reports what cannot be read.
func (r *reader) document(f foreign.File, tell bool, d foreign.Document) error {
	if tell {
		return foreign.ReadDocument(f, r.to.Skip, d)
	}
	return foreign.ReadDocument(f, foreign.Quiet, d)
}

// decode reads a part of a document. The report names a part that cannot be read.
func (r *reader) decode(at foreign.Place, raw []byte, into any) bool {
	err := foreign.Decode(raw, into)
	if err != nil {
		r.to.Skip(at, "part of the document cannot be read: %v", err)
	}
	return err == nil
}

func (r *reader) conversations() error {
	return r.each(conversations, func(f foreign.File) error {
		if isTheirs(f.Names()) {
			return nil
		}
		return foreign.Conversations(r.ctx, f, r.to, func(at foreign.Place, c *conversation) error { return r.conversation(f, at, c) })
	})
}

func (r *reader) conversation(f foreign.File, at foreign.Place, c *conversation) error {
	switch {
	case c.UUID == "" || c.Messages == nil:
		r.to.Skip(at, "element has no id or no messages, want a conversation with uuid and chat_messages")
		return nil
	case r.seen.Add(foreign.Key{"session", c.UUID}) != foreign.First:
		r.to.Skip(at, "conversation %.60q is there twice; the first is read", c.UUID)
		return nil
	case len(c.Messages) == 0:
		return nil
	}
	return r.session(c, at, f.ModifiedAt())
}

// session gives out a conversation and its turns.
func (r *reader) session(c *conversation, at foreign.Place, file amber.Time) error {
	for _, t := range []struct {
		name string
		time moment
	}{{"created_at", c.CreatedAt}, {"updated_at", c.UpdatedAt}} {
		if t.time.err != nil {
			r.to.Skip(at, "%s of the conversation is not used: %v", t.name, t.time.err)
		}
	}
	began, ended := c.span(file)
	turns := r.turns(c, at, began)
	if len(turns) == 0 {
		return nil
	}
	return foreign.Tell(r.to, foreign.Session{
		Place: at, ID: foreign.SessionID(name, c.UUID), Name: strings.TrimSpace(c.Name), Summary: strings.TrimSpace(c.Summary), Project: r.o.Project,
		StartedAt: began, EndedAt: ended, Turns: int64(len(turns)), State: turns[len(turns)-1].Key[0],
	}, turns)
}

// turns returns what was said on the way to the last message.
func (r *reader) turns(c *conversation, at foreign.Place, began amber.Time) (out []foreign.Turn) {
	messages, problem := c.chain()
	if problem != "" {
		r.to.Skip(at, "%s", problem)
	}
	last, known := began, map[string]bool{}
	for i, m := range messages {
		if !m.CreatedAt.at.IsZero() {
			last = m.CreatedAt.at
		}
		place := foreign.Place{File: at.File, At: at.At + ", message " + cmp.Or(clip.Bytes(m.UUID, 60), strconv.Itoa(i+1))}
		role, ok := roles[m.Sender]
		switch {
		case m.UUID == "":
			r.to.Skip(place, "message has no uuid")
		case !ok:
			r.to.Skip(place, "sender is %.60q, want human or assistant", m.Sender)
		case m.CreatedAt.err != nil:
			r.to.Skip(place, "%v", m.CreatedAt.err)
		case known[m.UUID]:
			r.to.Skip(place, "message %.60q is in the conversation twice; the first is read", m.UUID)
		default:
			known[m.UUID] = true
			out = append(out, m.turns(place, role, last)...)
		}
	}
	return out
}

var roles = map[string]amber.Role{"human": amber.RoleUser, "assistant": amber.RoleAssistant}

// turns returns a message and its attachments, each as a turn.
func (m *message) turns(at foreign.Place, role amber.Role, when amber.Time) (out []foreign.Turn) {
	t := foreign.Turn{Place: at, Key: foreign.Key{m.UUID}, Role: role, Content: m.text(), At: when, Activity: m.activity()}
	if t.Content != "" || len(t.Activity) > 0 {
		out = append(out, t)
	}
	for i, a := range m.Attachments {
		if strings.TrimSpace(a.Text) == "" {
			continue
		}
		n := strconv.Itoa(i + 1)
		content := a.Text
		if a.Name != "" { // text that was pasted has none
			content = "[attachment " + a.Name + "]\n" + a.Text
		}
		out = append(out, foreign.Turn{
			Place: foreign.Place{File: at.File, At: at.At + ", attachment " + n}, Key: foreign.Key{m.UUID, "attachment", n}, Role: role, Content: content, At: when,
		})
	}
	return out
}
