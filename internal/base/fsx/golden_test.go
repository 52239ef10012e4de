package fsx_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestIOOrder pins the order of writes, syncs and renames on the real file system.
func TestIOOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before string // content of the file "a"; empty: no file
		do     func(fsys fsx.FS, root string) error
	}{
		{"create_new", "", func(fsys fsx.FS, root string) error {
			return fsx.CreateNew(fsys, filepath.Join(root, "a"), 0o600, []byte("new"))
		}},
		{"create_new_exists", "old", func(fsys fsx.FS, root string) error {
			return fsx.CreateNew(fsys, filepath.Join(root, "a"), 0o600, []byte("new"))
		}},
		{"stage_new", "", func(fsys fsx.FS, root string) error { return stream(fsys, filepath.Join(root, "a"), "one", "two") }},
		{"stage_new_exists", "old", func(fsys fsx.FS, root string) error {
			return stream(fsys, filepath.Join(root, "a"), "one", "two")
		}},
		{"stage_new_abort", "", func(fsys fsx.FS, root string) error {
			s, err := fsx.StageNew(fsys, filepath.Join(root, "a"), 0o600)
			if err != nil {
				return err
			}
			_, err = s.Write([]byte("one"))
			return errors.Join(err, s.Abort())
		}},
		{"sync_file", "old", func(fsys fsx.FS, root string) error { return must.Err(fsx.SyncFile(fsys, filepath.Join(root, "a"))) }},
		{"create_same", "", func(fsys fsx.FS, root string) error {
			return fsx.CreateSame(fsys, filepath.Join(root, "a"), 0o600, []byte("new"))
		}},
		{"create_same_exists", "new", func(fsys fsx.FS, root string) error {
			return fsx.CreateSame(fsys, filepath.Join(root, "a"), 0o600, []byte("new"))
		}},
		{"create_same_differs", "old", func(fsys fsx.FS, root string) error {
			return fsx.CreateSame(fsys, filepath.Join(root, "a"), 0o600, []byte("new"))
		}},
		{"replace", "old", func(fsys fsx.FS, root string) error {
			return fsx.Replace(fsys, filepath.Join(root, "a"), 0o600, []byte("new"))
		}},
		{"build_sync_all", "", func(fsys fsx.FS, root string) error {
			f, err := fsx.Build(fsys, filepath.Join(root, "a"), 0o600)
			if err != nil {
				return err
			}
			_, second := f.WriteAt([]byte("two"), 3)
			_, first := f.WriteAt([]byte("one"), 0)
			return errors.Join(second, first, f.Close(), fsys.SyncAll(root))
		}},
		{"mkdir_all", "", func(fsys fsx.FS, root string) error {
			return fsx.MkdirAll(fsys, filepath.Join(root, "x", "y", "z"), 0o700)
		}},
		{"mkdir_all_exists", "", func(fsys fsx.FS, root string) error {
			if err := os.Mkdir(filepath.Join(root, "x"), 0o700); err != nil {
				return err
			}
			return fsx.MkdirAll(fsys, filepath.Join(root, "x"), 0o700)
		}},
		{"sweep_temp", "", func(fsys fsx.FS, root string) error {
			if err := os.WriteFile(filepath.Join(root, fsx.TempPrefix+"LEFT"), nil, 0o600); err != nil {
				return err
			}
			return must.Err(fsx.SweepTemp(fsys, root))
		}},
		{"remove_all", "old", func(fsys fsx.FS, root string) error {
			if err := os.MkdirAll(filepath.Join(root, "x", "y"), 0o700); err != nil {
				return err
			}
			return fsx.RemoveAll(fsys, filepath.Join(root, "x"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if tt.before != "" {
				must.Do(t, os.WriteFile(filepath.Join(root, "a"), []byte(tt.before), 0o600))
			}
			var lines []string
			fsys := errfs.TraceRel(fsx.OS(), root, func(line string) { lines = append(lines, line) })
			result := "ok"
			if err := tt.do(fsys, root); err != nil {
				result = "error"
			}
			checkGolden(t, tt.name, strings.Join(append(lines, "= "+result), "\n")+"\n")
		})
	}
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, *update, "io_"+name, got)
}
