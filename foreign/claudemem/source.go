package claudemem

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber/foreign"
)

// table is a table of the database and the list of an export that holds the same rows.
type table struct{ sql, list string }

var (
	sessions     = table{"sdk_sessions", "sessions"}
	observations = table{"observations", "observations"}
	summaries    = table{"session_summaries", "summaries"}
	prompts      = table{"user_prompts", "prompts"}
)

// row is a row of either.
type row interface {
	Text(columns ...string) string
	Number(column string) (float64, bool)
}

// source is a database or an export.
type source interface {
	// each calls fn with every row of a table. What cannot be read is told to skip.
	each(ctx context.Context, t table, skip skipFunc, fn func(foreign.Place, row) error) error
}

type skipFunc func(at foreign.Place, format string, args ...any)

type database struct {
	*foreign.Database
	file foreign.File
}

func (d database) each(ctx context.Context, t table, skip skipFunc, fn func(foreign.Place, row) error) error {
	err := d.Rows(ctx, t.sql, nil, func(r foreign.Row) error {
		at := foreign.Place{File: d.file.Name, At: fmt.Sprintf("%s, row %d", t.sql, r.N)}
		if r.TooLong > 0 {
			skip(at, "row has a value of more than %d bytes, the limit", foreign.MaxItemBytes)
			return nil
		}
		return fn(at, r)
	})
	if broken, ok := errors.AsType[*foreign.TableError](err); ok && ctx.Err() == nil {
		skip(foreign.Place{File: d.file.Name}, "%v", broken)
		return nil
	}
	return err
}

type document struct {
	file foreign.File
	has  map[string]bool // lists with elements; nil before the first reading
}

func (d *document) each(ctx context.Context, t table, skip skipFunc, fn func(foreign.Place, row) error) error {
	if d.has != nil && !d.has[t.list] {
		return nil
	}
	d.has = map[string]bool{}
	in, err := d.file.Open()
	if err != nil {
		skip(foreign.Place{File: d.file.Name}, "%v", err)
		return nil
	}
	defer in.Close()
	place := func(at string) foreign.Place { return foreign.Place{File: d.file.Name, At: at} }
	return foreign.ReadJSON(in, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			d.has[list] = true
			if list != t.list || ctx.Err() != nil {
				return ctx.Err()
			}
			at := place(fmt.Sprintf("%s %d", list, n))
			m, ok := foreign.ParseFields(raw)
			if !ok {
				skip(at, "element is %.40q, want an object", raw)
				return nil
			}
			return fn(at, m)
		},
		Member: func(member string, raw []byte) error {
			d.has[member] = true
			if member == t.list && string(raw) != "null" {
				skip(place(member), "value is %.40q, want a list", raw)
			}
			return nil
		},
		Skip: func(at, reason string) { skip(place(at), "%s", reason) },
	})
}
