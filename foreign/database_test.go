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

	"github.com/amber-memory/amber/foreign"
	"github.com/amber-memory/amber/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/must"
)

func rows(t *testing.T, script, table string, order ...string) (got []foreign.Row) {
	t.Helper()
	tree := must.Get(foreign.Open(foreigntest.Database(t, "x.db", script)))(t)
	defer func() { must.Do(t, tree.Close()) }()
	d := must.Get(foreign.OpenDatabase(context.Background(), tree, tree.Files()[0]))(t)
	defer func() { must.Do(t, d.Close()) }()
	must.Do(t, d.Rows(context.Background(), table, order, func(r foreign.Row) error {
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
	script := fmt.Sprintf(`CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT, n INTEGER);
		INSERT INTO a (id, v) VALUES (1, 'x'), (2, CAST(zeroblob(%d) AS TEXT)), (3, zeroblob(1000000)), (4, 'a' || char(0) || 'b'), (5, NULL);
		UPDATE a SET n = -id;`,
		foreign.MaxItemBytes+1)
	for _, order := range []string{"id", "n"} {
		var got []string
		for _, r := range rows(t, script, "a", order) {
			got = append(got, fmt.Sprint(r.Text("id"), " ", len(r.Text("v")), " ", r.TooLong, " ", r.Null("v")))
		}
		if order == "id" {
			must.Equal(t, "rows", got, []string{"1 1 0 false", "2 0 1 true", "3 1000000 0 false", "4 3 0 false", "5 0 0 true"})
		}
		must.Equal(t, "rows by "+order, len(got), 5)
	}
}

// What a program wrote last is in the log beside its database alone, also where both come in a tar file.
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

// A rollback journal may name another file, which SQLite would delete. So one out of an archive is never beside a database.
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
			{Place: foreign.Place{File: "x.db-journal"}, Reason: "is the journal of an unfinished change; it is not played back out of an archive"},
		})
		must.Do(t, tree.Close())
	}
}

func valuesIn(t *testing.T, archive, name string) (got []string) {
	t.Helper()
	tree := must.Get(foreign.Open(archive))(t)
	defer func() { must.Do(t, tree.Close()) }()
	f, ok := tree.File(name)
	must.Hold(t, ok, "files are %v, want %s among them", tree.Files(), name)
	d := must.Get(foreign.OpenDatabase(t.Context(), tree, f))(t)
	defer func() { must.Do(t, d.Close()) }()
	must.Do(t, d.Rows(t.Context(), "a", nil, func(r foreign.Row) error {
		got = append(got, r.Text("v"))
		return nil
	}))
	return got
}
