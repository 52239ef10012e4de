package foreign

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

type entry struct {
	name, text string
	mode       fs.FileMode
}

// zipped makes a zip file.
func zipped(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w := must.Get(z.CreateHeader(h))(t)
		must.Get(io.WriteString(w, e.text))(t)
	}
	must.Do(t, z.Close())
	return out.Bytes()
}

func put(t *testing.T, name string, b []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(file, b, 0o600))
	return file
}

func opened(t *testing.T, name string) *Tree {
	t.Helper()
	tree := must.Get(Open(name))(t)
	t.Cleanup(func() { must.Do(t, tree.Close()) })
	return tree
}

// outline returns the names of the files, and of those that were skipped.
func outline(tree *Tree) string {
	var out []string
	for _, f := range tree.Files() {
		out = append(out, f.Name)
	}
	for _, s := range tree.Skipped() {
		out = append(out, "-"+s.Place.File)
	}
	return strings.Join(out, " ")
}

func TestAnArchiveIsReadWithoutUnpackingIt(t *testing.T) {
	t.Parallel()
	inner := zipped(t, entry{name: "deep.json", text: "{}"})
	file := put(t, "export.zip", zipped(t, entry{name: "a.json", text: "[1]"}, entry{name: "d/", mode: fs.ModeDir}, entry{name: "d/b.txt", text: "b"},
		entry{name: "inner.zip", text: string(inner)}))
	tree := opened(t, file)
	must.Equal(t, "files", outline(tree), "a.json d/b.txt inner.zip/deep.json")
	f, _ := tree.File("d/b.txt")
	must.Equal(t, "text", string(must.Get(f.Bytes(10))(t)), "b")

	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "one.zip"), zipped(t, entry{name: "x", text: "1"}), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(folder, "two.zip"), zipped(t, entry{name: "x", text: "2"}), 0o600))
	must.Equal(t, "a folder of archives", outline(opened(t, folder)), "one.zip/x two.zip/x")
}

// Names that leave the archive, links, entries twice and archives in archives in archives are named and not read.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	third := zipped(t, entry{name: "x", text: "1"})
	second := zipped(t, entry{name: "third.zip", text: string(third)})
	file := put(t, "a.zip", zipped(t, entry{name: "../up", text: "1"}, entry{name: "/abs", text: "1"}, entry{name: `a\b`, text: "1"},
		entry{name: "link", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}, entry{name: "ok", text: "1"}, entry{name: "ok", text: "2"},
		entry{name: "second.zip", text: string(second)}))
	got := outline(opened(t, file))
	must.Equal(t, "files", got, `ok -../up -/abs -a\b -link -ok -second.zip/third.zip`)

	for _, cut := range []int{10, 100, 300} {
		b := zipped(t, entry{name: "a", text: strings.Repeat("text ", 1000)})
		if _, err := Open(put(t, "cut.zip", b[:len(b)-min(cut, len(b)-5)])); err == nil {
			t.Errorf("a zip file without its last %d bytes is opened", cut)
		}
	}
}

// A file that unpacks to far more than its size is not unpacked.
func TestBombsAreNotUnpacked(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 64<<20)
	var gz, zs bytes.Buffer
	w := gzip.NewWriter(&gz)
	must.Get(io.WriteString(w, zeros))(t)
	must.Do(t, w.Close())
	z := must.Get(zstd.NewWriter(&zs))(t)
	must.Get(io.WriteString(z, zeros))(t)
	must.Do(t, z.Close())
	for name, b := range map[string][]byte{"bomb.zip": zipped(t, entry{name: "conversations.json", text: zeros}), "bomb.jsonl.gz": gz.Bytes(), "bomb.jsonl.zst": zs.Bytes()} {
		tree := opened(t, put(t, name, b))
		f := tree.Files()[0]
		r := must.Get(f.Open())(t)
		n, err := io.Copy(io.Discard, r)
		must.Do(t, r.Close())
		must.Kind(t, name, err, amber.KindInvalid)
		if n > MaxRatio*int64(len(b))+freeBytes+1<<20 {
			t.Errorf("%s: %d bytes were unpacked of %d", name, n, len(b))
		}
	}
}

func TestTarFilesAreBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	for _, h := range []tar.Header{
		{Name: "cogx/manifest.json", Typeflag: tar.TypeReg, Size: 2},
		{Name: "cogx/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "cogx/hard", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"},
		{Name: "../up", Typeflag: tar.TypeReg, Size: 2},
		{Name: "fifo", Typeflag: tar.TypeFifo},
	} {
		must.Do(t, w.WriteHeader(&h))
		if h.Size > 0 {
			must.Get(io.WriteString(w, "{}"))(t)
		}
	}
	must.Do(t, w.Close())
	must.Do(t, gz.Close())
	must.Equal(t, "files", outline(opened(t, put(t, "x.cogx.tar.gz", out.Bytes()))), "cogx/manifest.json -cogx/link -cogx/hard -../up -fifo")
}

// Links of a folder are not followed, also not those that lead out of it.
func TestLinksOfAFolderAreNotFollowed(t *testing.T) {
	t.Parallel()
	outside := put(t, "secret.md", []byte("secret"))
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o600))
	must.Do(t, os.Symlink(outside, filepath.Join(dir, "b.md")))
	must.Do(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "c")))
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, ".git", "x.md"), []byte("x"), 0o600))
	must.Equal(t, "files", outline(opened(t, dir)), "a.md -b.md -c")
	_, err := Open(filepath.Join(dir, "nothing"))
	must.Kind(t, "a path that is not there", err, amber.KindNotFound)
}

// A file that grows a link after it was listed is not followed either.
func TestAFileThatBecomesALinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	outside := put(t, "secret.md", []byte("secret"))
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o600))
	tree := opened(t, dir)
	must.Do(t, os.Remove(filepath.Join(dir, "a.md")))
	must.Do(t, os.Symlink(outside, filepath.Join(dir, "a.md")))
	if b, err := tree.Files()[0].Bytes(100); err == nil {
		t.Errorf("the link was followed: %q", b)
	}
}

func TestAViewIsNoTable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.db")
	db := must.Get(sql.Open("sqlite", file))(t)
	must.Get(db.Exec(`CREATE TABLE real (a TEXT, b INTEGER); INSERT INTO real VALUES ('x', 1), (NULL, 2);
CREATE VIEW memories AS SELECT 'view' AS content; CREATE VIRTUAL TABLE words USING fts5(text)`))(t)
	must.Do(t, db.Close())
	tree := opened(t, file)
	f, _ := tree.Single()
	must.Equal(t, "is a database", f.IsDatabase(), true)
	d := must.Get(OpenDatabase(t.Context(), tree, f))(t)
	defer d.Close()
	must.Equal(t, "tables", fmt.Sprint(d.Has("real"), d.Has("memories"), d.Has("words")), "true false false")
	var rows []string
	must.Do(t, d.Rows(t.Context(), "real", func(r Row) error {
		n, _ := r.Number("b")
		rows = append(rows, fmt.Sprint(r.N, r.Text("a"), n, r.Null("a"), r.Text("none")))
		return nil
	}))
	must.Equal(t, "rows", strings.Join(rows, "|"), "1x1 false|22 true")
}

// A database in an archive is read with its write-ahead log.
func TestADatabaseInAnArchive(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.db")
	db := must.Get(sql.Open("sqlite", file+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)"))(t)
	defer db.Close()
	must.Get(db.Exec(`CREATE TABLE real (a TEXT); INSERT INTO real VALUES ('only in the log')`))(t)
	read := func(name string) string { return string(must.Get(os.ReadFile(name))(t)) }
	tree := opened(t, put(t, "a.zip", zipped(t, entry{name: "d/x.db", text: read(file)}, entry{name: "d/x.db-wal", text: read(file + "-wal")})))
	f, _ := tree.File("d/x.db")
	for range 2 {
		d := must.Get(OpenDatabase(t.Context(), tree, f))(t)
		must.Equal(t, "has the table", d.Has("real"), true)
		must.Do(t, d.Close())
	}
	must.Equal(t, "copies", must.Get(tree.Local(f))(t), must.Get(tree.Local(f))(t))
}

// An import that was killed leaves its copies, and the next one that makes copies removes them. Those in use stay.
func TestCopiesOfAKilledImportAreRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	killed, held, err := fsx.CreateScratchFolder(temp, scratchPrefix)
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(killed, "entry-1"), []byte("x"), 0o600))
	packed := put(t, "a.zip", zipped(t, entry{name: "x", text: "y"}))
	copies := func() int {
		tree := must.Get(Open(packed))(t)
		f, _ := tree.File("x")
		must.Get(tree.Local(f))(t)
		n := len(must.Get(filepath.Glob(filepath.Join(temp, "amber-import-*.amber-scratch")))(t))
		must.Do(t, tree.Close())
		return n
	}
	must.Equal(t, "folders while both are in use", copies(), 2)
	must.Do(t, held.Close())
	must.Equal(t, "folders when one is abandoned", copies(), 1)
	must.Equal(t, "left", len(must.Get(filepath.Glob(filepath.Join(temp, "amber-import-*")))(t)), 0)
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	front, body, err := SplitFront([]byte("---\r\ntitle: \"A #b\"\ntags:\n- x\n- y\nn: 3\nmeta:\n  type: t\n---\r\nText\n"))
	must.Do(t, err)
	must.Equal(t, "front", fmt.Sprint(front.Text("title"), front.Texts("tags"), front.Text("n"), front.Sub("meta").Text("type"), body), "A #b[x y]3tText\n")
	for _, text := range []string{"---\na: [\n---\nx", "---\na: &x [1]\nb: *x\n---\nx", "---\n" + strings.Repeat("a", maxFront+1) + "\n---\nx"} {
		_, body, err := SplitFront([]byte(text))
		if err == nil || body != text {
			t.Errorf("%.20q has front matter: %v", text, err)
		}
	}
	_, body, err = SplitFront([]byte("---\nno end"))
	must.Do(t, err)
	must.Equal(t, "body", body, "---\nno end")
}

func TestTimesOfEveryUnit(t *testing.T) {
	t.Parallel()
	const want = "2026-01-02T03:04:05.678Z"
	for name, get := range map[string]func() (amber.Time, error){
		"seconds": func() (amber.Time, error) { return Seconds(1767323045.678) }, "milliseconds": func() (amber.Time, error) { return Millis(1767323045678) },
		"text": func() (amber.Time, error) { return Text("2026-01-02T03:04:05.678901Z") }, "no zone": func() (amber.Time, error) { return Text("2026-01-02 03:04:05.678") },
		"offset": func() (amber.Time, error) { return Text("2026-01-02T04:04:05.678+01:00") },
	} {
		must.Equal(t, name, must.Get(get())(t).String(), want)
	}
	for name, get := range map[string]func() (amber.Time, error){
		"milliseconds as seconds": func() (amber.Time, error) { return Seconds(1767323045678) }, "zero": func() (amber.Time, error) { return Millis(0) },
		"words": func() (amber.Time, error) { return Text("yesterday") }, "empty": func() (amber.Time, error) { return Text("") },
	} {
		if got, err := get(); err == nil {
			t.Errorf("%s is %s", name, got)
		}
	}
}
