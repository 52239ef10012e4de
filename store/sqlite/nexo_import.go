package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// NexoImport says what the rows of nexo become. All of it is required.
type NexoImport struct {
	Agent   amber.AgentID // whose rows are taken; those of others are left
	Current home.Current  // the generation the database is made for
	Clock   amber.Clock
	Random  io.Reader
}

// ImportNexo makes a memory.db of the databases in the folder dir, as far as
// they are there: long_term.sqlite, vector.sqlite, concepts.sqlite and
// compactions.sqlite of nexo or of [ExportNexo]. They are a stranger's: nothing
// in them is run, and every value is checked. A row that cannot be is set aside
// and counted, and so are tables that are not known; the rows of other agents
// stay where they are. Memories have trust imported, whatever is said of them.
//
// The path memory is new. After an error the caller throws it away. Errors:
// damaged for a file that is no whole database; refused for one with a journal
// beside it; quota; invalid.
func ImportNexo(ctx context.Context, dir, memory string, o NexoImport) (report NexoReport, err error) {
	const op = "import from nexo"
	if _, err := amber.ParseAgentID(string(o.Agent)); err != nil {
		return report, err
	}
	i := &nexoImport{o: o, left: tally{}, sessions: map[amber.SessionID]span{}}
	if err := i.target(ctx, memory); err != nil {
		return report, sqlconn.Wrap(op, memory, err)
	}
	if err = i.open(ctx, dir); err == nil {
		err = aboutNexo(dir, i.run(ctx))
	}
	for _, f := range i.files {
		err = errors.Join(err, f.close())
	}
	err = errors.Join(err, i.into.close())
	i.report.LeftOut = i.left.list()
	return i.report, sqlconn.Wrap(op, dir, err)
}

// nexoImport is one import on its way.
type nexoImport struct {
	o        NexoImport
	into     *database
	files    []*nexoFile
	longTerm *nexoFile
	report   NexoReport
	left     tally
	alone    bool // no table speaks of another agent
	// sessions are those that turns speak of and nobody describes, with the
	// times of the first turn and the last.
	sessions map[amber.SessionID]span
}

type span struct{ first, last int64 }

// apart is the ground of a database that lies in a folder of its own and has
// one owner.
type apart struct {
	dir     string
	current home.Current
}

func (a apart) Current() (home.Current, error)        { return a.current, nil }
func (a apart) GenDir(home.Current) string            { return a.dir }
func (a apart) own(fn func(home.Current) error) error { return fn(a.current) }

func (a apart) Write(_ context.Context, _ string, fn func(home.Current) error) error {
	return a.own(fn)
}

func (a apart) Exclusive(_ context.Context, fn func(home.Current) error) error { return a.own(fn) }

// target makes the database that is filled.
func (i *nexoImport) target(ctx context.Context, path string) error {
	o, err := Options{Clock: i.o.Clock, Random: i.o.Random}.withDefaults()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return amber.Errorf(amber.KindConflict, "make database", path, "there is a file already")
	}
	if err := memorySchema.build(ctx, path, i.o.Current, o); err != nil {
		return err
	}
	s := memorySchema
	s.file = filepath.Base(path)
	i.into = &database{ground: apart{filepath.Dir(path), i.o.Current}, name: "memory", schema: s, o: o}
	return nil
}

func (i *nexoImport) open(ctx context.Context, dir string) error {
	for _, name := range []string{NexoLongTerm, NexoVector, NexoConcepts, NexoCompactions} {
		f, err := openNexo(ctx, dir, name)
		if err != nil {
			return err
		}
		if f == nil {
			f = &nexoFile{name: name}
		}
		i.files = append(i.files, f)
	}
	i.longTerm = i.files[0]
	return nil
}

func (i *nexoImport) run(ctx context.Context) error {
	long, vector, concepts, compactions := i.files[0], i.files[1], i.files[2], i.files[3]
	for _, step := range []func() error{
		func() error { return i.countOthers(long, concepts) },
		func() error { return i.memories(ctx, long) },
		func() error { return i.conceptTags(ctx, concepts) },
		func() error { return i.relations(ctx, long) },
		func() error { return i.vectors(ctx, vector) },
		func() error { return i.vectors(ctx, long) }, // where nexo itself keeps them
		func() error { return i.catalogue(ctx, long) },
		func() error { return i.turns(ctx, long) },
		func() error { return i.newSessions(ctx) },
		func() error { return i.compactions(ctx, compactions) },
		func() error { return i.countUnused() },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// How much becomes one transaction.
const (
	maxNexoBatch      = 256     // rows
	maxNexoBatchBytes = 4 << 20 // of their text
)

// batch stores rows, many in one transaction, while they are read.
type batch[T any] struct {
	i     *nexoImport
	ctx   context.Context
	store func(*tx, T) error
	rows  []T
	bytes int
}

func (b *batch[T]) add(row T) error {
	b.rows = append(b.rows, row)
	b.bytes += bytesOf(row)
	if len(b.rows) < maxNexoBatch && b.bytes < maxNexoBatchBytes {
		return nil
	}
	return b.flush()
}

// bytesOf returns the size of what makes a row large.
func bytesOf(row any) int {
	switch r := row.(type) {
	case nexoRow:
		return len(r.Content)
	case nexoSaid:
		return len(r.Content)
	case amber.Compaction:
		return len(r.Summary)
	case amber.Embedding:
		return 4 * len(r.Vector)
	}
	return 0
}

func (b *batch[T]) flush() error {
	if len(b.rows) == 0 {
		return nil
	}
	err := b.i.into.update(b.ctx, "store rows", "", func(t *tx) error {
		for _, row := range b.rows {
			if err := b.store(t, row); err != nil {
				return err
			}
		}
		return nil
	})
	clear(b.rows)
	b.rows, b.bytes = b.rows[:0], 0
	return err
}

// stream reads rows of a file and stores what scan makes of them; what it does
// not take is counted as left out.
func stream[T any](ctx context.Context, i *nexoImport, f *nexoFile, left, query string, args []any,
	scan func(scanner) (T, bool, error), store func(*tx, T) error,
) error {
	b := &batch[T]{i: i, ctx: ctx, store: store}
	err := f.t.each(query, args, func(s scanner) error {
		row, ok, err := scan(s)
		if err != nil {
			return err
		}
		if !ok {
			i.left.add(left, 1)
			return nil
		}
		return b.add(row)
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", f.name, err)
	}
	return b.flush()
}

// The tables of nexo. Those with a word have rows of agents that have no place
// here.
var nexoTables = map[string]string{
	"memories": "", "interactions": "", "vec_memories": "", "compactions_v1": "", "compaction_locks_v1": "",
	"reminders": "reminders", "email_followups": "mails to follow up", "recall_events": "recalls", "memory_promotions": "promotions",
	"amber_fields": "", "amber_embeddings": "", "memories_fts": "",
}

const rowsOfOthers = "rows of other agents"

// countOthers counts the rows of other agents: nexo keeps all agents in one
// file.
func (i *nexoImport) countOthers(files ...*nexoFile) error {
	before := i.left[rowsOfOthers]
	for _, f := range files {
		for name := range nexoTables {
			_, ok, err := f.use(name, "agent_id")
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			var n int64
			if err := f.t.row(fmt.Sprintf("SELECT count(*) FROM %q WHERE agent_id IS NOT ?", name), i.o.Agent).Scan(&n); err != nil {
				return err
			}
			i.left.add(rowsOfOthers, n)
		}
	}
	i.alone = i.left[rowsOfOthers] == before
	return nil
}

// countUnused counts rows of tables that have no place here, and tables that
// are not known.
func (i *nexoImport) countUnused() error {
	for _, f := range i.files {
		for name, table := range f.tables {
			what, known := nexoTables[name]
			if !known && !isShadow(name) {
				i.left.add("unknown tables", 1)
			}
			if what == "" || !table.has("agent_id") {
				continue
			}
			var n int64
			if err := f.t.row(fmt.Sprintf("SELECT count(*) FROM %q WHERE agent_id = ?", name), i.o.Agent).Scan(&n); err != nil {
				return err
			}
			i.left.add(what, n)
		}
	}
	return nil
}
