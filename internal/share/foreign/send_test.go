package foreign_test

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

// put writes files below a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
}

// texts are the files of a tree as they lie there.
func texts(t *testing.T, tree *foreign.Tree) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range tree.Files() {
		r := must.Get(f.Raw())(t)
		all[f.Name] = string(must.Get(io.ReadAll(r))(t))
		must.Do(t, r.Close())
	}
	return all
}

// sent is a path as a server gets it.
func sent(t *testing.T, path string) (*foreign.Tree, *foreign.Tree) {
	t.Helper()
	tree := must.Get(foreign.Open(path))(t)
	t.Cleanup(func() { must.NoError(t, tree.Close()) })
	s := must.Get(tree.Send(t.Context()))(t)
	b := must.Get(io.ReadAll(s))(t)
	must.Do(t, s.Close())
	if s.Size > 0 {
		must.Equal(t, "bytes that were announced", s.Size, int64(len(b)))
	}
	return tree, received(t, s.Name, b, s.Modified)
}

func received(t *testing.T, name string, b []byte, modified time.Time) *foreign.Tree {
	t.Helper()
	tree := must.Get(upload(t, name, b, modified))(t)
	t.Cleanup(func() { must.NoError(t, tree.Close()) })
	return tree
}

func upload(t *testing.T, name string, b []byte, modified time.Time) (*foreign.Tree, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "upload")
	must.Do(t, os.WriteFile(file, b, 0o600))
	return foreign.OpenUpload(foreign.Upload{Real: file, Name: name, Modified: modified})
}

// TestAFolderArrivesAsItIs sends a folder: the same names, bytes and seconds arrive, packed files stay packed, and
// neither links nor folders that hold no memory (.git, node_modules) are sent.
func TestAFolderArrivesAsItIs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "notes of ada")
	put(t, dir, map[string]string{
		"a.md": "alpha", "deep/er/b.md": "beta", "empty": "", ".git/config": "no", "node_modules/x.js": "no",
		"big.jsonl": strings.Repeat("the same line again\n", 1<<18), "packed.gz": "\x1f\x8bnot unpacked",
	})
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	at := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	must.Do(t, os.Chtimes(filepath.Join(dir, "a.md"), at, at))
	here, there := sent(t, dir)
	must.Equal(t, "files", texts(t, there), texts(t, here))
	must.Equal(t, "number of files", len(there.Files()), 5)
	must.Equal(t, "name of the tree", there.Base(), "notes of ada")
	must.Equal(t, "where it came from", there.Source(), "notes of ada")
	f, _ := there.File("a.md")
	must.Equal(t, "time of a.md", f.ModifiedAt().String(), amber.At(at).String())
	must.Equal(t, "what stayed", len(here.Skipped()), 1)
	must.Equal(t, "what the other side left out", len(there.Skipped()), 0)
}

// TestAFileArrivesAsItIs: a file alone is one there, too, with its time, and an archive is sent packed.
func TestAFileArrivesAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	_ = must.Get(io.WriteString(must.Get(z.Create("x/y.md"))(t), "gamma"))(t)
	must.Do(t, z.Close())
	put(t, dir, map[string]string{"a.jsonl": "{}\n", "b.zip": archive.String()})
	at := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	must.Do(t, os.Chtimes(filepath.Join(dir, "a.jsonl"), at, at))
	_, there := sent(t, filepath.Join(dir, "a.jsonl"))
	f, single := there.Single()
	must.Equal(t, "it is one file", single, true)
	must.Equal(t, "its name and time", fmt.Sprint(f.Name, f.ModifiedAt()), fmt.Sprint("a.jsonl", amber.At(at)))
	_, there = sent(t, filepath.Join(dir, "b.zip"))
	must.Equal(t, "files of the archive", texts(t, there), map[string]string{"x/y.md": "gamma"})
}

// TestADatabaseInUseArrivesWhole sends a database whose last row is only in the write-ahead log, alone and in a folder.
func TestADatabaseInUseArrivesWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "app.db")
	db := must.Get(sql.Open("sqlite", file))(t)
	t.Cleanup(func() { must.NoError(t, db.Close()) })
	for _, q := range []string{"PRAGMA journal_mode=wal", "PRAGMA wal_autocheckpoint=0", "CREATE TABLE t (x)", "INSERT INTO t VALUES ('in the log')"} {
		must.Do(t, must.Err(db.ExecContext(t.Context(), q)))
	}
	for _, path := range []string{file, dir} {
		_, there := sent(t, path)
		must.Equal(t, "files of "+path, len(there.Files()), 1)
		d := must.Get(foreign.OpenDatabase(t.Context(), there, there.Files()[0]))(t)
		var rows []string
		must.Do(t, d.Rows(t.Context(), "t", func(r foreign.Row) error { rows = append(rows, r.Text("x")); return nil }))
		must.Do(t, d.Close())
		must.Equal(t, "rows", rows, []string{"in the log"})
	}
}

// bomb is a zip file whose entries hold zeros.
func bomb(t *testing.T, entries int, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range entries {
		w := must.Get(z.Create(fmt.Sprintf("zeros-%d", i)))(t)
		_ = must.Get(io.CopyN(w, zeros{}, size))(t)
	}
	must.Do(t, z.Close())
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestUploadsThatUnpackToTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	must.Kind(t, "zeros", must.Err(upload(t, "a.zip", bomb(t, 1, 8<<20), time.Time{})), amber.KindInvalid, "200 times")
	must.Kind(t, "half an archive", must.Err(upload(t, "a.zip", bomb(t, 1, 1<<10)[:40], time.Time{})), amber.KindDamaged)
}

func TestNamesOfUploads(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a\x00", "a\n", "\xff", strings.Repeat("a", 256)} {
		must.Kind(t, fmt.Sprintf("%.20q", name), must.Err(upload(t, name, []byte("x"), time.Time{})), amber.KindInvalid, "want the name of a file")
	}
	for _, name := range []string{"a", "ä ö.jsonl", "...", strings.Repeat("a", 255)} {
		received(t, name, []byte("x"), time.Time{})
	}
}

// TestWhatIsPackedHereIsNoBombThere packs what packs best: it stays within what an import accepts, and comes out the same.
func TestWhatIsPackedHereIsNoBombThere(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	_, _ = io.CopyN(&text, zeros{}, 6<<20)
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d\n", i*i)
	}
	_, _ = io.CopyN(&text, zeros{}, 3<<20)
	dir := filepath.Join(t.TempDir(), "d")
	put(t, dir, map[string]string{"zeros": text.String()})
	_, there := sent(t, dir)
	must.Equal(t, "the text is the same", texts(t, there)["zeros"] == text.String(), true)
}
