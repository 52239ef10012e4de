package foreign_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func rows(t *testing.T, script, table string) (got []foreign.Row) {
	t.Helper()
	tree := must.Get(foreign.Open(foreigntest.Database(t, "x.db", script)))(t)
	defer func() { must.Do(t, tree.Close()) }()
	d := must.Get(foreign.OpenDatabase(context.Background(), tree, tree.Files()[0]))(t)
	defer func() { must.Do(t, d.Close()) }()
	must.Do(t, d.Rows(context.Background(), table, func(r foreign.Row) error {
		got = append(got, r)
		return nil
	}))
	return got
}

// The driver makes times of columns that are declared so, and their zone would be lost.
func TestATimeInADatabaseKeepsItsZone(t *testing.T) {
	t.Parallel()
	got := rows(t, `CREATE TABLE a (at DATETIME, day DATE, yes BOOLEAN);
		INSERT INTO a VALUES ('2026-01-02T03:04:05.678901-08:00', '2026-01-02', 1);
		INSERT INTO a VALUES (1767323045, 5, 'x');`, "a")
	must.Equal(t, "time", got[0].Text("at"), "2026-01-02T03:04:05.678901-08:00")
	must.Equal(t, "day", got[0].Text("day"), "2026-01-02")
	must.Equal(t, "boolean", got[0].Text("yes"), "1")
	n, ok := got[1].Number("at")
	must.Equal(t, "number", fmt.Sprint(n, ok), "1.767323045e+09 true")
}

func TestAnEnormousCellCostsItselfAlone(t *testing.T) {
	t.Parallel()
	script := fmt.Sprintf(`CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT);
		INSERT INTO a VALUES (1, 'x'), (2, CAST(zeroblob(%d) AS TEXT)), (3, zeroblob(1000000)), (4, 'a' || char(0) || 'b'), (5, NULL);`,
		foreign.MaxItemBytes+1)
	var got []string
	for _, r := range rows(t, script, "a") {
		got = append(got, fmt.Sprint(r.Text("id"), " ", len(r.Text("v")), " ", r.TooLong, " ", r.Null("v")))
	}
	must.Equal(t, "rows", got, []string{"1 1 0 false", "2 0 1 true", "3 1000000 0 false", "4 3 0 false", "5 0 0 true"})
}

// The last writes of a program are only in the log beside its database, also where both come in a tar file.
func TestADatabaseInATarFileHasItsLog(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.db")
	foreigntest.InUse(t, file, "CREATE TABLE a (v TEXT); INSERT INTO a VALUES ('in the log')", "INSERT INTO a VALUES ('unfinished')")
	for _, order := range [][]string{{"", "-wal"}, {"-wal", ""}} {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, suffix := range order {
			b := must.Get(os.ReadFile(file + suffix))(t)
			must.Do(t, w.WriteHeader(&tar.Header{Name: "data/x.db" + suffix, Mode: 0o600, Size: int64(len(b))}))
			must.Get(w.Write(b))(t)
		}
		must.Do(t, w.Close())
		packed := filepath.Join(t.TempDir(), "data.tar")
		must.Do(t, os.WriteFile(packed, out.Bytes(), 0o600))
		must.Equal(t, "rows", valuesIn(t, packed, "data/x.db"), []string{"in the log"})
	}
}

// A rollback journal may name another file, which SQLite would delete. So none is ever beside a database that is read.
func TestARollbackJournalOfAnArchiveIsNotPlayedBack(t *testing.T) {
	t.Parallel()
	db := string(must.Get(os.ReadFile(filepath.Join(foreigntest.Database(t, "x.db", "CREATE TABLE a (v TEXT)"), "x.db")))(t))
	names := []string{"x.db", "x.db-journal"}
	var tarred, zipped bytes.Buffer
	w, z := tar.NewWriter(&tarred), zip.NewWriter(&zipped)
	for i, text := range []string{db, "a journal"} {
		must.Do(t, w.WriteHeader(&tar.Header{Name: names[i], Mode: 0o600, Size: int64(len(text))}))
		must.Get(io.WriteString(w, text))(t)
		must.Get(io.WriteString(must.Get(z.Create(names[i]))(t), text))(t)
	}
	must.Do(t, w.Close())
	must.Do(t, z.Close())
	for name, b := range map[string][]byte{"a.tar": tarred.Bytes(), "a.zip": zipped.Bytes()} {
		packed := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(packed, b, 0o600))
		tree := must.Get(foreign.Open(packed))(t)
		f, _ := tree.File("x.db")
		real := must.Get(tree.Local(f))(t)
		_, err := os.Lstat(real + "-journal")
		must.Equal(t, name+": no journal is beside the copy", os.IsNotExist(err), true)
		must.Equal(t, name+": what is skipped", tree.Skipped(), []foreign.Skipped{
			{Place: foreign.Place{File: "x.db-journal"}, Reason: "is the journal of an unfinished change, which is not played back: let its program open the database, then import again"},
		})
		must.Do(t, tree.Close())
	}
}

// Also beside a database that lies on this machine, alone or in a folder, a rollback journal stays as it is, and the
// report names it. A journal that begins with zero belongs to a finished change.
func TestAJournalBesideADatabaseStays(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Database(t, "x.db", "CREATE TABLE a (v TEXT); INSERT INTO a VALUES ('here')")
	file := filepath.Join(dir, "x.db")
	for journal, skipped := range map[string]int{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\xff\xff\xff\xff": 1, "\x00\x00": 0, "": 0} {
		must.Do(t, os.WriteFile(file+"-journal", []byte(journal), 0o600))
		for _, path := range []string{file, dir} {
			must.Equal(t, "rows", valuesIn(t, path, "x.db"), []string{"here"})
			tree := must.Get(foreign.Open(path))(t)
			must.Equal(t, "skipped", len(tree.Skipped()), skipped)
			must.Do(t, tree.Close())
			must.Equal(t, "journal", string(must.Get(os.ReadFile(file+"-journal"))(t)), journal)
		}
	}
}

// A program that writes to a database while it is read is no reason to read half of each.
func TestADatabaseThatChangesMeanwhileIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(foreigntest.Database(t, "x.db", "CREATE TABLE a (v TEXT); INSERT INTO a VALUES ('one'), ('two')"), "x.db")
	tree := must.Get(foreign.Open(file))(t)
	defer func() { must.Do(t, tree.Close()) }()
	d := must.Get(foreign.OpenDatabase(t.Context(), tree, tree.Files()[0]))(t)
	defer func() { must.Do(t, d.Close()) }()
	err := d.Rows(t.Context(), "a", func(r foreign.Row) error {
		return os.Chtimes(file, time.Time{}, time.Unix(r.N, 0))
	})
	must.Kind(t, "", err, amber.KindBusy, "wrote to the file")
}

func valuesIn(t *testing.T, archive, name string) (got []string) {
	t.Helper()
	tree := must.Get(foreign.Open(archive))(t)
	defer func() { must.Do(t, tree.Close()) }()
	f, ok := tree.File(name)
	must.Hold(t, ok, "files are %v, want %s among them", tree.Files(), name)
	d := must.Get(foreign.OpenDatabase(t.Context(), tree, f))(t)
	defer func() { must.Do(t, d.Close()) }()
	must.Do(t, d.Rows(t.Context(), "a", func(r foreign.Row) error {
		got = append(got, r.Text("v"))
		return nil
	}))
	return got
}
