package foreigntest

import (
	"archive/zip"
	"bytes"
	"io/fs"
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
	return Put(t, t.TempDir(), files)
}

// Put makes files in a folder as [Files] does, and returns the folder.
func Put(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		put(t, file, []byte(text))
		must.Do(t, os.Chtimes(file, Modified.Time(), Modified.Time()))
	}
	return dir
}

// Copied returns a copy of a folder whose files are all of one time.
func Copied(t testing.TB, folder string) (dir string) {
	t.Helper()
	files := map[string]string{}
	must.Do(t, fs.WalkDir(os.DirFS(folder), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[name] = Script(t, filepath.Join(folder, name))
		}
		return err
	}))
	return Files(t, files)
}

// Zipped packs a folder into a zip file of a name, in a folder of its own, and returns its path.
func Zipped(t testing.TB, name, folder string) string {
	t.Helper()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	must.Do(t, z.AddFS(os.DirFS(folder)))
	must.Do(t, z.Close())
	file := filepath.Join(t.TempDir(), name)
	put(t, file, packed.Bytes())
	return file
}
