package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"

	sqlite3 "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// schema is what one of the two files looks like: its magic number and its
// migrations, the first of which makes it.
type schema struct {
	file          string
	applicationID int64
	migrations    []string
}

//go:embed migrations/memory-1.sql
var memory1 string

//go:embed migrations/memory-2.sql
var memory2 string

//go:embed migrations/memory-3.sql
var memory3 string

//go:embed migrations/memory-4.sql
var memory4 string

//go:embed migrations/control-1.sql
var control1 string

//go:embed migrations/control-2.sql
var control2 string

var (
	memorySchema  = schema{file: "memory.db", applicationID: 0x416d6272 /* Ambr */, migrations: []string{memory1, memory2, memory3, memory4}}
	controlSchema = schema{file: "control.db", applicationID: 0x416d6263 /* Ambc */, migrations: []string{control1, control2}}
)

func (s schema) version() int64 { return int64(len(s.migrations)) }

// build makes the file of a new generation. The caller holds the exclusive
// lock and syncs the folder.
func (s schema) build(ctx context.Context, path string, c home.Current, o Options) error {
	p, err := openPool(path, create, o.BusyTimeout, 1)
	if err != nil {
		return sqlconn.Wrap("make database", path, err)
	}
	err = s.migrate(ctx, p.DB, 0)
	if err == nil {
		_, err = p.DB.ExecContext(ctx, insertIncarnation, c.Incarnation)
	}
	if cerr := p.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	return sqlconn.Wrap("make database", path, err)
}

// migrate brings an open file from version from to the newest, one
// transaction per step, so that a crash leaves it at a version.
func (s schema) migrate(ctx context.Context, db *sql.DB, from int64) error {
	for v := from; v < s.version(); v++ {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("begin migration %d: %w", v+1, err)
		}
		_, err = tx.ExecContext(ctx, s.migrations[v])
		if err == nil {
			_, err = tx.ExecContext(ctx, sqlconn.Stamp(s.applicationID, v+1))
		}
		if err != nil {
			return fmt.Errorf("migration %d: %w", v+1, errors.Join(err, tx.Rollback()))
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("commit migration %d: %w", v+1, err)
		}
	}
	return nil
}

// upgrade migrates an open file from the version it has. Somebody else may have
// been faster.
func (s schema) upgrade(ctx context.Context, db *sql.DB) error {
	var version int64
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return s.migrate(ctx, db, version)
}

// check looks whether a file is ours and of our version. It asks SQLite: a
// process that opens and closes a database by itself loses the locks SQLite
// holds on it, and another program may then remove the write-ahead log under
// an open store.
func (s schema) check(ctx context.Context, db *sql.DB, path string) error {
	var app, version int64
	err := db.QueryRowContext(ctx, sqlconn.SelectStamp).Scan(&app, &version)
	var e *sqlite3.Error
	switch {
	case errors.As(err, &e) && e.Code() == lib.SQLITE_ERROR: // the question is right, so the file is not
		return &amber.Error{Op: "open database", Kind: amber.KindDamaged, ID: path, Err: err, Hint: sqlconn.LeftAsItIs}
	case err != nil:
		return sqlconn.Wrap("open database", path, err)
	case app != s.applicationID:
		return &amber.Error{
			Op: "open database", Kind: amber.KindDamaged, ID: path,
			Err: errors.New("it is not an Amber database of this kind"), Hint: sqlconn.LeftAsItIs,
		}
	}
	return s.judge(version, path)
}

// checkVersion is the same look inside a write transaction: another process
// may have migrated the file since it was opened.
func (s schema) checkVersion(t *tx) error {
	var version int64
	if err := t.row("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return s.judge(version, s.file)
}

func (s schema) judge(version int64, path string) error {
	return sqlconn.Judge(version, s.version(), path)
}
