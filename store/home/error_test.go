package home_test

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// TestCreateWithEveryError fails every call of a creation in turn. Create reports it, or has nothing to
// report because the agent is made and safe; and a second Create gets there.
func TestCreateWithEveryError(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name string
		rule errfs.Rule
		want amber.Kind
	}{
		{"broken disk", errfs.Rule{Err: syscall.EIO}, amber.KindInternal},
		{"full disk", errfs.Rule{Err: syscall.ENOSPC, Written: 7}, amber.KindInternal},
		{"no permission", errfs.Rule{Err: syscall.EACCES}, amber.KindRefused},
		{"failed sync of a file", errfs.Rule{Op: errfs.OpSync, Err: syscall.EIO}, amber.KindInternal},
		{"failed sync of a folder", errfs.Rule{Op: errfs.OpSyncDir, Err: syscall.EIO}, amber.KindInternal},
		{"read-only disk", errfs.Rule{Op: errfs.OpCreate, Err: syscall.EROFS}, amber.KindRefused},
	}
	for _, fault := range faults {
		for _, start := range starts {
			t.Run(fault.name+", "+start.name, func(t *testing.T) {
				t.Parallel()
				dir := lockedHome(t)
				for n := 1; ; n++ {
					disk := newDisk(t, dir, start.make)
					rule := fault.rule
					rule.Nth = n
					bad := errfs.Wrap(disk, rule)
					c, built, err := createWatched(t, bad, dir)
					if len(bad.Injected()) == 0 {
						if err != nil || n == 1 {
							t.Fatalf("without a fault, call %d: %v", n, err)
						}
						return
					}
					if err != nil {
						checkFault(t, err, built, fault.rule.Err, fault.want)
						if c, err = create(t.Context(), disk, dir); err != nil {
							t.Errorf("second create: %v", err)
						}
					}
					for seed := range uint64(max(1, *seeds/3)) {
						checkAfterCut(t, dir, disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n)))), &c)
					}
					if t.Failed() {
						t.Fatalf("fault at call %d, %v", n, bad.Injected())
					}
				}
			})
		}
	}
}

// createWatched is create that also returns what build returned.
func createWatched(t *testing.T, fsys fsx.FS, dir string) (c home.Current, built, err error) {
	t.Helper()
	a, err := openAgent(dir, options(fsys))
	if err != nil {
		return c, nil, err
	}
	c, created, err := a.Create(t.Context(), func(gen string, c home.Current) error {
		built = build(fsys)(gen, c)
		return built
	})
	must.Equal(t, "made now", created, err == nil)
	return c, built, err
}

// checkFault checks that the error is the one that was injected, of the wanted kind; what build returns
// is passed on as it is.
func checkFault(t *testing.T, err, built, cause error, want amber.Kind) {
	t.Helper()
	must.Is(t, "cause", err, cause)
	if built != nil {
		must.Hold(t, err == built, "got %v, want what build returned, %v", err, built)
		return
	}
	must.Kind(t, "create", err, want)
	must.Hold(t, want != amber.KindRefused || amber.HintOf(err) != "", "refused without a hint")
}

// TestUnsureCurrentIsSettled fails the sync after CURRENT got its name. Create reports an error although
// the agent can be seen; the next writer makes it safe before anything is acknowledged.
func TestUnsureCurrentIsSettled(t *testing.T) {
	t.Parallel()
	nexts := []struct {
		name string
		next func(t *testing.T, a *home.Agent, disk fsx.FS) error
	}{
		{"create", func(t *testing.T, a *home.Agent, disk fsx.FS) error {
			_, created, err := a.Create(t.Context(), build(disk))
			must.Hold(t, !created, "made a second time")
			return err
		}},
		{"write", func(t *testing.T, a *home.Agent, disk fsx.FS) error { return writeAck(t.Context(), a, disk) }},
		{"exclusive", func(t *testing.T, a *home.Agent, disk fsx.FS) error {
			return a.Exclusive(t.Context(), func(home.Current) error { return nil })
		}},
	}
	for _, tt := range nexts {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			disk, c := unsureAgent(t, dir)
			gone := 0
			for seed := range uint64(*seeds) {
				clone := disk.CrashClone(rand.New(rand.NewPCG(seed, 0)))
				if _, err := handle(t, dir, options(clone)).Current(); err != nil {
					gone++
				}
			}
			if gone == 0 {
				t.Fatal("every power cut spared CURRENT: this test shows nothing")
			}
			// As long as the folder cannot be synced, no writer gets in.
			bad := errfs.Wrap(disk, errfs.Rule{Op: errfs.OpSyncDir, Err: syscall.EIO})
			must.Kind(t, "with the disk still broken", tt.next(t, handle(t, dir, options(bad)), bad), amber.KindInternal)
			must.Do(t, tt.next(t, handle(t, dir, options(disk)), disk))
			for seed := range uint64(*seeds) {
				checkAfterCut(t, dir, disk.CrashClone(rand.New(rand.NewPCG(seed, 1))), &c)
			}
		})
	}
}

// unsureAgent returns a disk on which CURRENT can be seen but is not durable, and the agent.
func unsureAgent(t *testing.T, dir string) (*crashfs.FS, home.Current) {
	t.Helper()
	for n := 1; ; n++ {
		disk := newDisk(t, dir, starts[0].make)
		bad := errfs.Wrap(disk, errfs.Rule{Op: errfs.OpSyncDir, Glob: "default", Nth: n, Err: syscall.ENOSPC})
		_, err := create(t.Context(), bad, dir)
		if !slices.Contains(bad.Injected(), errfs.OpSyncDir) {
			t.Fatal("no failed sync left CURRENT in doubt")
		}
		c, cerr := handle(t, dir, options(disk)).Current()
		if cerr != nil || err == nil {
			continue
		}
		must.Is(t, "switch", err, fsx.ErrInPlace)
		must.Kind(t, "create", err, amber.KindInternal)
		must.Hold(t, amber.HintOf(err) != "", "an outcome in doubt without a hint")
		return disk, c
	}
}
