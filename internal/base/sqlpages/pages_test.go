package sqlpages_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/base/sqlpages"
	"github.com/amber-memory/amber/internal/test/must"
)

func execute(t testing.TB, file string, script ...string) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("sqlite", file))(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	for _, s := range script {
		must.Get(db.Exec(s))(t)
	}
	return db
}

// made is a database that a script makes.
func made(t testing.TB, script ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.db")
	must.Do(t, execute(t, file, script...).Close())
	return must.Get(os.ReadFile(file))(t)
}

const fill = `CREATE TABLE a (v); CREATE INDEX i ON a (v);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
	INSERT INTO a SELECT CASE i % 50 WHEN 0 THEN randomblob(i * 40) ELSE randomblob(i % 90) END FROM n;
	DELETE FROM a WHERE rowid % 7 = 0; CREATE TABLE empty (v);`

// lengths are those of the rows of table a as SQLite reads them from an image.
func lengths(ctx context.Context, i *sqlpages.Image) (out []int64, err error) {
	served, err := sqlconn.Serve(i, i.Size())
	if err != nil {
		return nil, err
	}
	u, err := sqlconn.OpenUntrusted(ctx, served.URI())
	if err != nil {
		return nil, errors.Join(err, served.Close())
	}
	err = u.Each(ctx, "SELECT length(v) FROM a NOT INDEXED", nil, func(r sqlconn.Row) error {
		var n sql.NullInt64
		err := r.Scan(&n)
		out = append(out, n.Int64)
		return err
	})
	return out, errors.Join(err, u.Close(), served.Close())
}

// rootOf returns the first page of a table, which is the second or third of the schema.
func rootOf(t testing.TB, file []byte, table string) (root int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	must.Do(t, os.WriteFile(path, file, 0o600))
	must.Do(t, execute(t, path).QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&root))
	return root
}

// Whatever the size of a page, a walk counts the rows that are there, and SQLite reads them from the pages that were met.
func TestAWalkMeetsWhatSQLiteReads(t *testing.T) {
	t.Parallel()
	for _, size := range []int{512, 1024, 4096, 65536} {
		for _, vacuum := range []string{"none", "full"} {
			b := made(t, fmt.Sprintf("PRAGMA page_size = %d; PRAGMA auto_vacuum = %s;", size, vacuum), fill)
			root := rootOf(t, b, "a")
			i := must.Get(sqlpages.Open(t.Context(), bytes.NewReader(b), int64(len(b))))(t)
			_, err := lengths(t.Context(), i)
			must.Hold(t, err != nil, "SQLite reads a table of %d-byte pages that was not walked", size)
			tally := must.Get(i.Walk(t.Context(), root))(t)
			got := must.Get(lengths(t.Context(), i))(t)
			must.Equal(t, "rows", tally.Rows, int64(len(got)))
			must.Equal(t, "rows that are there", len(got), 600-600/7)
			must.Equal(t, "empty", must.Get(i.Walk(t.Context(), rootOf(t, b, "empty")))(t), sqlpages.Tally{})
			must.Kind(t, "a second walk", must.Err(i.Walk(t.Context(), root)), amber.KindDamaged, "named twice")
			must.Kind(t, "an index", must.Err(i.Walk(t.Context(), rootOf(t, b, "i"))), amber.KindDamaged, "not a page of a table")
		}
	}
}

// The log of a database that is in use is applied as SQLite reads it: up to the last commit, and also where the file has
// shrunk.
func TestALogIsAppliedUpToItsLastCommit(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{"grown": "INSERT INTO a VALUES (zeroblob(70000))", "shrunk": "DELETE FROM a WHERE rowid > 50; VACUUM"} {
		file := filepath.Join(t.TempDir(), "x.db")
		db := execute(t, file, fill, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "UPDATE a SET v = 'x' WHERE rowid < 20", last)
		want, n := 0, 0
		must.Do(t, db.QueryRow("SELECT count(*), sum(length(v)) FROM a").Scan(&want, &n))
		log := must.Get(os.ReadFile(file + "-wal"))(t)
		must.Get(db.Exec("BEGIN; INSERT INTO a VALUES ('unfinished')"))(t)

		copied := filepath.Join(t.TempDir(), "copy.db")
		b := must.Get(os.ReadFile(file))(t)
		must.Do(t, os.WriteFile(copied, b, 0o600))
		f := must.Get(os.OpenFile(copied, os.O_RDWR, 0))(t)
		// Half a frame behind the last commit is one that its program has not finished.
		must.Get(sqlpages.ApplyLog(f, int64(len(b)), bytes.NewReader(append(log, log[32:400]...))))(t)
		must.Do(t, f.Close())
		whole := must.Get(os.ReadFile(copied))(t)
		i := must.Get(sqlpages.Open(t.Context(), bytes.NewReader(whole), int64(len(whole))))(t)
		must.Get(i.Walk(t.Context(), rootOf(t, whole, "a")))(t)
		sum := int64(0)
		got := must.Get(lengths(t.Context(), i))(t)
		for _, n := range got {
			sum += n
		}
		must.Equal(t, name, fmt.Sprint(len(got), sum), fmt.Sprint(want, n))
		must.Get(db.Exec("ROLLBACK"))(t)
	}
}

// A log that was damaged counts up to the damage; one that cannot be that of the database is refused.
func TestALogOfAnotherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.db")
	execute(t, file, "PRAGMA page_size = 1024", "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", fill)
	log := must.Get(os.ReadFile(file + "-wal"))(t)
	apply := func(size int64, log []byte) (int64, error) {
		f := must.Get(os.CreateTemp(t.TempDir(), ""))(t)
		defer f.Close()
		if size > 0 {
			must.Get(f.Write(made(t, fmt.Sprintf("PRAGMA page_size = %d", size), fill)))(t)
		}
		info := must.Get(f.Stat())(t)
		return sqlpages.ApplyLog(f, info.Size(), bytes.NewReader(log))
	}
	must.Kind(t, "pages of another size", must.Err(apply(4096, log)), amber.KindDamaged, "has pages of 1024 bytes")
	for name, b := range map[string][]byte{"empty": nil, "text": bytes.Repeat([]byte("text "), 1000), "a header alone": log[:32], "another header": append([]byte{0}, log[1:]...)} {
		must.Equal(t, name, must.Get(apply(1024, b))(t), int64(0))
	}
	changed := bytes.Clone(log)
	changed[len(log)-500] ^= 1
	must.Hold(t, must.Get(apply(1024, changed))(t) < must.Get(apply(1024, log))(t), "a frame whose sum is wrong counts")
}

// FuzzWalk walks what is hardly a database any more: it ends, and what SQLite then reads is no more than was counted.
func FuzzWalk(f *testing.F) {
	seeds := [][]byte{made(f, "PRAGMA page_size = 512", fill), made(f, "PRAGMA page_size = 1024; PRAGMA auto_vacuum = full;", fill)}
	for _, at := range []int{20, 28, 100, 103, 108, 600, 1024, 2000} {
		f.Add(at, uint64(1), false)
		f.Add(at, uint64(math.MaxUint64), true)
	}
	roots := []int64{rootOf(f, seeds[0], "a"), rootOf(f, seeds[1], "a")}
	f.Fuzz(func(t *testing.T, at int, value uint64, second bool) {
		n := 0
		if second {
			n = 1
		}
		b := bytes.Clone(seeds[n])
		for k := range 8 {
			b[uint(at+k)%uint(len(b))] = byte(value >> (8 * k))
		}
		i, err := sqlpages.Open(t.Context(), bytes.NewReader(b), int64(len(b)))
		if err != nil {
			must.Hold(t, amber.KindOf(err) == amber.KindDamaged, "error is %v, want damaged", err)
			return
		}
		tally, err := i.Walk(t.Context(), roots[n])
		if err != nil {
			must.Hold(t, amber.KindOf(err) == amber.KindDamaged, "error is %v, want damaged", err)
			return
		}
		must.Hold(t, tally.Bytes <= int64(len(b)), "%d bytes of rows in %d bytes", tally.Bytes, len(b))
		if got, err := lengths(t.Context(), i); err == nil {
			must.Hold(t, int64(len(got)) <= tally.Rows, "SQLite reads %d rows, %d were counted", len(got), tally.Rows)
		}
	})
}
