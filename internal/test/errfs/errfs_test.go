package errfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// session makes one call of every kind and returns the kinds of the calls that failed. It goes on after an
// error, except that without an open file there is nothing to do with it.
func session(fsys fsx.FS) (failed []errfs.Op) {
	note := func(op errfs.Op, err error) bool {
		if err != nil {
			failed = append(failed, op)
		}
		return err == nil
	}
	note(errfs.OpMkdir, fsys.Mkdir("d", 0o700))
	if f, err := fsys.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600); note(errfs.OpCreate, err) {
		note(errfs.OpWrite, must.Err(f.Write([]byte("hello"))))
		note(errfs.OpRead, must.Err(f.ReadAt(make([]byte, 1), 0)))
		note(errfs.OpTruncate, f.Truncate(4))
		note(errfs.OpSync, f.Sync())
		note(errfs.OpStat, must.Err(f.Stat()))
		note(errfs.OpClose, f.Close())
	}
	if f, err := fsys.OpenFile("f", os.O_RDONLY, 0); note(errfs.OpOpen, err) {
		note(errfs.OpRead, must.Err(f.Read(make([]byte, 1))))
		note(errfs.OpClose, f.Close())
	}
	if f, err := fsys.OpenFile("f", os.O_WRONLY|os.O_TRUNC, 0); note(errfs.OpTruncate, err) {
		note(errfs.OpClose, f.Close())
	}
	note(errfs.OpLink, fsys.Link("f", "g"))
	note(errfs.OpRename, fsys.Rename("g", "h"))
	note(errfs.OpRemove, fsys.Remove("f"))
	note(errfs.OpLstat, must.Err(fsys.Lstat("h")))
	note(errfs.OpReadDir, must.Err(fsys.ReadDir("/")))
	note(errfs.OpSyncDir, fsys.SyncDir("/"))
	note(errfs.OpSyncAll, fsys.SyncAll("/"))
	return failed
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		rule errfs.Rule
		want []errfs.Op
	}{
		{"first call", errfs.Rule{Nth: 1}, []errfs.Op{errfs.OpMkdir}},
		{"third call", errfs.Rule{Nth: 3}, []errfs.Op{errfs.OpWrite}},
		{"beyond the last call", errfs.Rule{Nth: 100}, nil},
		{"all of a kind", errfs.Rule{Op: errfs.OpRead}, []errfs.Op{errfs.OpRead, errfs.OpRead}},
		{"second of a kind", errfs.Rule{Op: errfs.OpTruncate, Nth: 2}, []errfs.Op{errfs.OpTruncate}},
		{"by old name", errfs.Rule{Op: errfs.OpLink, Glob: "f"}, []errfs.Op{errfs.OpLink}},
		{"by new name", errfs.Rule{Op: errfs.OpRename, Glob: "[h]"}, []errfs.Op{errfs.OpRename}},
		{"by another name", errfs.Rule{Op: errfs.OpRename, Glob: "f"}, nil},
		{"name and number", errfs.Rule{Glob: "f", Nth: 2}, []errfs.Op{errfs.OpWrite}},
	}
	for _, op := range []errfs.Op{
		errfs.OpMkdir, errfs.OpWrite, errfs.OpSync, errfs.OpSyncDir, errfs.OpSyncAll, errfs.OpRemove, errfs.OpOpen,
		errfs.OpStat, errfs.OpLstat, errfs.OpReadDir,
	} {
		tests = append(tests, struct {
			name string
			rule errfs.Rule
			want []errfs.Op
		}{string(op), errfs.Rule{Op: op}, []errfs.Op{op}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.rule.Err = syscall.EIO
			e := errfs.Wrap(crashfs.New(), tt.rule)
			// A link that was not made cannot be renamed; only the injected failures are looked at there.
			failed := session(e)
			must.Hold(t, len(failed) == 0 || len(e.Injected()) != 0, "%q failed without an injection", failed)
			must.Equal(t, "injected", e.Injected(), tt.want)
		})
	}
}

func TestInjectedCallDoesNotReachTheBase(t *testing.T) {
	t.Parallel()
	base := crashfs.New()
	e := errfs.Wrap(base, errfs.Rule{Op: errfs.OpMkdir, Err: syscall.ENOSPC})
	err := e.Mkdir("d", 0o700)
	must.Is(t, "", err, syscall.ENOSPC)
	if perr := (*fs.PathError)(nil); !errors.As(err, &perr) || perr.Path != "d" {
		t.Errorf("got %v, want an error that names the path", err)
	}
	must.Equal(t, "calls that reached the base", base.Calls(), 0)
}

func TestFirstDueRuleWins(t *testing.T) {
	t.Parallel()
	e := errfs.Wrap(crashfs.New(),
		errfs.Rule{Op: errfs.OpMkdir, Nth: 2, Err: syscall.EIO},
		errfs.Rule{Glob: "d*", Err: syscall.ENOSPC})
	for i, want := range []error{syscall.ENOSPC, syscall.EIO, syscall.ENOSPC} {
		must.Is(t, fmt.Sprintf("call %d", i+1), e.Mkdir("d", 0o700), want)
	}
}

func TestShortWrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		written int
		want    string
	}{{0, ""}, {3, "abc"}, {100, "abcdef"}} {
		base := crashfs.New()
		e := errfs.Wrap(base, errfs.Rule{Op: errfs.OpWrite, Nth: 1, Err: syscall.ENOSPC, Written: tt.written})
		f := must.Get(e.OpenFile("f", os.O_WRONLY|os.O_CREATE, 0o600))(t)
		n, err := f.Write([]byte("abcdef"))
		must.Hold(t, n == len(tt.want) && errors.Is(err, syscall.ENOSPC), "written %d: got %d, %v", tt.written, n, err)
		must.Equal(t, fmt.Sprintf("written %d: the file", tt.written), string(must.Get(fsx.ReadFile(base, "f", 10))(t)), tt.want)
	}
}

func TestFailedCloseCloses(t *testing.T) {
	t.Parallel()
	e := errfs.Wrap(crashfs.New(), errfs.Rule{Op: errfs.OpClose, Nth: 1, Err: syscall.EIO})
	f := must.Get(e.OpenFile("f", os.O_WRONLY|os.O_CREATE, 0o600))(t)
	must.Is(t, "", f.Close(), syscall.EIO)
	must.Is(t, "", f.Close(), fs.ErrClosed)
}

// As on Linux: after a failed sync the next one succeeds and persists nothing.
func TestFailedSyncSpoilsTheFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		sync func(e fsx.FS, f fsx.File) error
		lost bool
	}{
		{"same handle", func(_ fsx.FS, f fsx.File) error { return f.Sync() }, true},
		{"another handle", func(e fsx.FS, _ fsx.File) error { return syncByName(e, "f") }, true},
		{"same handle, renamed", func(e fsx.FS, f fsx.File) error {
			return errors.Join(e.Rename("f", "g"), f.Sync(), e.Rename("g", "f"), e.SyncDir("/"))
		}, true},
		{"another handle, renamed", func(e fsx.FS, _ fsx.File) error {
			return errors.Join(e.Rename("f", "g"), syncByName(e, "g"), e.Rename("g", "f"), e.SyncDir("/"))
		}, true},
		{"another handle, linked", func(e fsx.FS, _ fsx.File) error {
			return errors.Join(e.Link("f", "g"), syncByName(e, "g"))
		}, true},
		{"new file of the same name", func(e fsx.FS, _ fsx.File) error {
			return errors.Join(e.Remove("f"), fsx.CreateNew(e, "f", 0o600, []byte("data")))
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := crashfs.New()
			e := errfs.Wrap(base, errfs.Rule{Op: errfs.OpSync, Nth: 1, Err: syscall.EIO})
			f := must.Get(e.OpenFile("f", os.O_WRONLY|os.O_CREATE, 0o600))(t)
			must.Get(f.Write([]byte("data")))(t)
			must.Do(t, e.SyncDir("/"))
			must.Is(t, "first sync", f.Sync(), syscall.EIO)
			must.Do(t, tt.sync(e, f))
			lost := false
			for seed := range uint64(50) {
				after := base.CrashClone(rand.New(rand.NewPCG(seed, 0)))
				got, err := fsx.ReadFile(after, "f", 10)
				lost = lost || err != nil || string(got) != "data"
			}
			must.Equal(t, "data can be lost", lost, tt.lost)
		})
	}
}

func syncByName(e fsx.FS, name string) error {
	f, err := e.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// TestFailedSyncAllSpoilsTheTree checks that nothing below the directory becomes durable any more, whatever later
// calls answer.
func TestFailedSyncAllSpoilsTheTree(t *testing.T) {
	t.Parallel()
	disk := crashfs.New()
	fsys := errfs.Wrap(disk, errfs.Rule{Op: errfs.OpSyncAll, Nth: 1, Err: syscall.EIO})
	must.Do(t, fsx.MkdirAll(fsys, "/d/e", 0o700))
	f := must.Get(fsx.Build(fsys, "/d/e/a", 0o600))(t)
	must.Get(f.WriteAt([]byte("one"), 0))(t)
	must.Is(t, "", fsys.SyncAll("/d"), syscall.EIO)
	for what, err := range map[string]error{"sync": f.Sync(), "sync all": fsys.SyncAll("/d"), "sync all below": fsys.SyncAll("/d/e"), "close": f.Close()} {
		must.Hold(t, err == nil, "%s: %v", what, err)
	}
	lost := false
	for seed := range uint64(50) {
		after := disk.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		got, err := fsx.ReadFile(after, "/d/e/a", 10)
		lost = lost || err != nil || string(got) != "one"
	}
	must.Hold(t, lost, "a sync after the failed one made the file durable")
}

func TestTrace(t *testing.T) {
	t.Parallel()
	var got []string
	session(errfs.Trace(crashfs.New(), func(line string) { got = append(got, line) }))
	want := []string{
		"mkdir d",
		"create f",
		"write f 5",
		"truncate f 4",
		"sync f",
		"truncate f 0",
		"link f -> g",
		"rename g -> h",
		"remove f",
		"syncdir /",
		"syncall /",
	}
	must.Equal(t, "", got, want)
}

func TestTraceRel(t *testing.T) {
	t.Parallel()
	base := crashfs.New()
	must.Do(t, fsx.MkdirAll(base, "/home/d", 0o700))
	var got []string
	e := errfs.TraceRel(base, "/home", func(line string) { got = append(got, line) })
	must.Do(t, fsx.Replace(e, "/home/d/f", 0o600, []byte("hello")))
	must.Do(t, fsx.MkdirAll(e, "/home", 0o700))
	_ = e.Remove("/home/none")
	want := []string{
		"create d/.amber-tmp-X",
		"write d/.amber-tmp-X 5",
		"sync d/.amber-tmp-X",
		"rename d/.amber-tmp-X -> d/f",
		"syncdir d",
		"syncdir ..",
		"remove none (failed)",
	}
	must.Equal(t, "", got, want)
}
