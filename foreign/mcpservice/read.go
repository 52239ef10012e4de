package mcpservice

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber/foreign"
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
	for _, f := range databases(t) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.database(ctx, t, f); err != nil {
			return err
		}
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
	in, err := f.Open()
	if err != nil {
		r.to.Skip(foreign.Place{File: f.Name}, "%v", err)
		return nil
	}
	defer in.Close()
	return foreign.ReadJSON(in, foreign.Document{
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
		Skip: func(at, reason string) { r.to.Skip(foreign.Place{File: f.Name, At: at}, "%s", reason) },
	})
}

func (r *reader) database(ctx context.Context, t *foreign.Tree, f foreign.File) (err error) {
	db, err := foreign.OpenDatabase(ctx, t, f)
	if err != nil {
		r.to.Skip(foreign.Place{File: f.Name}, "%v", err)
		return ctx.Err()
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if !isOurs(db) {
		r.to.Skip(foreign.Place{File: f.Name}, "database lacks the table memories of mcp-memory-service")
		return nil
	}
	for _, step := range []struct {
		table string
		quiet bool
		fn    func(foreign.Place, foreign.Row) error
	}{
		{"memories", false, func(at foreign.Place, x foreign.Row) error {
			if x.Text("content_hash") != "" {
				r.stores[digest(x.Text("content_hash"))] = keyOf(x)[0]
			}
			return r.memory(f, at, x)
		}},
		{"memories", true, r.supersedes},
		{"memory_graph", false, r.graph},
	} {
		if err := r.rows(ctx, db, f, step.table, step.quiet, step.fn); err != nil {
			return err
		}
	}
	return nil
}

// rows calls fn with every row of a table. What cannot be read is told, unless it was told before.
func (r *reader) rows(ctx context.Context, db *foreign.Database, f foreign.File, table string, quiet bool, fn func(foreign.Place, foreign.Row) error) error {
	err := db.Rows(ctx, table, nil, func(x foreign.Row) error {
		at := foreign.Place{File: f.Name, At: fmt.Sprintf("%s, row %d", table, x.N)}
		if x.TooLong == 0 {
			return fn(at, x)
		}
		if !quiet {
			r.to.Skip(at, "row has a value of more than %d bytes, the limit", foreign.MaxItemBytes)
		}
		return nil
	})
	broken, ok := errors.AsType[*foreign.TableError](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	if !quiet {
		r.to.Skip(foreign.Place{File: f.Name}, "%v", broken)
	}
	return nil
}

func digest(hash string) [16]byte {
	sum := foreign.Digest(hash)
	return [16]byte(sum[:16])
}
