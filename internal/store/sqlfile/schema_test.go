package sqlfile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// incarnations reads those that a file names, after a whole check of the file.
func incarnations(ctx context.Context, t *testing.T, path string) []string {
	t.Helper()
	p := must.Get(OpenPool(path, Read, time.Second, 1))(t)
	defer p.Close()
	conn := must.Get(p.Get(ctx))(t)
	defer p.Put(conn)
	tx := &sqlrows.Tx{Ctx: ctx, Conn: conn}
	must.Do(t, CheckIntegrity(tx))
	return must.Get(sqlrows.All(tx, sqlrows.ScanText, "SELECT id FROM incarnations INDEXED BY sqlite_autoindex_incarnations_1 ORDER BY id"))(t)
}

// The second new file of a process is the first with another incarnation.
func TestNewFilesNameTheirIncarnation(t *testing.T) {
	t.Parallel()
	for _, s := range []Schema{MemorySchema, ControlSchema} {
		var size int64
		for n, incarnation := range []string{"0193c5a8-0000-7000-8000-000000000001", "0193c5a8-0000-7000-8000-000000000002", "short", "0193c5a8-0000-7000-8000-000000000003"} {
			path := filepath.Join(t.TempDir(), s.File)
			must.Do(t, s.Build(t.Context(), path, home.Current{Incarnation: incarnation}))
			info := must.Get(os.Stat(path))(t)
			must.Equal(t, "mode", info.Mode().Perm(), 0o600)
			must.Equal(t, "incarnations", incarnations(t.Context(), t, path), []string{incarnation})
			if n > 0 {
				must.Equal(t, "size", info.Size(), size)
			}
			size = info.Size()
			if err := s.Build(t.Context(), path, home.Current{Incarnation: incarnation}); err == nil {
				t.Error("a file is made over another one")
			}
		}
	}
}

func TestANewFileIsMadeOfAnOtherOne(t *testing.T) {
	t.Parallel()
	first := newFile{[]byte("a row of one, an index of one"), "one"}
	data, ok := first.of(home.Current{Incarnation: "two"})
	must.Equal(t, "data", string(data), "a row of two, an index of two")
	must.Equal(t, "made", ok, true)
	for _, other := range []string{"three", "none"} {
		_, ok := first.of(home.Current{Incarnation: other})
		must.Equal(t, "made for "+other, ok, false)
	}
	_, ok = newFile{[]byte("one and one and one"), "one"}.of(home.Current{Incarnation: "two"})
	must.Equal(t, "made of a file with one more place", ok, false)
}

// A gap in the numbers of the files would leave migrations out.
func TestEveryFileIsAMigration(t *testing.T) {
	t.Parallel()
	all := must.Get(files.ReadDir("migrations"))(t)
	must.Equal(t, "migrations", len(MemorySchema.Migrations)+len(ControlSchema.Migrations), len(all))
}
