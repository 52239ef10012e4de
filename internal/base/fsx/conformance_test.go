package fsx_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestConformance holds the doubles to what the operating system does.
func TestConformance(t *testing.T) {
	t.Parallel()
	systems := []struct {
		name string
		open func(t *testing.T) (fsx.FS, string)
	}{
		{"os", func(t *testing.T) (fsx.FS, string) { return fsx.OS(), t.TempDir() }},
		{"in an open folder", func(t *testing.T) (fsx.FS, string) { return fsx.In(openRoot(t, t.TempDir())), "." }},
		{"crashfs", func(t *testing.T) (fsx.FS, string) { return home(t, nil), dir }},
		{"errfs on os", func(t *testing.T) (fsx.FS, string) { return errfs.Wrap(fsx.OS()), t.TempDir() }},
		{"trace on crashfs", func(t *testing.T) (fsx.FS, string) {
			return errfs.Trace(home(t, nil), func(string) {}), dir
		}},
	}
	for _, sys := range systems {
		t.Run(sys.name, func(t *testing.T) {
			t.Parallel()
			for _, tt := range conformance {
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					fsys, root := sys.open(t)
					tt.run(t, tree{t, fsys, root})
				})
			}
		})
	}
}

var conformance = []struct {
	name string
	run  func(*testing.T, tree)
}{
	{"create new", func(t *testing.T, tr tree) {
		tr.want(fsx.CreateNew(tr.fs, tr.path("a"), 0o600, []byte("one")), nil)
		tr.wantContent("a", "one")
		tr.want(fsx.CreateNew(tr.fs, tr.path("a"), 0o600, []byte("two")), fs.ErrExist)
		tr.wantContent("a", "one")
		tr.wantNames("a")
	}},
	{"create new, no directory", func(t *testing.T, tr tree) {
		tr.want(fsx.CreateNew(tr.fs, tr.path("d/a"), 0o600, nil), fs.ErrNotExist)
	}},
	{"create new, directory in the way", func(t *testing.T, tr tree) {
		tr.mkdir("a")
		tr.want(fsx.CreateNew(tr.fs, tr.path("a"), 0o600, nil), fs.ErrExist)
		tr.wantNames("a")
	}},
	{"stage new", func(t *testing.T, tr tree) {
		tr.want(stream(tr.fs, tr.path("a"), "one ", "", "two"), nil)
		tr.wantContent("a", "one two")
		tr.want(stream(tr.fs, tr.path("a"), "three"), fs.ErrExist)
		tr.wantContent("a", "one two")
		tr.want(stream(tr.fs, tr.path("empty")), nil)
		tr.wantContent("empty", "")
		tr.want(stream(tr.fs, tr.path("d/a"), "one"), fs.ErrNotExist)
		tr.mkdir("d")
		tr.want(stream(tr.fs, tr.path("d"), "one"), fs.ErrExist)
		tr.wantNames("a", "d", "empty")
	}},
	{"stage new, not seen before the commit", func(t *testing.T, tr tree) {
		s, err := fsx.StageNew(tr.fs, tr.path("a"), 0o600)
		tr.want(err, nil)
		tr.want(must.Err(s.Write([]byte("one"))), nil)
		tr.want(must.Err(tr.fs.Lstat(tr.path("a"))), fs.ErrNotExist)
		tr.want(s.Commit(), nil)
		tr.wantContent("a", "one")
		tr.wantNames("a")
	}},
	{"sync file", func(t *testing.T, tr tree) {
		tr.create("a", "one")
		tr.mkdir("d")
		size, err := fsx.SyncFile(tr.fs, tr.path("a"))
		tr.want(err, nil)
		must.Equal(t, "size", size, 3)
		tr.want(must.Err(fsx.SyncFile(tr.fs, tr.path("none"))), fs.ErrNotExist)
		_, err = fsx.SyncFile(tr.fs, tr.path("d"))
		must.Hold(t, err != nil, "a directory was synced as a file")
	}},
	{"create same", func(t *testing.T, tr tree) {
		tr.want(fsx.CreateSame(tr.fs, tr.path("a"), 0o600, []byte("one")), nil)
		tr.want(fsx.CreateSame(tr.fs, tr.path("a"), 0o600, []byte("one")), nil)
		for _, other := range []string{"", "on", "two", "one more"} {
			tr.want(fsx.CreateSame(tr.fs, tr.path("a"), 0o600, []byte(other)), fsx.ErrDiffers)
		}
		tr.wantContent("a", "one")
		tr.wantNames("a")
	}},
	{"create same, empty", func(t *testing.T, tr tree) {
		tr.want(fsx.CreateSame(tr.fs, tr.path("a"), 0o600, nil), nil)
		tr.want(fsx.CreateSame(tr.fs, tr.path("a"), 0o600, nil), nil)
		tr.wantContent("a", "")
	}},
	{"replace", func(t *testing.T, tr tree) {
		tr.want(fsx.Replace(tr.fs, tr.path("a"), 0o600, []byte("one")), nil)
		tr.want(fsx.Replace(tr.fs, tr.path("a"), 0o600, []byte("two")), nil)
		tr.wantContent("a", "two")
		tr.wantNames("a")
	}},
	{"replace, directory in the way", func(t *testing.T, tr tree) {
		tr.mkdir("a")
		tr.want(fsx.Replace(tr.fs, tr.path("a"), 0o600, nil), fsx.ErrNotRegular)
		tr.wantNames("a")
	}},
	{"read, bounded", func(t *testing.T, tr tree) {
		tr.create("a", "12345")
		for _, max := range []int64{5, 6, 1 << 62} {
			must.Equal(t, fmt.Sprintf("max %d", max), string(must.Get(fsx.ReadFile(tr.fs, tr.path("a"), max))(t)), "12345")
		}
		for _, max := range []int64{4, 0, -1} {
			tr.want(must.Err(fsx.ReadFile(tr.fs, tr.path("a"), max)), fsx.ErrTooLarge)
		}
		tr.want(must.Err(fsx.ReadFile(tr.fs, tr.path("b"), 5)), fs.ErrNotExist)
		tr.want(must.Err(fsx.ReadFile(tr.fs, tr.root, 5)), fsx.ErrNotRegular)
	}},
	{"make directories", func(t *testing.T, tr tree) {
		tr.want(fsx.MkdirAll(tr.fs, tr.path("x/y/z"), 0o700), nil)
		tr.want(fsx.MkdirAll(tr.fs, tr.path("x/y/z"), 0o700), nil)
		tr.create("x/y/z/a", "one")
		tr.want(fsx.MkdirAll(tr.fs, tr.path("x/y/z/a"), 0o700), syscall.ENOTDIR)
		tr.want(fsx.MkdirAll(tr.fs, tr.path("x/y/z/a/b"), 0o700), syscall.ENOTDIR)
		tr.want(tr.fs.Mkdir(tr.path("x"), 0o700), fs.ErrExist)
		tr.want(tr.fs.Mkdir(tr.path("q/r"), 0o700), fs.ErrNotExist)
		info, err := tr.fs.Lstat(tr.path("x/y"))
		must.Hold(t, err == nil && info.IsDir() && info.Name() == "y", "got %v, %v; want the directory y", info, err)
	}},
	{"remove all", func(t *testing.T, tr tree) {
		tr.want(fsx.MkdirAll(tr.fs, tr.path("x/y/z"), 0o700), nil)
		tr.create("x/a", "one")
		tr.create("x/y/b", "two")
		tr.create("keep", "three")
		tr.want(fsx.RemoveAll(tr.fs, tr.path("x")), nil)
		tr.wantNames("keep")
		tr.want(fsx.RemoveAll(tr.fs, tr.path("x")), nil)
		tr.want(fsx.RemoveAll(tr.fs, tr.path("no/such/place")), nil)
		tr.want(fsx.RemoveAll(tr.fs, tr.path("keep")), nil)
		tr.wantNames()
	}},
	{"sweep", func(t *testing.T, tr tree) {
		tr.create(fsx.TempPrefix+"B", "")
		tr.create(fsx.TempPrefix+"A", "half")
		tr.create("a", "one")
		tr.mkdir(fsx.TempPrefix + "dir")
		got, err := fsx.SweepTemp(tr.fs, tr.root)
		tr.want(err, nil)
		must.Equal(t, "removed", got, []string{fsx.TempPrefix + "A", fsx.TempPrefix + "B"})
		tr.wantNames(fsx.TempPrefix+"dir", "a")
		tr.want(must.Err(fsx.SweepTemp(tr.fs, tr.path("none"))), fs.ErrNotExist)
	}},
	{"open", func(t *testing.T, tr tree) {
		tr.want(must.Err(tr.fs.OpenFile(tr.path("a"), os.O_RDONLY, 0)), fs.ErrNotExist)
		tr.want(must.Err(tr.fs.OpenFile(tr.path("d/a"), os.O_WRONLY|os.O_CREATE, 0o600)), fs.ErrNotExist)
		tr.create("a", "one")
		tr.want(must.Err(tr.fs.OpenFile(tr.path("a"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)), fs.ErrExist)
		f := tr.open("a", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		tr.want(f.Close(), nil)
		tr.wantContent("a", "")
		tr.want(f.Close(), fs.ErrClosed)
	}},
	{"write, append, truncate", func(t *testing.T, tr tree) {
		f := tr.open("a", os.O_RDWR|os.O_CREATE)
		tr.write(f, "hello world")
		tr.want(f.Truncate(5), nil)
		tr.write(f, "!") // at the old offset: a gap of zeros
		tr.wantContent("a", "hello\x00\x00\x00\x00\x00\x00!")
		tr.want(f.Truncate(14), nil)
		tr.wantContent("a", "hello\x00\x00\x00\x00\x00\x00!\x00\x00")
		tr.want(f.Sync(), nil)
		tr.want(f.Close(), nil)
		g := tr.open("a", os.O_WRONLY|os.O_TRUNC)
		tr.want(g.Close(), nil)
		for _, s := range []string{"one ", "two"} {
			h := tr.open("a", os.O_WRONLY|os.O_APPEND)
			tr.write(h, s)
			tr.want(h.Close(), nil)
		}
		tr.wantContent("a", "one two")
	}},
	{"write at", func(t *testing.T, tr tree) {
		f := tr.open("a", os.O_RDWR|os.O_CREATE)
		writeAt := func(s string, off int64) error { return must.Err(f.WriteAt([]byte(s), off)) }
		tr.want(writeAt("world", 6), nil)
		tr.want(writeAt("hello", 0), nil)
		tr.wantContent("a", "hello\x00world")
		tr.write(f, "J") // the offset did not move
		tr.wantContent("a", "Jello\x00world")
		must.Error(t, "a negative offset", writeAt("x", -1))
		tr.want(f.Close(), nil)
		tr.want(writeAt("x", 0), fs.ErrClosed)
		g := tr.open("a", os.O_WRONLY|os.O_APPEND)
		defer g.Close()
		must.Error(t, "writing at an offset to a file opened to append", must.Err(g.WriteAt([]byte("x"), 0)))
		tr.wantContent("a", "Jello\x00world")
	}},
	{"build", func(t *testing.T, tr tree) {
		f, err := fsx.Build(tr.fs, tr.path("a"), 0o600)
		tr.want(err, nil)
		tr.write(f, "one")
		buf := make([]byte, 3)
		if n, err := f.ReadAt(buf, 0); n != 3 || err != nil || string(buf) != "one" {
			t.Errorf("read back %q, %v", buf[:n], err)
		}
		tr.want(f.Close(), nil)
		tr.want(must.Err(fsx.Build(tr.fs, tr.path("a"), 0o600)), fs.ErrExist)
		tr.wantContent("a", "one")
		_, err = fsx.Build(tr.fs, tr.path("d/a"), 0o600)
		tr.want(err, fs.ErrNotExist)
	}},
	{"sync all", func(t *testing.T, tr tree) {
		tr.mkdir("d")
		tr.mkdir("d/e")
		tr.create("d/a", "one")
		tr.create("d/e/b", "two")
		tr.want(tr.fs.SyncAll(tr.path("d")), nil)
		tr.want(tr.fs.SyncAll(tr.path("d/e")), nil)
		tr.wantContent("d/e/b", "two")
		tr.want(tr.fs.SyncAll(tr.path("none")), fs.ErrNotExist)
		must.Error(t, "syncing a file as a directory", tr.fs.SyncAll(tr.path("d/a")))
	}},
	{"read at", func(t *testing.T, tr tree) {
		tr.create("a", "0123456789")
		f := tr.open("a", os.O_RDONLY)
		defer f.Close()
		for _, tt := range []struct {
			off  int64
			want string
			err  error
		}{{0, "0123", nil}, {6, "6789", nil}, {8, "89", io.EOF}, {10, "", io.EOF}} {
			buf := make([]byte, 4)
			n, err := f.ReadAt(buf, tt.off)
			if string(buf[:n]) != tt.want || err != tt.err {
				t.Errorf("at %d: got %q, %v; want %q, %v", tt.off, buf[:n], err, tt.want, tt.err)
			}
		}
		must.Equal(t, "content", string(must.Get(io.ReadAll(f))(t)), "0123456789")
		must.Error(t, "writing to a file opened for reading", must.Err(f.Write([]byte("x"))))
		if info, err := f.Stat(); err != nil || info.Size() != 10 || info.Name() != "a" {
			t.Errorf("stat: got %v, %v", info, err)
		}
		must.Equal(t, "name", f.Name(), tr.path("a"))
	}},
	{"link", func(t *testing.T, tr tree) {
		tr.create("a", "one")
		tr.want(tr.fs.Link(tr.path("a"), tr.path("b")), nil)
		tr.want(tr.fs.Link(tr.path("a"), tr.path("b")), fs.ErrExist)
		tr.want(tr.fs.Link(tr.path("none"), tr.path("c")), fs.ErrNotExist)
		tr.want(tr.fs.Remove(tr.path("a")), nil)
		tr.wantContent("b", "one")
	}},
	{"rename", func(t *testing.T, tr tree) {
		tr.create("a", "one")
		tr.create("b", "two")
		tr.mkdir("d")
		tr.want(tr.fs.Rename(tr.path("a"), tr.path("b")), nil)
		tr.wantContent("b", "one")
		tr.want(tr.fs.Rename(tr.path("b"), tr.path("d/b")), nil)
		tr.wantContent("d/b", "one")
		tr.want(tr.fs.Rename(tr.path("d"), tr.path("e")), nil)
		tr.wantContent("e/b", "one")
		tr.want(tr.fs.Rename(tr.path("none"), tr.path("c")), fs.ErrNotExist)
		tr.create("a", "")
		must.Error(t, "replacing a directory with a file", tr.fs.Rename(tr.path("a"), tr.path("e")))
		must.Error(t, "moving a directory below itself", tr.fs.Rename(tr.path("e"), tr.path("e/f")))
		tr.wantNames("a", "e")
	}},
	{"remove", func(t *testing.T, tr tree) {
		tr.mkdir("d")
		tr.create("d/a", "")
		must.Error(t, "removing a full directory", tr.fs.Remove(tr.path("d")))
		tr.want(tr.fs.Remove(tr.path("d/a")), nil)
		tr.want(tr.fs.Remove(tr.path("d")), nil)
		tr.want(tr.fs.Remove(tr.path("d")), fs.ErrNotExist)
	}},
	{"read directory, sync directory", func(t *testing.T, tr tree) {
		tr.create("b", "")
		tr.mkdir("a")
		tr.wantNames("a", "b")
		tr.want(tr.fs.SyncDir(tr.path("a")), nil)
		tr.want(tr.fs.SyncDir(tr.path("none")), fs.ErrNotExist)
		must.Error(t, "syncing a file as a directory", tr.fs.SyncDir(tr.path("b")))
		must.Error(t, "reading a file as a directory", must.Err(tr.fs.ReadDir(tr.path("b"))))
		tr.want(must.Err(tr.fs.Lstat(tr.path("none"))), fs.ErrNotExist)
		tr.want(must.Err(tr.fs.ReadDir(tr.path("none"))), fs.ErrNotExist)
	}},
}

// tree is a directory on some file system, with checks.
type tree struct {
	t    *testing.T
	fs   fsx.FS
	root string
}

func (tr tree) path(name string) string { return filepath.Join(tr.root, filepath.FromSlash(name)) }

func (tr tree) want(err, want error) {
	tr.t.Helper()
	if !errors.Is(err, want) {
		tr.t.Fatalf("got error %v, want %v", err, want)
	}
}

func (tr tree) mkdir(name string) {
	tr.t.Helper()
	tr.want(tr.fs.Mkdir(tr.path(name), 0o700), nil)
}

func (tr tree) open(name string, flag int) fsx.File {
	tr.t.Helper()
	f, err := tr.fs.OpenFile(tr.path(name), flag, 0o600)
	tr.want(err, nil)
	return f
}

func (tr tree) write(f fsx.File, s string) {
	tr.t.Helper()
	n, err := f.Write([]byte(s))
	if n != len(s) || err != nil {
		tr.t.Fatalf("write: got %d, %v; want %d", n, err, len(s))
	}
}

func (tr tree) create(name, content string) {
	tr.t.Helper()
	f := tr.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	tr.write(f, content)
	tr.want(f.Close(), nil)
}

func (tr tree) wantContent(name, want string) {
	tr.t.Helper()
	got, err := fsx.ReadFile(tr.fs, tr.path(name), 1<<20)
	tr.want(err, nil)
	must.Equal(tr.t, name, string(got), want)
}

func (tr tree) wantNames(want ...string) {
	tr.t.Helper()
	entries, err := tr.fs.ReadDir(tr.root)
	tr.want(err, nil)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	must.Equal(tr.t, "names", got, want)
}
