package foreigntest

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

// Modified is when files that [Files] makes were changed.
var Modified = amber.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// Times compares times.
var Times = cmp.Comparer(func(a, b amber.Time) bool { return a == b })

// At returns a time in text.
func At(t testing.TB, text string) amber.Time {
	t.Helper()
	return must.Get(foreign.Text(text))(t)
}

// Zip returns a zip file of files, by their names.
func Zip(t testing.TB, files map[string]string) string {
	t.Helper()
	var b strings.Builder
	z := zip.NewWriter(&b)
	for name, text := range files {
		must.Get(must.Get(z.Create(name))(t).Write([]byte(text)))(t)
	}
	must.Do(t, z.Close())
	return b.String()
}

// Files makes a folder of files, by their names, all of one time.
func Files(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		put(t, file, []byte(text))
		must.Do(t, os.Chtimes(file, Modified.Time(), Modified.Time()))
	}
	return dir
}
