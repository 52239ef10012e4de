package dir_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// seeds is how many ways a power cut can go are tried after each call.
const seeds = 12

// change is one thing that is done to a target, from one state.
type change struct {
	name   string
	before func(t *testing.T, disk fsx.FS, root string)
	do     func(ctx context.Context, d *dir.Dir) error
	look   func(t *testing.T, d *dir.Dir) []byte
	// The result of look before and after.
	old, new []byte
}

func putObject(ctx context.Context, d *dir.Dir) error {
	return must.Err(d.Put(ctx, "packs/3f/a", int64(len(object)), bytes.NewReader(object)))
}

func lookObject(t *testing.T, d *dir.Dir) []byte { return get(t, d, "packs/3f/a") }

var changes = []change{
	{"put", nothing, putObject, lookObject, nil, object},
	{"put, folder made by a killed writer", func(t *testing.T, disk fsx.FS, root string) {
		must.Do(t, errors.Join(disk.Mkdir(root+"/packs", 0o700), disk.Mkdir(root+"/packs/3f", 0o700)))
	}, putObject, lookObject, nil, object},
	{"put, outer folder made by a killed writer", func(t *testing.T, disk fsx.FS, root string) {
		must.Do(t, disk.Mkdir(root+"/packs", 0o700))
	}, putObject, lookObject, nil, object},
	{"put without a folder", nothing, func(ctx context.Context, d *dir.Dir) error {
		return must.Err(d.Put(ctx, "a", int64(len(object)), bytes.NewReader(object)))
	}, func(t *testing.T, d *dir.Dir) []byte { return get(t, d, "a") }, nil, object},
	{"put, there already", func(t *testing.T, disk fsx.FS, root string) {
		put(t, open(t, root, disk), "packs/3f/a", object)
	}, putObject, lookObject, object, object},
	{"delete", func(t *testing.T, disk fsx.FS, root string) {
		put(t, open(t, root, disk), "packs/3f/a", object)
	}, func(ctx context.Context, d *dir.Dir) error { return d.Delete(ctx, "packs/3f/a") }, lookObject, object, nil},
	{"delete, removed by a killed writer", func(t *testing.T, disk fsx.FS, root string) {
		put(t, open(t, root, disk), "packs/3f/a", object)
		must.Do(t, disk.Remove(root+"/packs/3f/a"))
	}, func(ctx context.Context, d *dir.Dir) error { return d.Delete(ctx, "packs/3f/a") }, lookObject, object, nil},
}

func nothing(*testing.T, fsx.FS, string) {}

func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// TestChangesSurviveAPowerCut cuts the power at every call. A change that was acknowledged is
// there; otherwise the old state or the new one is there, whole, and the change can be made again.
func TestChangesSurviveAPowerCut(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for n := 1; ; n++ {
				disk := simulated(t, root)
				c.before(t, disk, root)
				d := open(t, root, disk)
				cut := disk.Calls() + n
				disk.StopAt(cut)
				err := c.do(t.Context(), d)
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
					t.Fatalf("cut at call %d: %v", n, err)
				}
				for seed := range uint64(seeds) {
					checkAfterCut(t, c, root, disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n)))), err == nil)
					if t.Failed() {
						t.Fatalf("cut at call %d, seed %d", n, seed)
					}
				}
				if disk.Calls() < cut {
					t.Logf("%d calls", n-1)
					return
				}
			}
		})
	}
}

func checkAfterCut(t *testing.T, c change, root string, disk *crashfs.FS, acked bool) {
	t.Helper()
	d := open(t, root, disk)
	got := c.look(t, d)
	if !same(got, c.new) && (acked || !same(got, c.old)) {
		t.Errorf("acknowledged: %v; there are %d bytes", acked, len(got))
	}
	must.Do(t, c.do(t.Context(), d))
	if got := c.look(t, d); !same(got, c.new) {
		t.Errorf("after it was done again there are %d bytes", len(got))
	}
	must.Kind(t, "sweep", must.Err(d.Sweep(t.Context(), amber.UnixMilli(1<<50))), "")
	must.Equal(t, "temporary files after the sweep", temps(t, disk, root), nil)
}

// TestChangesReportEveryError fails every call once. Nothing is acknowledged then, and the state is the old
// one or the new one.
func TestChangesReportEveryError(t *testing.T) {
	t.Parallel()
	faults := []struct {
		err  error
		want amber.Kind
	}{
		{syscall.EIO, amber.KindInternal},
		{syscall.ENOSPC, amber.KindInternal},
		{syscall.EACCES, amber.KindRefused},
		{syscall.EROFS, amber.KindRefused},
		{syscall.ESTALE, amber.KindUnreachable},
	}
	for _, c := range changes {
		for _, fault := range faults {
			t.Run(fmt.Sprintf("%s, %v", c.name, fault.err), func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				n := 1
				for failAt(t, c, root, n, fault.err, fault.want) {
					n++
				}
				must.Hold(t, n != 1, "no error was injected")
			})
		}
	}
}

// failAt fails the n-th call and reports whether there was one.
func failAt(t *testing.T, c change, root string, n int, fault error, want amber.Kind) bool {
	t.Helper()
	disk := simulated(t, root)
	c.before(t, disk, root)
	visible := c.look(t, open(t, root, disk))
	// Opening makes three calls, which are not in question here.
	e := errfs.Wrap(disk, errfs.Rule{Nth: n + 3, Err: fault})
	d := open(t, root, e)
	err := c.do(t.Context(), d)
	if len(e.Injected()) == 0 {
		if err != nil {
			t.Fatalf("without a fault: %v", err)
		}
		return false
	}
	op := e.Injected()[0]
	// A process that may not read a folder did not make one in it: fsx forgives that.
	if err != nil || op != errfs.OpSyncDir || want != amber.KindRefused {
		if !errors.Is(err, fault) || amber.KindOf(err) != want && op != errfs.OpLink {
			t.Fatalf("%s, call %d: got %q (%v), want %q", op, n, amber.KindOf(err), err, want)
		}
	}
	got := c.look(t, open(t, root, disk))
	if err == nil && !same(got, c.new) {
		t.Fatalf("%s, call %d: acknowledged, but there are %d bytes", op, n, len(got))
	}
	if !same(got, visible) && !same(got, c.new) {
		t.Fatalf("%s, call %d: there are %d bytes, neither the old ones nor the new", op, n, len(got))
	}
	if left := temps(t, disk, root); left != nil && op != errfs.OpRemove {
		t.Fatalf("%s, call %d: temporary files left: %q", op, n, left)
	}
	return true
}

func TestFolderOfAKilledOpenerIsDurable(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for seed := range uint64(seeds) {
		disk := crashfs.New()
		must.Do(t, errors.Join(fsx.MkdirAll(disk, filepath.Dir(root), 0o700), disk.Mkdir(root, 0o700)))
		put(t, open(t, root, disk), "a", object)
		after := disk.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		if got := get(t, open(t, root, after), "a"); !same(got, object) {
			t.Fatalf("seed %d: there are %d bytes", seed, len(got))
		}
	}
}
