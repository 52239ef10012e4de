package sqlfile

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/store/home"
)

// Schema is what one of the two files looks like: its magic number and its
// migrations, the first of which makes it.
type Schema struct {
	File          string
	ApplicationID int64
	Migrations    []string
}

//go:embed migrations/*.sql
var files embed.FS

var (
	MemorySchema  = Schema{File: "memory.db", ApplicationID: 0x416d6272 /* Ambr */, Migrations: migrations("memory")}
	ControlSchema = Schema{File: "control.db", ApplicationID: 0x416d6263 /* Ambc */, Migrations: migrations("control")}
)

// migrations returns the files NAME-1.sql, NAME-2.sql and so on.
func migrations(name string) (all []string) {
	for {
		text, err := files.ReadFile(fmt.Sprintf("migrations/%s-%d.sql", name, len(all)+1))
		if err != nil {
			return all
		}
		all = append(all, string(text))
	}
}

func (s Schema) Version() int64 { return int64(len(s.Migrations)) }

// Build makes the file of a new generation. The caller holds the exclusive
// lock and syncs the folder.
func (s Schema) Build(ctx context.Context, path string, c home.Current, busy time.Duration) error {
	key := fmt.Sprint(s.ApplicationID, s.Migrations)
	if made, ok := newFiles.Load(key); ok {
		if data, ok := made.(newFile).of(c); ok {
			if err := writeNew(path, data); !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	p, err := OpenPool(path, Create, busy, 1)
	if err != nil {
		return sqlconn.Wrap("make database", path, err)
	}
	made, err := s.fill(ctx, p.DB, c)
	if cerr := p.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err == nil {
		newFiles.Store(key, made)
	}
	return sqlconn.Wrap("make database", path, err)
}

// newFiles has a new file by the SQL that makes it: running all migrations is most of the work of making an agent, and a
// server makes many.
var newFiles sync.Map

// newFile is a file that was made for an incarnation: all else in it is the same in every new file.
type newFile struct {
	data        []byte
	incarnation string
}

// incarnationPlaces is where a new file names its incarnation: in a row, and in the index on that column.
const incarnationPlaces = 2

// of returns the file for another incarnation; ok is false where that one is not as long, or the bytes of the first one
// are in other places, too.
func (f newFile) of(c home.Current) (data []byte, ok bool) {
	old := []byte(f.incarnation)
	if len(c.Incarnation) != len(old) || bytes.Count(f.data, old) != incarnationPlaces {
		return nil, false
	}
	return bytes.ReplaceAll(f.data, old, []byte(c.Incarnation)), true
}

// fill makes the tables of a new file and its first row, and returns what is in the file then.
func (s Schema) fill(ctx context.Context, db *sql.DB, c home.Current) (f newFile, err error) {
	if err := s.Migrate(ctx, db, 0); err != nil {
		return f, err
	}
	if _, err := db.ExecContext(ctx, sqlrows.InsertIncarnation, c.Incarnation); err != nil {
		return f, err
	}
	data, err := serialize(ctx, db)
	return newFile{data, c.Incarnation}, err
}

// writeNew makes a file and syncs it. The error satisfies errors.Is for [fs.ErrExist] where there is a file.
func writeNew(path string, data []byte) error {
	f, err := fsx.Build(fsx.OS(), path, 0o600)
	if err == nil {
		_, err = f.Write(data)
		if err == nil {
			err = f.Sync()
		}
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = os.Chmod(path, 0o600) // the umask may have taken more
	}
	if err == nil {
		return nil
	}
	return &amber.Error{Op: "make database", Kind: amber.KindInternal, ID: path, Err: err, Hint: "check that the disk works and has room"}
}

// serialize returns the bytes of an open database.
func serialize(ctx context.Context, db *sql.DB) (image []byte, err error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	err = c.Raw(func(driver any) (err error) {
		image, err = driver.(interface{ Serialize() ([]byte, error) }).Serialize()
		return err
	})
	return image, errors.Join(err, c.Close())
}

// Migrate brings an open file from version from to the newest, one
// transaction per step, so that a crash leaves it at a version.
func (s Schema) Migrate(ctx context.Context, db *sql.DB, from int64) error {
	for v := from; v < s.Version(); v++ {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("begin migration %d: %w", v+1, err)
		}
		_, err = tx.ExecContext(ctx, s.Migrations[v])
		if err == nil {
			_, err = tx.ExecContext(ctx, sqlconn.Stamp(s.ApplicationID, v+1))
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

// Upgrade migrates an open file from the version it has. Another process may have
// migrated it already.
func (s Schema) Upgrade(ctx context.Context, db *sql.DB) error {
	var version int64
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return s.Migrate(ctx, db, version)
}

// Check looks whether a file is ours and of our version. It asks SQLite: a
// process that opens and closes a database by itself loses the locks SQLite
// holds on it, and another program may then remove the write-ahead log under
// an open store.
func (s Schema) Check(ctx context.Context, db *sql.DB, path string) error {
	var app, version int64
	err := db.QueryRowContext(ctx, sqlconn.SelectStamp).Scan(&app, &version)
	var e *sqlite3.Error
	switch {
	case errors.As(err, &e) && e.Code() == lib.SQLITE_ERROR: // the question is right, so the file is not
		return &amber.Error{Op: "open database", Kind: amber.KindDamaged, ID: path, Err: err, Hint: sqlconn.LeftAsItIs}
	case err != nil:
		return sqlconn.Wrap("open database", path, err)
	case app != s.ApplicationID:
		return &amber.Error{
			Op: "open database", Kind: amber.KindDamaged, ID: path,
			Err: errors.New("the file is not this kind of Amber database"), Hint: sqlconn.LeftAsItIs,
		}
	}
	return s.Judge(version, path)
}

// CheckVersion is the same look inside a write transaction: another process
// may have migrated the file since it was opened.
func (s Schema) CheckVersion(t *sqlrows.Tx) error {
	var version int64
	if err := t.Row("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return s.Judge(version, s.File)
}

func (s Schema) Judge(version int64, path string) error {
	return sqlconn.Judge(version, s.Version(), path)
}

// RowChecks are the checks of what the rows of a file of a schema hold.
func (s Schema) RowChecks(version int64) []sqlrows.Check {
	if s.File == ControlSchema.File {
		return sqlrows.ControlChecks(version, version >= ControlSchema.Version())
	}
	return sqlrows.MemoryChecks(version, version >= MemorySchema.Version())
}
