// Package langgraph reads the store of LangGraph in SQLite: memories below namespaces, as LangMem and others keep them.
package langgraph

import (
	"context"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "langgraph", Title: "LangGraph store", Detect: detect, Read: read,
}

const table = "store"

func detect(t *foreign.Tree) foreign.Match {
	return t.DetectDatabases(func(d *foreign.Database) bool { return hasStore(d) || hasCheckpoints(d) })
}

func hasStore(d *foreign.Database) bool { return d.HasColumns(table, "prefix", "key", "value") }

func hasCheckpoints(d *foreign.Database) bool {
	return d.HasColumns("checkpoints", "thread_id", "checkpoint_id", "checkpoint")
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	seen := map[[32]byte]bool{}
	return t.EachDatabase(ctx, t.Databases(), to.Skip, func(f foreign.File, d *foreign.Database) error {
		r := &reader{file: f, o: o, to: to, seen: seen}
		return r.read(ctx, d)
	})
}

// reader reads one database.
type reader struct {
	file foreign.File
	o    foreign.Options
	to   foreign.Sink
	seen map[[32]byte]bool // keys
}

func (r *reader) read(ctx context.Context, d *foreign.Database) error {
	if hasCheckpoints(d) {
		r.to.Warn("%s: checkpoints are not read: they are Python objects of LangChain, packed as msgpack", r.file.Name)
	}
	if !hasStore(d) {
		return nil
	}
	return d.RowsOrSkip(ctx, table, r.to.Skip, r.row)
}
