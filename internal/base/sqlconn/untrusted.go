package sqlconn

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	sqlite3 "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
)

// Limits of one value in a file that is not trusted, in bytes.
const (
	MaxSchemaText = 1 << 20  // of one object of a schema; Amber's longest has 2 KiB
	MaxValue      = 64 << 20 // of a row; the largest record of Amber is a fraction of it
)

// Untrusted is one connection to a database file that is not trusted. No
// trigger, view or function of the file runs.
type Untrusted struct {
	*Conn
	db *sql.DB
}

// UntrustedURI names a file that is not trusted and not written. The values of
// more replace the ones it would have.
func UntrustedURI(path string, more url.Values) string {
	q := url.Values{
		"mode": {"ro"}, "immutable": {"1"}, "_dqs": {"0"}, "_defensive": {"1"},
		"_pragma": {"trusted_schema(0)", "cell_size_check(1)", "query_only(1)", "temp_store(2)"},
	}
	for k, v := range more {
		q[k] = v
	}
	return FileURI(path, q)
}

// OpenUntrusted opens the file that a URI of [UntrustedURI] names.
func OpenUntrusted(ctx context.Context, uri string) (*Untrusted, error) {
	c, err := sqlite3.NewConnector(uri)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	one, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Untrusted{Conn: New(one), db: db}, nil
}

// Close closes the connection.
func (u *Untrusted) Close() error { return errors.Join(u.Conn.Close(), u.db.Close()) }

// Limit bounds the memory one value may take.
func (u *Untrusted) Limit(bytes int) error {
	_, err := sqlite3.Limit(u.SQL, lib.SQLITE_LIMIT_LENGTH, bytes)
	return err
}

// CheckAlone returns what is known of a file that can be read as it is: a regular file
// without a journal beside it that would change it. The error about any other
// file is of kind refused and does not name the file.
func CheckAlone(op, path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, amber.Errorf(amber.KindRefused, op, "", "want a regular file, found %s", info.Mode().Type())
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return nil, amber.Errorf(amber.KindRefused, op, "", "a %s file beside the database would change its content", suffix)
		}
	}
	return info, nil
}

// About names the file an error is about, unless the error names one.
func About(op, path string, err error) error {
	if e, ok := errors.AsType[*amber.Error](err); ok && e.ID == "" {
		named := *e
		named.ID = path
		return &named
	}
	return Wrap(op, path, err)
}
