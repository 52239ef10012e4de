package mcpservice

import (
	"cmp"
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// reader reads all databases and exports of a tree as one.
type reader struct {
	to     foreign.Sink
	o      foreign.Options
	said   foreign.Seen
	stores map[[16]byte]string // by content hash: relations name no store
	linked foreign.Seen        // relations
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{to: to, o: o, said: foreign.Seen{}, stores: map[[16]byte]string{}, linked: foreign.Seen{}}
	err := t.EachDatabase(ctx, databases(t), to.Skip, func(f foreign.File, db *foreign.Database) error { return r.database(ctx, f, db) })
	if err != nil {
		return err
	}
	_, single := t.Single()
	for _, f := range documents(t) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !single && !isExport(f) {
			continue
		}
		if err := r.document(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// memory gives out a memory, unless it was given out.
func (r *reader) memory(f foreign.File, at foreign.Place, x row) error {
	m, err := memory(x, r.o)
	if err != nil {
		r.to.Skip(at, "%v", err)
		return nil
	}
	m.Place = at
	m.CreatedAt = cmp.Or(m.CreatedAt, m.UpdatedAt, f.ModifiedAt())
	m.UpdatedAt = cmp.Or(m.UpdatedAt, m.CreatedAt)
	switch r.said.Add(m.Key, m.Content) {
	case foreign.Same:
		return nil
	case foreign.Other:
		r.to.Skip(at, "memory %.64q of store %.60q is in these files twice: the first one counts", m.Key[1], m.Key[0])
		return nil
	}
	return r.to.Memory(m)
}

func (r *reader) document(ctx context.Context, f foreign.File) error {
	return foreign.ReadDocument(f, r.to.Skip, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			if err := ctx.Err(); err != nil || list != "memories" {
				return err
			}
			at := foreign.Place{File: f.Name, At: fmt.Sprintf("memory %d", n)}
			x, ok := foreign.ParseFields(raw)
			if !ok {
				r.to.Skip(at, "memory is %.40q, want an object", raw)
				return nil
			}
			return r.memory(f, at, x)
		},
		Member: func(member string, raw []byte) error {
			if member == "memories" && string(raw) != "null" {
				r.to.Skip(foreign.Place{File: f.Name, At: member}, "value is %.40q, want a list", raw)
			}
			return nil
		},
	})
}

func (r *reader) database(ctx context.Context, f foreign.File, db *foreign.Database) error {
	if !isOurs(db) {
		r.to.Skip(f.Place(""), "database lacks the table memories of mcp-memory-service")
		return nil
	}
	for _, step := range []struct {
		table string
		skip  foreign.SkipFunc
		fn    func(foreign.Place, foreign.Row) error
	}{
		{"memories", r.to.Skip, func(at foreign.Place, x foreign.Row) error {
			if x.Text("content_hash") != "" {
				r.stores[digest(x.Text("content_hash"))] = keyOf(x)[0]
			}
			return r.memory(f, at, x)
		}},
		{"memories", foreign.Quiet, r.supersedes}, // what cannot be read was told
		{"memory_graph", r.to.Skip, r.graph},
	} {
		if err := db.EachRow(ctx, step.table, step.skip, step.fn); err != nil {
			return err
		}
	}
	return nil
}

func digest(hash string) [16]byte {
	sum := foreign.Digest(hash)
	return [16]byte(sum[:16])
}
