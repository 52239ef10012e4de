// Package langgraph reads the store of LangGraph in SQLite: memories below namespaces, as LangMem and others keep them.
package langgraph

import (
	"context"
	"errors"
	"slices"

	"github.com/amber-memory/amber/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "langgraph", Title: "LangGraph store", Detect: detect, Read: read,
	Homes: func(func(string) string, string) []string { return nil },
}

// Bounds of what is looked at.
const (
	looked       = 5 // databases, to detect
	maxDatabases = 1000
)

const table = "store"

func detect(t *foreign.Tree) foreign.Match {
	for _, f := range t.Databases(looked) {
		d, err := foreign.OpenDatabase(context.Background(), t, f)
		if err != nil {
			continue
		}
		found := hasStore(d) || hasCheckpoints(d)
		if d.Close() == nil && found {
			return foreign.Sure
		}
	}
	return foreign.No
}

func hasStore(d *foreign.Database) bool { return has(d, table, "prefix", "key", "value") }

func hasCheckpoints(d *foreign.Database) bool {
	return has(d, "checkpoints", "thread_id", "checkpoint_id", "checkpoint")
}

func has(d *foreign.Database, table string, columns ...string) bool {
	there := d.Columns(table)
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(there, c) })
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	seen := map[[32]byte]bool{}
	for _, f := range t.Databases(maxDatabases) {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := foreign.OpenDatabase(ctx, t, f)
		if err != nil {
			to.Skip(foreign.Place{File: f.Name}, "%v", err)
			continue
		}
		r := &reader{file: f, o: o, to: to, seen: seen}
		err = r.read(ctx, d)
		if closed := d.Close(); err == nil && closed != nil {
			to.Skip(foreign.Place{File: f.Name}, "%v", closed)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	err := d.Rows(ctx, table, []string{"prefix", "key"}, r.row)
	if broken, ok := errors.AsType[*foreign.TableError](err); ok && ctx.Err() == nil {
		r.to.Skip(foreign.Place{File: r.file.Name, At: table}, "%v", broken)
		return nil
	}
	return err
}
