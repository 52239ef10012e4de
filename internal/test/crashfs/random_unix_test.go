//go:build unix

package crashfs_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
)

var seedFlag = flag.Uint64("seed", 0, "run the random operations with this seed only")

// TestRandomOperations does the same random things to the real file system and to crashfs: every call
// must agree, and so must the trees, also after everything was synced and the power was cut.
func TestRandomOperations(t *testing.T) {
	t.Parallel()
	seeds := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if *seedFlag != 0 {
		seeds = []uint64{*seedFlag}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			root, c := t.TempDir(), crashfs.New()
			for range 300 {
				op := randomOp(r)
				want, got := op.do(fsx.OS(), root), op.do(c, "/")
				if class(got) != class(want) {
					t.Fatalf("%s: got %v, want %v", op.name, got, want)
				}
			}
			want := list(t, fsx.OS(), root)
			if diff := cmp.Diff(want, list(t, c, "/")); diff != "" {
				t.Fatalf("trees (-os +crashfs):\n%s", diff)
			}
			if seed%2 == 0 {
				syncAll(t, c, "/")
			} else if err := c.SyncAll("/"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, list(t, c.CrashClone(r), "/")); diff != "" {
				t.Fatalf("synced tree after a crash (-os +crashfs):\n%s", diff)
			}
		})
	}
}

type operation struct {
	name string
	do   func(fsys fsx.FS, root string) error
}

// randomOp draws an operation on a few names, so that they often meet.
func randomOp(r *rand.Rand) operation {
	names := []string{"a", "b", "c", "a/a", "a/b", "b/a", "b/b", "a/a/a"}
	one, two := names[r.IntN(len(names))], names[r.IntN(len(names))]
	data := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, r.IntN(3*block))
	size := int64(r.IntN(3 * block))
	onFile := func(flag int, do func(fsx.File) error) func(fsx.FS, string) error {
		return func(fsys fsx.FS, root string) error {
			f, err := fsys.OpenFile(filepath.Join(root, one), flag, 0o600)
			if err != nil {
				return err
			}
			return errors.Join(do(f), f.Close())
		}
	}
	write := func(f fsx.File) error { _, err := f.Write(data); return err }
	ops := []operation{
		{"write at " + one, onFile(os.O_RDWR, func(f fsx.File) error { _, err := f.WriteAt(data, size); return err })},
		{"sync all " + one, func(fsys fsx.FS, root string) error { return fsys.SyncAll(filepath.Join(root, one)) }},
		{"mkdir " + one, func(fsys fsx.FS, root string) error { return fsys.Mkdir(filepath.Join(root, one), 0o700) }},
		{"create " + one, onFile(os.O_WRONLY|os.O_CREATE|os.O_EXCL, write)},
		{"overwrite " + one, onFile(os.O_RDWR|os.O_CREATE, write)},
		{"append " + one, onFile(os.O_WRONLY|os.O_APPEND, write)},
		{"rewrite " + one, onFile(os.O_WRONLY|os.O_TRUNC, write)},
		{"truncate " + one, onFile(os.O_WRONLY, func(f fsx.File) error { return f.Truncate(size) })},
		{"sync " + one, onFile(os.O_WRONLY, fsx.File.Sync)},
		{"syncdir " + one, func(fsys fsx.FS, root string) error { return fsys.SyncDir(filepath.Join(root, one)) }},
		{"remove " + one, func(fsys fsx.FS, root string) error { return fsys.Remove(filepath.Join(root, one)) }},
		{"link " + one + " " + two, func(fsys fsx.FS, root string) error {
			return fsys.Link(filepath.Join(root, one), filepath.Join(root, two))
		}},
		{"rename " + one + " " + two, func(fsys fsx.FS, root string) error {
			return fsys.Rename(filepath.Join(root, one), filepath.Join(root, two))
		}},
	}
	return ops[r.IntN(len(ops))]
}

// class is what callers may rely on in an error. Where two things are wrong at once, systems differ in what they
// report; crashfs follows Linux.
func class(err error) string {
	switch {
	case err == nil:
		return "ok"
	case runtime.GOOS != "linux":
		return "error"
	case errors.Is(err, fs.ErrExist):
		return "exists"
	case errors.Is(err, fs.ErrNotExist):
		return "not exists"
	}
	return "other"
}

// list returns the content of every file of a tree by its path; directories have "dir".
func list(t *testing.T, fsys fsx.FS, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	walk(t, fsys, root, func(path string, isDir bool) {
		rel := must.Get(filepath.Rel(root, path))(t)
		all[rel] = "dir"
		if !isDir {
			data := must.Get(fsx.ReadFile(fsys, path, 1<<20))(t)
			all[rel] = string(data)
		}
	})
	return all
}

func syncAll(t *testing.T, c *crashfs.FS, root string) {
	t.Helper()
	walk(t, c, root, func(path string, _ bool) {
		f := must.Get(c.OpenFile(path, os.O_RDONLY, 0))(t)
		must.Do(t, errors.Join(f.Sync(), f.Close()))
	})
}

func walk(t *testing.T, fsys fsx.FS, path string, visit func(path string, isDir bool)) {
	t.Helper()
	visit(path, true)
	entries := must.Get(fsys.ReadDir(path))(t)
	for _, e := range entries {
		child := filepath.Join(path, e.Name())
		if e.IsDir() {
			walk(t, fsys, child, visit)
		} else {
			visit(child, false)
		}
	}
}
