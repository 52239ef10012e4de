package mem0

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// reader reads a tree. The history is read first, but what a document says of a memory counts: the history knows no user.
type reader struct {
	to    foreign.Sink
	o     foreign.Options
	said  foreign.Seen
	later foreign.Seen       // keys of the items of documents
	past  map[string]history // of those
	held  int
}

// history is what the history says of a memory that a document holds.
type history struct {
	earlier []foreign.Earlier
	deleted amber.Time
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{to: to, o: o, said: foreign.Seen{}, later: foreign.Seen{}, past: map[string]history{}}
	_, single := t.Single()
	var docs []foreign.File
	for _, f := range documents(t) {
		if single || isDocument(f) {
			docs = append(docs, f)
		}
	}
	texts, dbs := markdowns(t), databases(t)
	if len(dbs) > 0 {
		if err := r.look(ctx, docs, texts); err != nil {
			return err
		}
	}
	if err := r.readHistory(ctx, t, dbs); err != nil {
		return err
	}
	for _, f := range docs {
		if err := r.readDocument(ctx, f); err != nil {
			return err
		}
	}
	for _, f := range texts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.readMarkdown(f); err != nil {
			return err
		}
	}
	return nil
}

// look notes which memories the documents hold.
func (r *reader) look(ctx context.Context, docs, texts []foreign.File) error {
	for _, f := range docs {
		loud := r.to
		r.to = silent{loud}
		err := r.document(ctx, f, func(_ foreign.Place, x foreign.Fields) error {
			r.later.Add(keyOf(x.Text("id"), x.Text(textNames...)))
			return nil
		}, foreign.Quiet)
		r.to = loud
		if err != nil {
			return err
		}
	}
	for _, f := range texts {
		for _, b := range r.blocks(f, foreign.Quiet) {
			r.later.Add(keyOf(b.fields["id"], b.text))
		}
	}
	return nil
}

// silent is a sink for a reading that is not the last.
type silent struct{ foreign.Sink }

// Warn implements [foreign.Sink].
func (silent) Warn(string, ...any) {}

// memory gives out a memory, unless it was given out.
func (r *reader) memory(f foreign.File, m foreign.Memory) error {
	switch r.said.Add(m.Key, m.Content) {
	case foreign.Same:
		return nil
	case foreign.Other:
		r.to.Skip(m.Place, "memory %.60q is in these files twice, with different texts: the first one counts", m.Key[1])
		return nil
	}
	if h, ok := r.past[m.Key[1]]; ok && m.Key[1] != "" {
		m.DeletedAt = h.deleted
		for _, e := range h.earlier {
			if e.Content != m.Content {
				m.Earlier = append(m.Earlier, e)
			}
		}
	}
	m.CreatedAt = cmp.Or(m.CreatedAt, m.UpdatedAt, f.ModifiedAt())
	m.UpdatedAt = cmp.Or(m.UpdatedAt, m.CreatedAt)
	return r.to.Memory(m)
}
