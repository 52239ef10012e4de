package fsx_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// grove returns a file system with the durable files /a/b/one, /a/two and /keep.
func grove(t *testing.T) *crashfs.FS {
	t.Helper()
	c := crashfs.New()
	must.Do(t, fsx.MkdirAll(c, "/a/b", 0o700))
	for _, name := range []string{"/a/b/one", "/a/two", "/keep"} {
		must.Do(t, fsx.CreateNew(c, name, 0o600, newData))
	}
	return c
}

func TestRemoveAllIsDurable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		c := grove(t)
		must.Do(t, fsx.RemoveAll(c, "/a"))
		after := c.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		if _, err := after.Lstat("/a"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("seed %d: the tree is back: %v", seed, err)
		}
		if _, err := after.Lstat("/keep"); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// A process dies after the removal and before the sync; the next one finds nothing to remove.
func TestRemoveAllOfAMissingPathIsDurable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		c := grove(t)
		must.Do(t, c.Remove("/keep"))
		must.Do(t, fsx.RemoveAll(c, "/keep"))
		after := c.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		if _, err := after.Lstat("/keep"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("seed %d: the file is back: %v", seed, err)
		}
	}
}

func TestRemoveAllReportsEveryError(t *testing.T) {
	t.Parallel()
	failEach(t, func() *crashfs.FS { return grove(t) }, func(f fsx.FS) error { return fsx.RemoveAll(f, "/a") })
}

func TestSweepTempGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	c := crashfs.New()
	for _, suffix := range []string{"A", "B", "C"} {
		must.Do(t, fsx.CreateNew(c, "/"+fsx.TempPrefix+suffix, 0o600, nil))
	}
	e := errfs.Wrap(c, errfs.Rule{Op: errfs.OpRemove, Glob: "*B", Err: syscall.EIO})
	got, err := fsx.SweepTemp(e, "/")
	must.Hold(t, errors.Is(err, syscall.EIO), "got %v, want EIO", err)
	must.Equal(t, "removed", got, []string{fsx.TempPrefix + "A", fsx.TempPrefix + "C"})
}
