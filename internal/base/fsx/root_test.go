package fsx_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root := must.Get(os.OpenRoot(dir))(t)
	t.Cleanup(func() { root.Close() })
	return root
}

func link(t *testing.T, to, at string) {
	t.Helper()
	err := os.Symlink(to, at)
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("on Windows only some users may make links: %v", err)
	}
	must.Do(t, err)
}

// TestInLeadsNowhereElse puts links in the way of a folder that is open.
func TestInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(outside, "x"), []byte("theirs"), 0o600))
	fsys := fsx.In(openRoot(t, dir))
	link(t, outside, filepath.Join(dir, "away"))
	link(t, filepath.Join(outside, "x"), filepath.Join(dir, "file"))
	must.Error(t, "creating a file through a link", fsx.CreateNew(fsys, filepath.Join("away", "y"), 0o600, nil))
	must.Error(t, "reading through a link", must.Err(fsx.ReadFile(fsys, filepath.Join("away", "x"), 10)))
	must.Error(t, "reading a link", must.Err(fsx.ReadFile(fsys, "file", 10)))
	must.Is(t, "replaced a link", fsx.Replace(fsys, "file", 0o600, nil), fsx.ErrNotRegular)
	// Also one that stays inside is not followed at the last element.
	must.Do(t, fsx.CreateNew(fsys, "mine", 0o600, []byte("mine")))
	link(t, "mine", filepath.Join(dir, "inside"))
	must.Is(t, "opened a link", must.Err(fsys.OpenFile("inside", os.O_WRONLY|os.O_TRUNC, 0)), fsx.ErrNotRegular)
	must.Equal(t, "mine", string(must.Get(fsx.ReadFile(fsys, "mine", 10))(t)), "mine")
	must.Equal(t, "outside", len(must.Get(os.ReadDir(outside))(t)), 1)
}

func TestBelow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := openRoot(t, dir)
	must.Is(t, "missing", must.Err(fsx.Below(root, "a")), fs.ErrNotExist)
	for range 2 { // made, and found
		a := must.Get(fsx.MakeBelow(root, "a", 0o700))(t)
		t.Cleanup(func() { a.Close() })
	}
	a := must.Get(fsx.Below(root, "a"))(t)
	t.Cleanup(func() { a.Close() })
	must.Do(t, fsx.CreateNew(fsx.In(a), "x", 0o600, []byte("1")))
	must.Equal(t, "x", string(must.Get(os.ReadFile(filepath.Join(dir, "a", "x")))(t)), "1")
	link(t, "a", filepath.Join(dir, "inside"))
	must.Do(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, name := range []string{"inside", "file"} {
		must.Is(t, name, must.Err(fsx.Below(root, name)), syscall.ENOTDIR)
		must.Is(t, fmt.Sprintf("make %s", name), must.Err(fsx.MakeBelow(root, name, 0o700)), syscall.ENOTDIR)
	}
}
