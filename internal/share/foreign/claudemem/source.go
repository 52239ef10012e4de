package claudemem

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/share/foreign"
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
	// each calls fn with every row of a table, and skip with every row that cannot be read.
	each(ctx context.Context, t table, skip foreign.SkipFunc, fn func(foreign.Place, row) error) error
}

type database struct{ *foreign.Database }

func (d database) each(ctx context.Context, t table, skip foreign.SkipFunc, fn func(foreign.Place, row) error) error {
	return d.EachRow(ctx, t.sql, skip, func(at foreign.Place, r foreign.Row) error { return fn(at, r) })
}

type document struct {
	file foreign.File
	has  map[string]bool // lists with elements; nil before the first reading
}

func (d *document) each(ctx context.Context, t table, skip foreign.SkipFunc, fn func(foreign.Place, row) error) error {
	if d.has != nil && !d.has[t.list] {
		return nil
	}
	d.has = map[string]bool{}
	return foreign.ReadDocument(d.file, skip, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			d.has[list] = true
			if list != t.list || ctx.Err() != nil {
				return ctx.Err()
			}
			at := d.file.Place(fmt.Sprintf("%s %d", list, n))
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
				skip(d.file.Place(member), "value is %.40q, want a list", raw)
			}
			return nil
		},
	})
}
