package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/sqlite"
)

// jsonlLimit is how many times as long as bare inserts a copy of a listing may take, as the
// command does it by default.
const jsonlLimit = 3

// jsonls measures how long `amber remember --jsonl` takes for the lines that a listing of
// another store has printed, against inserts of the rows that it has written, of all tables,
// the index included, as many memories in a transaction: as many as a batch has by default,
// and as many as it may have. Vectors are not made.
func jsonls(ctx context.Context, c config) (out outcome) {
	b := &bench{dir: c.dir, writer: newWriterOf(uint64(time.Now().UnixNano()), vocabulary)}
	source := b.fill(ctx, "jsonl-source", c.large)
	lines := listing(ctx, source)
	check(source.Close())
	for _, size := range []int{amber.DefaultBatchSize, amber.MaxBatchSize} {
		out.ratios = append(out.ratios, b.jsonl(ctx, c, lines, size))
	}
	return out
}

// jsonl stores lines in batches of a size.
func (b *bench) jsonl(ctx context.Context, c config, lines string, size int) ratio {
	to := filepath.Join(c.dir, fmt.Sprint("jsonl-", size))
	took := get(command{
		program: c.binary, args: []string{"--new-agent", "remember", "--jsonl"}, stdin: lines,
		env: []string{"AMBER_HOME=" + to, "AMBER_SEARCH__MODEL=none", fmt.Sprint("AMBER_MEMORY__WRITE__MAX_BATCH_SIZE=", size)},
	}.run(ctx))
	if n := strings.Count(string(took.stdout), "\n"); n != c.large {
		fail("%d of %d lines were stored", n, c.large)
	}
	theirs, rows := b.bareCopy(ctx, to, to+"-bare", size)
	fmt.Printf("%d lines, %s, %d in a batch, stored in %s, %s of processor time; %d bare inserts in %s\n", c.large, mb(int64(len(lines))), size,
		took.wall.Round(time.Millisecond), took.cpu.Round(time.Millisecond), rows, theirs.Round(time.Millisecond))
	r := ratio{
		name: fmt.Sprintf("lines stored anew, %d in a batch", size), ours: took.wall, theirs: theirs,
		what: "remember --jsonl", base: "bare inserts",
	}
	if size == amber.DefaultBatchSize {
		r.limit = jsonlLimit
	}
	return r
}

// listing is what amber list --all --jsonl prints.
func listing(ctx context.Context, s *sqlite.Store) string {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for done := false; !done; done = q.Cursor == "" {
		page := get(s.List(ctx, q))
		for _, m := range page.Items {
			check(lines.Encode(m))
		}
		q.Cursor = page.Next
	}
	return out.String()
}

// bareCopy inserts the rows of all tables of a store into one that has the same tables and
// indexes and no triggers. Each transaction has so many memories, and as large a part of
// every other table. It returns how many rows there were.
func (b *bench) bareCopy(ctx context.Context, from, to string, perTransaction int) (took time.Duration, rows int) {
	source := openMemoryDB(agentIn(from), []string{"query_only(1)"})
	tables, memories := allRows(ctx, source)
	check(source.Close())
	check(get(sqlite.Open(ctx, agentIn(to), options())).Close())
	db := openMemoryDB(agentIn(to), storePragmas)
	emptied(ctx, db, tables)
	begin := time.Now()
	for i := range tables {
		tables[i].prepared = get(db.PrepareContext(ctx, tables[i].insert()))
		rows += len(tables[i].rows)
	}
	steps := (memories + perTransaction - 1) / perTransaction
	for step := range steps {
		tx := get(db.BeginTx(ctx, nil))
		for _, t := range tables {
			insert := tx.StmtContext(ctx, t.prepared)
			for _, row := range t.rows[len(t.rows)*step/steps : len(t.rows)*(step+1)/steps] {
				get(insert.ExecContext(ctx, row...))
			}
		}
		check(tx.Commit())
		get(db.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`))
	}
	check(db.Close())
	return time.Since(begin), rows
}

// fullTable is a table with all of its rows and columns.
type fullTable struct {
	table
	prepared *sql.Stmt
}

// allRows reads every table that has rows, memories first, and counts these. The few rows
// of index_state are left out: the driver writes an empty blob as NULL.
func allRows(ctx context.Context, db *sql.DB) (tables []fullTable, memories int) {
	names := texts(ctx, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'index_state' ORDER BY name <> 'memories', name`)
	for _, name := range names {
		t := fullTable{table: table{name: name}}
		rows := get(db.QueryContext(ctx, `SELECT * FROM "`+name+`"`))
		t.columns = get(rows.Columns())
		for rows.Next() {
			row, into := make([]any, len(t.columns)), make([]any, len(t.columns))
			for i := range row {
				into[i] = &row[i]
			}
			check(rows.Scan(into...))
			t.rows = append(t.rows, row)
		}
		check(rows.Err())
		check(rows.Close())
		if name == "memories" {
			memories = len(t.rows)
		}
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables, memories
}

// emptied drops the triggers of a database and the rows of tables.
func emptied(ctx context.Context, db *sql.DB, tables []fullTable) {
	for _, drop := range texts(ctx, db, `SELECT 'DROP TRIGGER "' || name || '"' FROM sqlite_schema WHERE type = 'trigger'`) {
		get(db.ExecContext(ctx, drop))
	}
	for _, t := range tables {
		get(db.ExecContext(ctx, `DELETE FROM "`+t.name+`"`))
	}
}

// texts returns the one column of a query.
func texts(ctx context.Context, db *sql.DB, query string) (out []string) {
	rows := get(db.QueryContext(ctx, query))
	defer rows.Close()
	for rows.Next() {
		var text string
		check(rows.Scan(&text))
		out = append(out, text)
	}
	check(rows.Err())
	return out
}
