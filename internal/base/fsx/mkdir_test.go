package fsx_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

const deep = "/a/b/c"

func TestMkdirAllSurvivesCrashAtEveryCall(t *testing.T) {
	t.Parallel()
	c := crashfs.New()
	must.Do(t, fsx.MkdirAll(c, deep, 0o700))
	for n := 1; n <= c.Calls()+1; n++ {
		for seed := range uint64(20) {
			c := crashfs.New()
			c.StopAt(n)
			err := fsx.MkdirAll(c, deep, 0o700)
			after := c.CrashClone(rand.New(rand.NewPCG(seed, 0)))
			if _, lost := after.Lstat(deep); err == nil && lost != nil {
				t.Fatalf("call %d, seed %d: made directory is gone: %v", n, seed, lost)
			}
			if err := fsx.MkdirAll(after, deep, 0o700); err != nil {
				t.Fatalf("call %d, seed %d: again after the crash: %v", n, seed, err)
			}
		}
	}
}

// A process dies while making directories; the next one finds them, writes into them, and then the power goes.
func TestMkdirAllMakesFoundDirectoriesDurable(t *testing.T) {
	t.Parallel()
	c := crashfs.New()
	must.Do(t, fsx.MkdirAll(c, deep, 0o700))
	for n := 1; n <= c.Calls()+1; n++ {
		for seed := range uint64(20) {
			c := crashfs.New()
			c.StopAt(n)
			_ = fsx.MkdirAll(c, deep, 0o700)
			c.StopAt(0)
			must.Do(t, fsx.MkdirAll(c, deep, 0o700))
			must.Do(t, fsx.CreateNew(c, deep+"/file", 0o600, newData))
			after := c.CrashClone(rand.New(rand.NewPCG(seed, 0)))
			if got, err := fsx.ReadFile(after, deep+"/file", 1<<20); err != nil || !bytes.Equal(got, newData) {
				t.Fatalf("call %d, seed %d: written file is lost: %d bytes, %v", n, seed, len(got), err)
			}
		}
	}
}

func TestMkdirAllReportsEveryError(t *testing.T) {
	t.Parallel()
	failEach(t, crashfs.New, func(f fsx.FS) error { return fsx.MkdirAll(f, deep, 0o700) })
}

func TestMkdirAllUnreadableParent(t *testing.T) {
	t.Parallel()
	c := crashfs.New()
	must.Do(t, fsx.MkdirAll(c, "/a/b", 0o700))
	// Not being allowed to sync the parent matters only when a directory is made in it.
	e := errfs.Wrap(c, errfs.Rule{Op: errfs.OpSyncDir, Glob: "a", Err: syscall.EACCES})
	must.NoError(t, fsx.MkdirAll(e, "/a/b", 0o700))
	must.Is(t, "new directory", fsx.MkdirAll(e, "/a/c", 0o700), fs.ErrPermission)
}

// overtaken is a file system on which another process makes every name just before Mkdir does.
type overtaken struct {
	fsx.FS
	first func(name string) error
}

func (o overtaken) Mkdir(name string, perm fs.FileMode) error {
	if err := o.first(name); err != nil {
		return err
	}
	return o.FS.Mkdir(name, perm)
}

func TestMkdirAllLosesTheRace(t *testing.T) {
	t.Parallel()
	c := crashfs.New()
	byDir := overtaken{c, func(name string) error { return c.Mkdir(name, 0o700) }}
	must.NoError(t, fsx.MkdirAll(byDir, deep, 0o700))
	for seed := range uint64(20) {
		must.NoError(t, must.Err(c.CrashClone(rand.New(rand.NewPCG(seed, 0))).Lstat(deep)))
	}
	byFile := overtaken{c, func(name string) error { return fsx.CreateNew(c, name, 0o600, nil) }}
	must.Is(t, "against a file", fsx.MkdirAll(byFile, "/f", 0o700), syscall.ENOTDIR)
}

func TestMkdirAllConcurrently(t *testing.T) {
	t.Parallel()
	c := crashfs.New()
	results := make(chan error, 8)
	for range cap(results) {
		go func() { results <- fsx.MkdirAll(c, deep, 0o700) }()
	}
	for range cap(results) {
		must.NoError(t, <-results)
	}
}
