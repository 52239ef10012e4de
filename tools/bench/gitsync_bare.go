package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber/store/home"
)

// storePragmas are those of the store's writing connection.
var storePragmas = []string{
	"busy_timeout(30000)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "foreign_keys(1)", "secure_delete(1)",
	"trusted_schema(0)", "cell_size_check(1)", "recursive_triggers(1)", "wal_autocheckpoint(0)", "journal_mode(WAL)",
}

// bare inserts the rows of another store into an empty one with nothing but
// SQL, some in each transaction: a memory and its entry of the change log,
// triggers and indexes on. As in the store a checkpoint follows each
// transaction, and the time ends when the database is closed.
func (t syncTask) bare(ctx context.Context) syncDone {
	memories, changes := sourceRows(ctx, t.Source)
	check(t.open(ctx).Close())
	db := openMemoryDB(agentIn(t.Home), storePragmas)
	begin := time.Now()
	insertRows(ctx, db, memories, changes, t.Rows)
	check(db.Close())
	return syncDone{Took: time.Since(begin), Memories: len(memories.rows)}
}

func insertRows(ctx context.Context, db *sql.DB, memories, changes table, perTransaction int) {
	insertMemory := get(db.PrepareContext(ctx, memories.insert()))
	defer insertMemory.Close()
	insertChange := get(db.PrepareContext(ctx, changes.insert()))
	defer insertChange.Close()
	for first := 0; first < len(memories.rows); first += perTransaction {
		tx := get(db.BeginTx(ctx, nil))
		m, c := tx.StmtContext(ctx, insertMemory), tx.StmtContext(ctx, insertChange)
		for i := first; i < min(first+perTransaction, len(memories.rows)); i++ {
			get(m.ExecContext(ctx, memories.rows[i]...))
			get(c.ExecContext(ctx, changes.rows[i]...))
		}
		check(tx.Commit())
		get(db.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`))
	}
}

// table is rows with all their columns but the number SQLite gives them.
type table struct {
	name    string
	columns []string
	rows    [][]any
}

func (t table) insert() string {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ")
	return fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, t.name, strings.Join(t.columns, ", "), marks)
}

// sourceRows reads the rows of a store that holds memories and nothing else.
func sourceRows(ctx context.Context, home string) (memories, changes table) {
	db := openMemoryDB(agentIn(home), []string{"query_only(1)"})
	defer db.Close()
	memories = readTable(ctx, db, "memories")
	changes = readTable(ctx, db, "changes")
	if len(memories.rows) != len(changes.rows) {
		fail("%d memories have %d entries of the change log", len(memories.rows), len(changes.rows))
	}
	return memories, changes
}

// readTable reads all rows of a table in the order they were inserted.
func readTable(ctx context.Context, db *sql.DB, name string) (t table) {
	rows := get(db.QueryContext(ctx, fmt.Sprintf(`SELECT * FROM %s ORDER BY rowid`, name)))
	defer rows.Close()
	columns := get(rows.Columns())
	t.name, t.columns = name, columns[1:] // the first one is the number
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		check(rows.Scan(into...))
		t.rows = append(t.rows, row[1:])
	}
	check(rows.Err())
	return t
}

// openMemoryDB opens the memory.db of an agent that is live.
func openMemoryDB(agent *home.Agent, pragmas []string) *sql.DB {
	u := url.URL{
		Scheme: "file", Path: filepath.Join(agent.GenDir(get(agent.Current())), "memory.db"),
		RawQuery: url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_pragma": pragmas}.Encode(),
	}
	db := get(sql.Open("sqlite", u.String()))
	db.SetMaxOpenConns(1)
	return db
}
