// Package openaiagents reads the conversations that sessions of the OpenAI Agents SDK keep in SQLite. Programs name the file
// and the tables as they like, so that columns decide.
package openaiagents

import (
	"context"
	"slices"

	"github.com/amber-memory/amber/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "openai-agents", Title: "OpenAI Agents SDK", Detect: detect, Read: read,
	Homes: func(func(string) string, string) []string { return nil },
}

// Bounds of what is looked at.
const (
	looked       = 5 // databases, to detect
	maxDatabases = 1000
)

func detect(t *foreign.Tree) foreign.Match {
	for _, f := range t.Databases(looked) {
		d, err := foreign.OpenDatabase(context.Background(), t, f)
		if err != nil {
			continue
		}
		found := len(stores(d)) > 0
		if d.Close() == nil && found {
			return foreign.Sure
		}
	}
	return foreign.No
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	for _, f := range t.Databases(maxDatabases) {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := foreign.OpenDatabase(ctx, t, f)
		if err != nil {
			to.Skip(foreign.Place{File: f.Name}, "%v", err)
			continue
		}
		for _, s := range stores(d) {
			r := &reader{file: f, database: d, store: s, o: o, to: to}
			if err = r.read(ctx); err != nil {
				break
			}
		}
		if closed := d.Close(); err == nil && closed != nil {
			to.Skip(foreign.Place{File: f.Name}, "%v", closed)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
		fits := true
		for _, c := range []string{"message_data", "branch_id"} { // what tells the three apart
			fits = fits && slices.Contains(columns, c) == slices.Contains(has, c)
		}
		for _, c := range columns {
			fits = fits && slices.Contains(has, c)
		}
		if fits {
			out = append(out, name)
		}
	}
	return out
}
