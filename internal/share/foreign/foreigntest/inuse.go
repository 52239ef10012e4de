package foreigntest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// InUse runs a script on a database as a program that goes on using it: the rows are in the write-ahead log alone, and a
// writer holds a transaction until the test ends, in which it has run the script unfinished.
func InUse(t testing.TB, file, script, unfinished string) {
	t.Helper()
	ctx := context.Background()
	db := must.Get(sql.Open("sqlite", file))(t)
	conn := must.Get(db.Conn(ctx))(t)
	t.Cleanup(func() {
		must.Get(conn.ExecContext(ctx, "ROLLBACK"))(t)
		must.Do(t, conn.Close())
		must.Do(t, db.Close())
	})
	for _, s := range []string{"PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", script, "BEGIN IMMEDIATE", unfinished} {
		must.Get(conn.ExecContext(ctx, s))(t)
	}
}

// Unwritable copies a database that is in use to a folder where SQLite can make no file beside it, and returns the folder.
func Unwritable(t testing.TB, file string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	base := filepath.Join(dir, filepath.Base(file))
	for _, suffix := range []string{"", "-wal"} {
		put(t, base+suffix, must.Get(os.ReadFile(file+suffix))(t))
	}
	must.Do(t, os.Mkdir(base+"-shm", 0o500)) // also root, who may write anywhere, cannot open it
	must.Do(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { must.Do(t, os.Chmod(dir, 0o700)) })
	return dir
}
