package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
)

// foreign opens a database of another program with n rows of a page each.
func foreign(t *testing.T, path, journal string, n int) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+path))(t)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	db.SetMaxOpenConns(1)
	must.Get(db.Exec("PRAGMA journal_mode=" + journal))(t)
	must.Get(db.Exec("CREATE TABLE t (v)"))(t)
	fillForeign(t, db, n)
	return db
}

func fillForeign(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	must.Get(db.Exec("WITH RECURSIVE c (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < ?) INSERT INTO t SELECT randomblob(3000) FROM c", n))(t)
}

// files returns the names, sizes and times of the files in a folder.
func files(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		info := must.Get(e.Info())(t)
		if filepath.Ext(e.Name()) == ".db-shm" { // what readers share changes
			out = append(out, e.Name())
			continue
		}
		out = append(out, fmt.Sprint(e.Name(), " ", info.Size(), " ", info.ModTime().UnixNano()))
	}
	return out
}

func TestFreezeOfForeignDatabases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, journal string
		open          bool // by its own program
	}{
		{"write-ahead log, open", "WAL", true},
		{"write-ahead log, closed", "WAL", false},
		{"rollback journal, open", "DELETE", true},
		{"rollback journal, closed", "DELETE", false},
		{"kept rollback journal", "PERSIST", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "foreign.db")
			db := foreign(t, path, c.journal, 50)
			if !c.open {
				must.Do(t, db.Close())
			}
			before := files(t, dir)
			f := must.Get(image.Freeze(t.Context(), path))(t)
			if c.open && c.journal == "WAL" {
				fillForeign(t, db, 50) // its program goes on
				before = files(t, dir)
			}
			got := thaw(t, f, filepath.Join(t.TempDir(), "copy.db"))
			must.Do(t, f.Close())
			must.Equal(t, "folder", files(t, dir), before)
			must.Equal(t, "rows", query[int](t, got, "SELECT count(*) FROM t"), 50)
			if c.open {
				fillForeign(t, db, 1) // nothing stays locked
			}
		})
	}
}

func TestFreezeRefusesWhatItCannotReadWhole(t *testing.T) {
	t.Parallel()
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		must.Fail(image.Freeze(t.Context(), filepath.Join(t.TempDir(), "none.db")))(t, "freeze", amber.KindNotFound)
	})
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		must.Fail(image.Freeze(t.Context(), t.TempDir()))(t, "freeze", amber.KindRefused)
	})
	t.Run("not a database", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "text.db")
		must.Do(t, os.WriteFile(path, make([]byte, 9000), 0o600))
		must.Do(t, os.WriteFile(path, []byte("some text that is longer than a header has to be: 100 bytes, and this sentence has more of them than that."), 0o600))
		must.Fail(image.Freeze(t.Context(), path))(t, "freeze", amber.KindDamaged)
	})
	t.Run("a log without its index", func(t *testing.T) {
		t.Parallel()
		dir, copied := t.TempDir(), t.TempDir()
		db := foreign(t, filepath.Join(dir, "foreign.db"), "WAL", 50)
		for _, name := range []string{"foreign.db", "foreign.db-wal"} {
			must.Do(t, os.WriteFile(filepath.Join(copied, name), must.Get(os.ReadFile(filepath.Join(dir, name)))(t), 0o600))
		}
		fillForeign(t, db, 1)
		must.Fail(image.Freeze(t.Context(), filepath.Join(copied, "foreign.db")))(t, "freeze", amber.KindUnsupported)
		must.Is(t, "index", must.Err(os.Lstat(filepath.Join(copied, "foreign.db-shm"))), fs.ErrNotExist)
	})
	t.Run("cut off in a write", func(t *testing.T) {
		t.Parallel()
		dir, copied := t.TempDir(), t.TempDir()
		db := foreign(t, filepath.Join(dir, "foreign.db"), "DELETE", 50)
		must.Get(db.Exec("PRAGMA synchronous=OFF"))(t) // the journal is written whole at once
		tx := must.Get(db.Begin())(t)
		must.Get(tx.Exec("UPDATE t SET v = randomblob(3000)"))(t)
		for _, name := range []string{"foreign.db", "foreign.db-journal"} {
			must.Do(t, os.WriteFile(filepath.Join(copied, name), must.Get(os.ReadFile(filepath.Join(dir, name)))(t), 0o600))
		}
		must.Do(t, tx.Rollback())
		must.Fail(image.Freeze(t.Context(), filepath.Join(copied, "foreign.db")))(t, "freeze", amber.KindUnsupported)
	})
	t.Run("written meanwhile", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "foreign.db")
		must.Do(t, foreign(t, path, "WAL", 50).Close())
		f := must.Get(image.Freeze(t.Context(), path))(t)
		defer f.Close()
		must.Do(t, foreignAgain(t, path).Close())
		must.Kind(t, "read pages", f.ReadPages(t.Context(), func([]byte) error { return nil }), amber.KindBusy)
	})
}

func foreignAgain(t *testing.T, path string) *sql.DB {
	db := must.Get(sql.Open("sqlite", "file:"+path))(t)
	fillForeign(t, db, 5)
	return db
}

// A source may have any page size, and shrink and grow as it likes.
func TestFreezeOfOtherPageSizes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{512, 1024, 8192, 65536} {
		path := filepath.Join(t.TempDir(), "foreign.db")
		db := must.Get(sql.Open("sqlite", "file:"+path))(t)
		db.SetMaxOpenConns(1)
		must.Get(db.Exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=1; CREATE TABLE t (v)", size)))(t)
		fillForeign(t, db, 300)
		must.Get(db.Exec("DELETE FROM t WHERE rowid > 100"))(t)
		f := must.Get(image.Freeze(t.Context(), path))(t)
		must.Equal(t, "page size", f.Info().PageSize, size)
		got := thaw(t, f, filepath.Join(t.TempDir(), "copy.db"))
		must.Do(t, f.Close())
		must.Equal(t, "rows", query[int](t, got, "SELECT count(*) FROM t"), 100)
		must.Equal(t, "damage", f.Info().Damage, "")
		must.Do(t, db.Close())
	}
}

// A database of more than 1 GiB has a page that holds no data, because locks
// lie on it.
func TestFreezeOfDatabaseWithALockPage(t *testing.T) {
	t.Parallel()
	if testing.Short() || scale(4) < 4 {
		t.Skip("it writes more than 1 GiB, which takes minutes under the race detector")
	}
	path := filepath.Join(t.TempDir(), "large.db")
	db := must.Get(sql.Open("sqlite", "file:"+path))(t)
	defer db.Close()
	db.SetMaxOpenConns(1)
	must.Get(db.Exec("PRAGMA page_size=65536; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; CREATE TABLE t (v)"))(t)
	for range 2 {
		must.Get(db.Exec("INSERT INTO t VALUES (zeroblob(550000000))"))(t)
	}
	f := must.Get(image.Freeze(t.Context(), path))(t)
	defer func() { must.Do(t, f.Close()) }()
	const lockPage = 1<<30/65536 + 1
	n, at := 0, int64(0)
	must.Do(t, f.ReadPages(t.Context(), func(pages []byte) error {
		for p := range slices.Chunk(pages, 65536) {
			if n++; n == lockPage && len(bytes.Trim(p, "\x00")) > 0 {
				t.Error("the lock page is not empty")
			}
			at += int64(len(p))
		}
		return nil
	}))
	if info := f.Info(); n < lockPage || at != info.Pages*65536 || info.Damage != "" {
		t.Errorf("%d pages of %+v", n, info)
	}
}
