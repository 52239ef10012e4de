package nexo

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlcore"
)

// Import fills an agent from the databases in the folder dir, as far as
// they are there: long_term.sqlite, vector.sqlite, concepts.sqlite and
// compactions.sqlite of nexo or of [Export]. The files are not trusted: nothing
// in them is run, and every value is checked. A row that does not pass is left
// out and counted, and so are unknown tables; the rows of other agents than the
// named one stay where they are. Memories have trust imported, whatever the files say.
//
// Errors: damaged for a file that is not a whole database; refused for a file
// with a journal beside it; quota; invalid. After an error the caller throws
// away what into has stored.
func Import(ctx context.Context, dir string, into *sqlcore.Filler, agent amber.AgentID) (left []Count, err error) {
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return nil, err
	}
	i := &importer{agent: agent, into: into, left: tally{}, sessions: map[amber.SessionID]span{}}
	if err = i.open(ctx, dir); err == nil {
		err = blame(dir, i.run(ctx))
	}
	for _, f := range i.files {
		err = errors.Join(err, f.close())
	}
	return i.left.list(), sqlconn.Wrap("import from nexo", dir, err)
}

// importer is one import on its way.
type importer struct {
	agent    amber.AgentID // whose rows are taken
	into     *sqlcore.Filler
	files    []*file
	longTerm *file
	left     tally
	alone    bool // no table speaks of another agent
	// sessions are those that turns name and no export describes, with the
	// times of the first turn and the last.
	sessions map[amber.SessionID]span
}

type span struct{ first, last int64 }

func (i *importer) open(ctx context.Context, dir string) error {
	for _, name := range []string{LongTerm, Vector, Concepts, Compactions} {
		f, err := openFile(ctx, dir, name)
		if err != nil {
			return err
		}
		if f == nil {
			f = &file{name: name}
		}
		i.files = append(i.files, f)
	}
	i.longTerm = i.files[0]
	return nil
}

func (i *importer) run(ctx context.Context) error {
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
	maxBatch      = 256     // rows
	maxBatchBytes = 4 << 20 // of their text
)

// batch stores rows, many in one transaction, while they are read.
type batch[T any] struct {
	i     *importer
	ctx   context.Context
	store func(T) error
	rows  []T
	bytes int
}

func (b *batch[T]) add(row T) error {
	b.rows = append(b.rows, row)
	b.bytes += bytesOf(row)
	if len(b.rows) < maxBatch && b.bytes < maxBatchBytes {
		return nil
	}
	return b.flush()
}

// bytesOf returns the size of what makes a row large.
func bytesOf(row any) int {
	switch r := row.(type) {
	case memoryRow:
		return len(r.Content)
	case turnRow:
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
	err := b.i.into.Update(b.ctx, func() error {
		for _, row := range b.rows {
			if err := b.store(row); err != nil {
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
func stream[T any](ctx context.Context, i *importer, f *file, left, query string, args []any,
	scan func(sqlconn.Row) (T, bool, error), store func(T) error,
) error {
	b := &batch[T]{i: i, ctx: ctx, store: store}
	err := f.each(query, args, func(s sqlconn.Row) error {
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
var knownTables = map[string]string{
	"memories": "", "interactions": "", "vec_memories": "", "compactions_v1": "", "compaction_locks_v1": "",
	"reminders": "reminders", "email_followups": "mails to follow up", "recall_events": "recalls", "memory_promotions": "promotions",
	"amber_fields": "", "amber_embeddings": "", "memories_fts": "",
}

const rowsOfOthers = "rows of other agents"

// countOthers counts the rows of other agents: nexo keeps all agents in one
// file.
func (i *importer) countOthers(files ...*file) error {
	before := i.left[rowsOfOthers]
	for _, f := range files {
		for name := range knownTables {
			_, ok, err := f.use(name, "agent_id")
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			var n int64
			if err := f.row(fmt.Sprintf("SELECT count(*) FROM %q WHERE agent_id IS NOT ?", name), i.agent).Scan(&n); err != nil {
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
func (i *importer) countUnused() error {
	for _, f := range i.files {
		for name, table := range f.tables {
			what, known := knownTables[name]
			if !known && !isShadow(name) {
				i.left.add("unknown tables", 1)
			}
			if what == "" || !table.has("agent_id") {
				continue
			}
			var n int64
			if err := f.row(fmt.Sprintf("SELECT count(*) FROM %q WHERE agent_id = ?", name), i.agent).Scan(&n); err != nil {
				return err
			}
			i.left.add(what, n)
		}
	}
	return nil
}
