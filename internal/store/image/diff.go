package image

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/wire"
)

// comparison says how the rows of one kind are compared.
type comparison struct {
	name  string // as the user knows it
	table string // as the schema does
	keys  int    // how many columns make the key
	// query selects the key, which orders the rows, a title, and what a row
	// says. It leaves out columns that only say when or how often it was said.
	query string
}

// The keys are in the order of bytes, which is SQLite's and Go's. Tombstones
// count as absent.
var (
	memoryComparisons = []comparison{
		{"activity", "activity", 3, `SELECT session_id, kind, name, '', detail, status, count, failed, first_at, last_at FROM activity ORDER BY session_id, kind, name`},
		{"compactions", "compactions", 1, `SELECT id, '', session_id, summary, turns, created_at FROM compactions ORDER BY id`},
		{"concepts", "concepts", 2, `SELECT memory_id, concept, '' FROM concepts ORDER BY memory_id, concept`},
		{"embeddings", "embeddings", 2, `SELECT memory_id, model, '', dimension, vector FROM embeddings ORDER BY memory_id, model`},
		{"loops", "loops", 1, `SELECT session_id, '', run_id, digest, revision FROM loops ORDER BY session_id`},
		{"memories", "memories", 1, `SELECT id, CASE title WHEN '' THEN substr(content, 1, 200) ELSE title END,
 kind, scope, session_id, user_id, project_id, workspace_id, title, content_digest, summary, topic, tags, metadata, source_refs, trust, created_at, foreign_fields
FROM memories WHERE deleted_at IS NULL ORDER BY id`},
		{"relations", "relations", 1, `SELECT id, '', from_id, to_id, type, strength FROM relations WHERE deleted_at IS NULL ORDER BY id`},
		{"sessions", "sessions", 1, `SELECT id, name, name, binding, project, directory, started_at, ended_at, end_reason, summary, parent FROM sessions ORDER BY id`},
		{"states", "session_states", 1, `SELECT session_id, '', document FROM session_states ORDER BY session_id`},
		{"turns", "turns", 1, `SELECT id, '', session_id, role, content, project_id, created_at FROM turns ORDER BY id`},
	}
	controlComparisons = []comparison{
		{"approvals", "approvals", 1, `SELECT id, summary, task_id, node_id, summary, status, digest, decided_by, comment, decided_at FROM approvals ORDER BY id`},
		{"events", "events", 2, `SELECT task_id, printf('%020d', seq), '', body FROM events ORDER BY task_id, seq`},
		{"queue", "queue", 1, `SELECT entry_id, '', digest, state, attempt, consumer, fence, reasons FROM queue ORDER BY entry_id`},
		{"results", "results", 2, `SELECT task_id, node_id, '', fence, body FROM results ORDER BY task_id, node_id`},
		{"tasks", "tasks", 1, `SELECT id, '', state, session_id, version, body, extra FROM tasks ORDER BY id`},
	}
)

// Side is one of two databases that are compared.
type Side struct {
	File    string // "memory.db" or "control.db"
	Readers *sqlconn.Pool
	// Explain says what an error of a query means; nil where the error says it.
	Explain func(error) error
}

func (s Side) explain(err error) error {
	if s.Explain == nil {
		return err
	}
	return s.Explain(err)
}

// Diff returns what changed from a to b, two databases of one kind. It reads both
// from beginning to end beside each other and keeps one row of each in memory.
// With rows it names at most [wire.MaxDiffRows] rows of each kind. Memories that are
// erased do not count as added. The error about databases of two kinds is of kind
// invalid.
func Diff(ctx context.Context, a, b Side, rows bool, erased map[string]bool) (d wire.StoreDiff, err error) {
	if a.File != b.File {
		return d, amber.Errorf(amber.KindInvalid, "compare databases", "", "one is a %s and the other a %s", a.File, b.File)
	}
	comparisons := memoryComparisons
	if a.File == sqlfile.ControlSchema.File {
		comparisons = controlComparisons
	}
	d.Tables = []wire.TableDiff{}
	for _, c := range comparisons {
		if err := c.compare(ctx, [2]Side{a, b}, rows, erased, &d); err != nil {
			return d, sqlconn.Wrap("compare "+c.name, "", err)
		}
	}
	return d, nil
}

// compare compares the rows of one kind: both files hand them out in the order
// of their keys.
func (c comparison) compare(ctx context.Context, open [2]Side, rows bool, erased map[string]bool, d *wire.StoreDiff) (err error) {
	var side [2]*cursor
	for i, v := range open {
		if side[i], err = c.begin(ctx, v); err != nil {
			return v.explain(err)
		}
		defer side[i].close()
	}
	t := wire.TableDiff{Name: c.name}
	named := 0
	note := func(n *int64, op amber.Op, row *cursor) {
		*n++
		switch {
		case !rows:
		case named == wire.MaxDiffRows:
			d.More++
		default:
			named++
			d.Rows = append(d.Rows, wire.RowDiff{Table: c.name, Key: row.name(), Op: op, Title: clip.Runes(clip.Line(row.title), 120)})
		}
	}
	a, b := side[0], side[1]
	for a.more || b.more {
		switch order := a.order(b); {
		case order < 0:
			note(&t.Removed, amber.OpDelete, a)
			err = open[0].explain(a.next())
		case order > 0:
			if !erased[b.key[0]] { // only memories, and what belongs to them, have such keys
				note(&t.Added, amber.OpInsert, b)
			}
			err = open[1].explain(b.next())
		default:
			if !bytes.Equal(a.says, b.says) {
				note(&t.Changed, amber.OpUpdate, b)
			}
			err = errors.Join(open[0].explain(a.next()), open[1].explain(b.next()))
		}
		if err != nil {
			return err
		}
	}
	d.Tables = append(d.Tables, t)
	return nil
}

// cursor is one side of a comparison, at a row.
type cursor struct {
	put    func()
	rows   *sql.Rows
	keys   int
	values []sql.RawBytes
	dest   []any

	more  bool
	key   []string
	title string
	says  []byte
}

const hasTable = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?`

// begin runs the query of a comparison and goes to its first row. An older
// schema may not have the table: then there are no rows.
func (c comparison) begin(ctx context.Context, v Side) (*cursor, error) {
	p := v.Readers
	conn, err := p.Get(ctx)
	if err != nil {
		return nil, err
	}
	k := &cursor{put: func() { p.Put(conn) }, keys: c.keys}
	var has int
	err = conn.SQL.QueryRowContext(ctx, hasTable, c.table).Scan(&has)
	if err == nil && has > 0 {
		k.rows, err = conn.SQL.QueryContext(ctx, c.query)
	}
	if err == nil && k.rows != nil {
		var columns []string
		columns, err = k.rows.Columns()
		k.values = make([]sql.RawBytes, len(columns))
		for i := range k.values {
			k.dest = append(k.dest, &k.values[i])
		}
	}
	if err == nil {
		err = k.next()
	}
	if err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// next goes to the next row.
func (k *cursor) next() error {
	if k.rows == nil {
		return nil
	}
	if k.more = k.rows.Next(); !k.more {
		return k.rows.Err()
	}
	if err := k.rows.Scan(k.dest...); err != nil {
		return err
	}
	k.key = k.key[:0]
	for _, v := range k.values[:k.keys] {
		k.key = append(k.key, string(v))
	}
	k.title = string(k.values[k.keys])
	k.says = k.says[:0]
	for _, v := range k.values[k.keys+1:] {
		length := int64(len(v))
		if v == nil {
			length = -1
		}
		k.says = append(binary.AppendVarint(k.says, length), v...)
	}
	return nil
}

// order compares the keys of two sides; one that is at its end comes last. The
// parts of a key are compared one by one, as SQLite ordered them.
func (k *cursor) order(other *cursor) int {
	switch {
	case !k.more:
		return 1
	case !other.more:
		return -1
	}
	return slices.Compare(k.key, other.key)
}

// name is the key as it is shown.
func (k *cursor) name() string { return strings.Join(k.key, " ") }

func (k *cursor) close() {
	if k.rows != nil {
		_ = k.rows.Close() // its errors were those of next
	}
	k.put()
}
