//go:build unix

package fsx_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/fsx/errfs"
	"github.com/amber-memory/amber/internal/must"
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
		{"read", func(link string) error {
			_, err := fsx.ReadFile(fsx.OS(), link, 100)
			return err
		}, fsx.ErrNotRegular},
		{"create new", func(link string) error {
			return fsx.CreateNew(fsx.OS(), link, 0o600, []byte("new"))
		}, fs.ErrExist},
		{"stage new", func(link string) error { return stream(fsx.OS(), link, "new") }, fs.ErrExist},
		{"sync file", func(link string) error {
			_, err := fsx.SyncFile(fsx.OS(), link)
			return err
		}, fsx.ErrNotRegular},
		{"create same", func(link string) error {
			return fsx.CreateSame(fsx.OS(), link, 0o600, []byte("old"))
		}, fsx.ErrNotRegular},
		{"replace", func(link string) error {
			return fsx.Replace(fsx.OS(), link, 0o600, []byte("new"))
		}, fsx.ErrNotRegular},
		{"make directory", func(link string) error { return fsx.MkdirAll(fsx.OS(), link, 0o700) }, syscall.ENOTDIR},
		{"lock shared", func(link string) error {
			_, err := fsx.AcquireLock(context.Background(), link, fsx.Shared)
			return err
		}, fsx.ErrNotRegular},
		{"lock exclusive", func(link string) error {
			_, err := fsx.TryLock(link, fsx.Exclusive)
			return err
		}, fsx.ErrNotRegular},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			real, link := filepath.Join(root, "real"), filepath.Join(root, "link")
			must.Do(t, os.WriteFile(real, []byte("old"), 0o600))
			must.Do(t, os.Symlink(real, link))
			if err := tt.do(link); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if got, err := os.ReadFile(real); string(got) != "old" {
				t.Errorf("the linked file holds %q, %v", got, err)
			}
			if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
				t.Errorf("the link became %v, %v", info, err)
			}
		})
	}
}

func open(name string, flag int) error {
	_, err := fsx.OS().OpenFile(name, flag, 0o600)
	return err
}

func TestDanglingSymlinkIsNotFilled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := filepath.Join(root, "link")
	must.Do(t, os.Symlink(filepath.Join(root, "none"), link))
	if err := open(link, os.O_WRONLY|os.O_CREATE); !errors.Is(err, fsx.ErrNotRegular) {
		t.Errorf("open: got %v, want ErrNotRegular", err)
	}
	if _, err := fsx.TryLock(link, fsx.Shared); !errors.Is(err, fsx.ErrNotRegular) {
		t.Errorf("lock: got %v, want ErrNotRegular", err)
	}
	if _, err := os.Lstat(filepath.Join(root, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target of the link was made: %v", err)
	}
}

func TestMkdirAllThroughASymlinkedParent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := filepath.Join(root, "link")
	must.Do(t, os.Symlink(t.TempDir(), link))
	must.Do(t, fsx.MkdirAll(fsx.OS(), filepath.Join(link, "a", "b"), 0o700))
	if info, err := os.Lstat(filepath.Join(link, "a", "b")); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("got %v, %v; want a directory with mode 0700", info, err)
	}
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
				if err := fsx.RemoveAll(fsys, path); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is still there: %v", path, err)
				}
			}
			if _, err := os.Lstat(kept); err != nil {
				t.Errorf("a file behind a link was removed: %v", err)
			}
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
		{"read", func() error {
			_, err := fsx.ReadFile(fsx.OS(), fifo, 100)
			return err
		}},
		{"create same", func() error { return fsx.CreateSame(fsx.OS(), fifo, 0o600, nil) }},
		{"replace", func() error { return fsx.Replace(fsx.OS(), fifo, 0o600, nil) }},
		{"lock", func() error {
			_, err := fsx.TryLock(fifo, fsx.Shared)
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := tt.do(); !errors.Is(err, fsx.ErrNotRegular) {
				t.Errorf("got %v, want ErrNotRegular", err)
			}
		})
	}
	if err := open(fifo, os.O_WRONLY); err == nil {
		t.Error("a fifo without a reader was opened for writing")
	}
}

func TestCreatedModes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, perm := range []fs.FileMode{0o600, 0o400} {
		path := filepath.Join(root, perm.String())
		must.Do(t, fsx.CreateNew(fsx.OS(), path, perm, []byte("x")))
		// Reading and syncing again needs no write access.
		if err := fsx.CreateSame(fsx.OS(), path, perm, []byte("x")); err != nil {
			t.Error(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != perm {
			t.Errorf("got %v, %v; want %v", info.Mode(), err, perm)
		}
	}
}
