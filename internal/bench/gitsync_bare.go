package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber/home"
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
func (t syncTask) bare(ctx context.Context) (done syncDone, err error) {
	memories, changes, err := sourceRows(ctx, t.Source)
	if err != nil {
		return done, err
	}
	s, err := t.open(ctx)
	if err != nil {
		return done, err
	}
	if err := s.Close(); err != nil {
		return done, err
	}
	db, err := openMemoryDB(t.Home, storePragmas)
	if err != nil {
		return done, err
	}
	begin := time.Now()
	err = insertRows(ctx, db, memories, changes, t.Rows)
	err = errors.Join(err, db.Close())
	return syncDone{Took: time.Since(begin), Memories: len(memories.rows)}, err
}

func insertRows(ctx context.Context, db *sql.DB, memories, changes table, perTransaction int) error {
	insertMemory, err := db.PrepareContext(ctx, memories.insert())
	if err != nil {
		return err
	}
	defer insertMemory.Close()
	insertChange, err := db.PrepareContext(ctx, changes.insert())
	if err != nil {
		return err
	}
	defer insertChange.Close()
	for first := 0; first < len(memories.rows); first += perTransaction {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		m, c := tx.StmtContext(ctx, insertMemory), tx.StmtContext(ctx, insertChange)
		for i := first; i < min(first+perTransaction, len(memories.rows)); i++ {
			_, merr := m.ExecContext(ctx, memories.rows[i]...)
			_, cerr := c.ExecContext(ctx, changes.rows[i]...)
			if err := errors.Join(merr, cerr); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
			return err
		}
	}
	return nil
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
func sourceRows(ctx context.Context, home string) (memories, changes table, err error) {
	db, err := openMemoryDB(home, []string{"query_only(1)"})
	if err != nil {
		return memories, changes, err
	}
	defer db.Close()
	if memories, err = readTable(ctx, db, "memories"); err != nil {
		return memories, changes, err
	}
	changes, err = readTable(ctx, db, "changes")
	if err == nil && len(memories.rows) != len(changes.rows) {
		err = fmt.Errorf("%d memories have %d entries of the change log", len(memories.rows), len(changes.rows))
	}
	return memories, changes, err
}

// readTable reads all rows of a table in the order they were inserted.
func readTable(ctx context.Context, db *sql.DB, name string) (t table, err error) {
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`SELECT * FROM %s ORDER BY rowid`, name))
	if err != nil {
		return t, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return t, err
	}
	t.name, t.columns = name, columns[1:] // the first one is the number
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return t, err
		}
		t.rows = append(t.rows, row[1:])
	}
	return t, rows.Err()
}

// openMemoryDB opens the memory.db that is live in a home.
func openMemoryDB(dir string, pragmas []string) (*sql.DB, error) {
	agent, err := agentIn(dir)
	if err != nil {
		return nil, err
	}
	current, err := agent.Current()
	if err != nil {
		return nil, err
	}
	return openFile(agent, current, pragmas)
}

func openFile(agent *home.Agent, current home.Current, pragmas []string) (*sql.DB, error) {
	u := url.URL{
		Scheme: "file", Path: filepath.Join(agent.GenDir(current), "memory.db"),
		RawQuery: url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_pragma": pragmas}.Encode(),
	}
	db, err := sql.Open("sqlite", u.String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}
