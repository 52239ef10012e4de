// Package openaiagents reads the conversations that sessions of the OpenAI Agents SDK keep in SQLite. Programs name the file
// and the tables as they like, so that columns decide.
package openaiagents

import (
	"context"
	"slices"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "openai-agents", Title: "OpenAI Agents SDK", Detect: detect, Read: read,
}

func detect(t *foreign.Tree) foreign.Match {
	return t.DetectDatabases(func(d *foreign.Database) bool { return len(stores(d)) > 0 })
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	return t.EachDatabase(ctx, t.Databases(), to.Skip, func(f foreign.File, d *foreign.Database) error {
		for _, s := range stores(d) {
			r := &reader{file: f, database: d, store: s, o: o, to: to}
			if err := r.read(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// store is the pair of tables of one use of the SDK.
type store struct {
	sessions, messages string // sessions is "" where that table is missing
	structure          string // the branches of messages; "" where there are none
}

// stores finds tables by their columns.
func stores(d *foreign.Database) []store {
	var out []store
	sessions := tables(d, "session_id", "created_at", "updated_at")
	structure := tables(d, "session_id", "message_id", "branch_id")
	for _, messages := range tables(d, "session_id", "message_data") {
		out = append(out, store{messages: messages, sessions: nearest(sessions, messages), structure: nearest(structure, messages)})
	}
	return out
}

// nearest returns the table whose name has the longest beginning in common with another: they belong together.
func nearest(tables []string, to string) string {
	best, length := "", -1
	for _, name := range tables {
		n := 0
		for n < min(len(name), len(to)) && name[n] == to[n] {
			n++
		}
		if n > length {
			best, length = name, n
		}
	}
	return best
}

// tables returns the tables that have these columns, by name.
func tables(d *foreign.Database, columns ...string) []string {
	var out []string
	for _, name := range d.Tables() {
		has := d.Columns(name)
		fits := d.HasColumns(name, columns...)
		for _, c := range []string{"message_data", "branch_id"} { // what tells the three apart
			fits = fits && slices.Contains(columns, c) == slices.Contains(has, c)
		}
		if fits {
			out = append(out, name)
		}
	}
	return out
}
