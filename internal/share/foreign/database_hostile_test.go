package foreign_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

// Databases that were made to take time and memory without end are read within what their bytes can hold.
func TestHostileDatabasesAreBounded(t *testing.T) {
	for name, h := range foreigntest.Hostile(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			must.Do(t, os.WriteFile(path, h.File, 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			rows, err := 0, error(nil)
			allocated := measured(func() { rows, err = readHostile(ctx, t, path) })
			must.NoError(t, ctx.Err())
			if most := uint64(48 << 20); h.Want != "times what is stored" && allocated > most {
				t.Errorf("reading %d bytes took %d bytes of memory, the limit is %d", len(h.File), allocated, most)
			}
			switch {
			case h.Want == "":
				must.NoError(t, err)
				must.Equal(t, "rows", rows, 200)
			case err == nil || !strings.Contains(err.Error(), h.Want):
				t.Errorf("%d rows, then %v, want %q", rows, err, h.Want)
			}
		})
	}
}

// measured returns how much fn allocates in all.
func measured(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

var errNoTable = errors.New("no table")

func readHostile(ctx context.Context, t *testing.T, path string) (rows int, err error) {
	tree := must.Get(foreign.Open(path))(t)
	defer func() { must.Do(t, tree.Close()) }()
	d, err := foreign.OpenDatabase(ctx, tree, tree.Files()[0])
	if err != nil {
		return 0, err
	}
	defer func() { must.Do(t, d.Close()) }()
	if !d.Has(foreigntest.HostileTable) {
		return 0, errNoTable
	}
	return rows, d.Rows(ctx, foreigntest.HostileTable, func(foreign.Row) error { rows++; return nil })
}
