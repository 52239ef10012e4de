package foreigntest

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// Database makes a SQLite file of a script and returns the folder that holds it.
func Database(t testing.TB, name string, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, name)
	db := open(t, file)
	must.Get(db.Exec(script))(t)
	must.Do(t, db.Close())
	return dir
}

func open(t testing.TB, file string) *sql.DB {
	t.Helper()
	return must.Get(sql.Open("sqlite", file))(t)
}

// Script returns the text of a file of testdata.
func Script(t testing.TB, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}
