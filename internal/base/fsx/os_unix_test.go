//go:build unix

package fsx_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSymlinkIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(link string) error
		want error
	}{
		{"open for reading", func(link string) error { return open(link, os.O_RDONLY) }, fsx.ErrNotRegular},
		{"open for writing", func(link string) error { return open(link, os.O_WRONLY|os.O_TRUNC) }, fsx.ErrNotRegular},
		{"open or create", func(link string) error { return open(link, os.O_WRONLY|os.O_CREATE) }, fsx.ErrNotRegular},
		{"read", func(link string) error { return must.Err(fsx.ReadFile(fsx.OS(), link, 100)) }, fsx.ErrNotRegular},
		{"create new", func(link string) error {
			return fsx.CreateNew(fsx.OS(), link, 0o600, []byte("new"))
		}, fs.ErrExist},
		{"stage new", func(link string) error { return stream(fsx.OS(), link, "new") }, fs.ErrExist},
		{"sync file", func(link string) error { return must.Err(fsx.SyncFile(fsx.OS(), link)) }, fsx.ErrNotRegular},
		{"create same", func(link string) error {
			return fsx.CreateSame(fsx.OS(), link, 0o600, []byte("old"))
		}, fsx.ErrNotRegular},
		{"replace", func(link string) error {
			return fsx.Replace(fsx.OS(), link, 0o600, []byte("new"))
		}, fsx.ErrNotRegular},
		{"make directory", func(link string) error { return fsx.MkdirAll(fsx.OS(), link, 0o700) }, syscall.ENOTDIR},
		{"lock shared", func(link string) error {
			return must.Err(fsx.AcquireLock(context.Background(), link, fsx.Shared))
		}, fsx.ErrNotRegular},
		{"lock exclusive", func(link string) error { return must.Err(fsx.TryLock(link, fsx.Exclusive)) }, fsx.ErrNotRegular},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			real, link := filepath.Join(root, "real"), filepath.Join(root, "link")
			must.Do(t, os.WriteFile(real, []byte("old"), 0o600))
			must.Do(t, os.Symlink(real, link))
			must.Is(t, "", tt.do(link), tt.want)
			if got, err := os.ReadFile(real); string(got) != "old" {
				t.Errorf("the linked file holds %q, %v", got, err)
			}
			must.Equal(t, "the link", must.Get(os.Lstat(link))(t).Mode().Type(), fs.ModeSymlink)
		})
	}
}

func open(name string, flag int) error {
	return must.Err(fsx.OS().OpenFile(name, flag, 0o600))
}

func TestDanglingSymlinkIsNotFilled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := filepath.Join(root, "link")
	must.Do(t, os.Symlink(filepath.Join(root, "none"), link))
	must.Is(t, "open", open(link, os.O_WRONLY|os.O_CREATE), fsx.ErrNotRegular)
	must.Is(t, "lock", must.Err(fsx.TryLock(link, fsx.Shared)), fsx.ErrNotRegular)
	must.Is(t, "the target of the link", must.Err(os.Lstat(filepath.Join(root, "none"))), fs.ErrNotExist)
}

func TestMkdirAllThroughASymlinkedParent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := filepath.Join(root, "link")
	must.Do(t, os.Symlink(t.TempDir(), link))
	must.Do(t, fsx.MkdirAll(fsx.OS(), filepath.Join(link, "a", "b"), 0o700))
	must.Equal(t, "mode", must.Get(os.Lstat(filepath.Join(link, "a", "b")))(t).Mode(), fs.ModeDir|0o700)
}

func TestRemoveAllLeavesLinkTargets(t *testing.T) {
	t.Parallel()
	systems := map[string]fsx.FS{
		"os":      fsx.OS(),
		"by path": errfs.Wrap(fsx.OS()), // hides that the real file system removes trees by itself
	}
	for name, fsys := range systems {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, outside := t.TempDir(), t.TempDir()
			kept := filepath.Join(outside, "kept")
			must.Do(t, os.WriteFile(kept, nil, 0o600))
			tree := filepath.Join(root, "tree")
			must.Do(t, os.Mkdir(tree, 0o700))
			for link, to := range map[string]string{"tree/dir": outside, "tree/file": kept, "link": outside} {
				must.Do(t, os.Symlink(to, filepath.Join(root, link)))
			}
			for _, path := range []string{tree, filepath.Join(root, "link")} {
				must.NoError(t, fsx.RemoveAll(fsys, path))
				must.Is(t, path, must.Err(os.Lstat(path)), fs.ErrNotExist)
			}
			must.NoError(t, must.Err(os.Lstat(kept)))
		})
	}
}

func TestFifoDoesNotHang(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	tests := []struct {
		name string
		do   func() error
	}{
		{"read", func() error { return must.Err(fsx.ReadFile(fsx.OS(), fifo, 100)) }},
		{"create same", func() error { return fsx.CreateSame(fsx.OS(), fifo, 0o600, nil) }},
		{"replace", func() error { return fsx.Replace(fsx.OS(), fifo, 0o600, nil) }},
		{"lock", func() error { return must.Err(fsx.TryLock(fifo, fsx.Shared)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			must.Is(t, "", tt.do(), fsx.ErrNotRegular)
		})
	}
	must.Error(t, "opening a fifo without a reader for writing", open(fifo, os.O_WRONLY))
}

func TestCreatedModes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, perm := range []fs.FileMode{0o600, 0o400} {
		path := filepath.Join(root, perm.String())
		must.Do(t, fsx.CreateNew(fsx.OS(), path, perm, []byte("x")))
		// Reading and syncing again needs no write access.
		must.NoError(t, fsx.CreateSame(fsx.OS(), path, perm, []byte("x")))
		must.Equal(t, "mode", must.Get(os.Lstat(path))(t).Mode(), perm)
	}
}
