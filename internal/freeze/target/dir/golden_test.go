package dir_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestIOOrder pins the order of writes, syncs and links on the real file system.
func TestIOOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before func(t *testing.T, d *dir.Dir)
		do     func(t *testing.T, d *dir.Dir)
	}{
		{"put", nil, func(t *testing.T, d *dir.Dir) { put(t, d, "packs/3f/a", []byte("one")) }},
		{
			"put_exists", func(t *testing.T, d *dir.Dir) { put(t, d, "packs/3f/a", []byte("one")) },
			func(t *testing.T, d *dir.Dir) { put(t, d, "packs/3f/a", []byte("one")) },
		},
		{
			"delete", func(t *testing.T, d *dir.Dir) { put(t, d, "packs/a", []byte("one")) },
			func(t *testing.T, d *dir.Dir) {
				must.Do(t, d.Delete(t.Context(), "packs/a"))
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if tt.before != nil {
				tt.before(t, open(t, root, nil))
			}
			var lines []string
			d := open(t, root, errfs.TraceRel(fsx.OS(), root, func(line string) { lines = append(lines, line) }))
			lines = nil // opening is not in question here
			tt.do(t, d)
			checkGolden(t, "io_"+tt.name, strings.Join(lines, "\n")+"\n")
		})
	}
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, *update, name, got)
}
