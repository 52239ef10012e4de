package foreigntest

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/must"
)

// Database makes a SQLite file of a script and returns the folder that holds it.
func Database(t testing.TB, name string, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, name)
	db := must.Get(sql.Open("sqlite", file))(t)
	must.Get(db.Exec(script))(t)
	must.Do(t, db.Close())
	return dir
}

// Script returns the text of a file of testdata.
func Script(t testing.TB, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}
