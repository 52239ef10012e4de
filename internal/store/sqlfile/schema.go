package sqlfile

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"sync"

	sqlite3 "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/store/home"
)

// Schema is what one of the two files looks like.
type Schema struct {
	File string
	sqlconn.Schema
}

//go:embed migrations/*.sql
var files embed.FS

var (
	MemorySchema  = Schema{"memory.db", sqlconn.Schema{ApplicationID: 0x416d6272 /* Ambr */, Migrations: migrations("memory")}}
	ControlSchema = Schema{"control.db", sqlconn.Schema{ApplicationID: 0x416d6263 /* Ambc */, Migrations: migrations("control")}}
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

// Build makes the file of a new generation, where no file is. The caller holds the exclusive lock and syncs the folder.
func (s Schema) Build(ctx context.Context, path string, c home.Current) error {
	data, err := s.newFile(ctx, c)
	if err == nil {
		err = writeNew(path, data)
	}
	return sqlconn.Wrap("make database", path, err)
}

// newFile returns the bytes of a new file, with its first row.
func (s Schema) newFile(ctx context.Context, c home.Current) ([]byte, error) {
	key := fmt.Sprint(s.ApplicationID, s.Migrations)
	if made, ok := newFiles.Load(key); ok {
		if data, ok := made.(newFile).of(c); ok {
			return data, nil
		}
	}
	data, err := s.Image(ctx, func(db *sql.Conn) error {
		_, err := db.ExecContext(ctx, sqlrows.InsertIncarnation, c.Incarnation)
		return err
	})
	if err == nil {
		newFiles.Store(key, newFile{data, c.Incarnation})
	}
	return data, err
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

// writeNew makes a file and syncs it.
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

// RowChecks are the checks of what the rows of a file of a schema hold.
func (s Schema) RowChecks(version int64) []sqlrows.Check {
	if s.File == ControlSchema.File {
		return sqlrows.ControlChecks(version, version >= ControlSchema.Version())
	}
	return sqlrows.MemoryChecks(version, version >= MemorySchema.Version())
}
