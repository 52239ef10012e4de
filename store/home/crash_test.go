package home_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// seeds is how many ways a power cut can go are tried after each call.
var seeds = flag.Int("home.seeds", 4, "how many ways a power cut can go are tried after each call; 12 at full size")

// starts are the states a creation can begin from.
var starts = []struct {
	name string
	make func(t *testing.T, disk *crashfs.FS, dir string)
}{
	{"no home", func(*testing.T, *crashfs.FS, string) {}},
	{"empty generation", func(t *testing.T, disk *crashfs.FS, dir string) {
		must.Do(t, fsx.MkdirAll(disk, filepath.Join(agentDir(dir), "gen", "1"), 0o700))
	}},
	{"creation cut off before", func(t *testing.T, disk *crashfs.FS, dir string) {
		stop := errors.New("stop")
		_, _, err := handle(t, dir, options(disk)).Create(t.Context(), func(gen string, c home.Current) error {
			return errors.Join(build(disk)(gen, c), stop)
		})
		must.Is(t, "create", err, stop)
	}},
}

// lockedHome returns the path of a home that lies on a simulated disk. The folder of its agent is on the
// real disk too: kernel locks know no other.
func lockedHome(t *testing.T) string {
	t.Helper()
	dir := homeDir(t)
	must.Do(t, os.MkdirAll(agentDir(dir), 0o700))
	return dir
}

// newDisk returns a disk with the folder above the home, and whatever begin puts there.
func newDisk(t *testing.T, dir string, begin func(*testing.T, *crashfs.FS, string)) *crashfs.FS {
	t.Helper()
	disk := crashfs.New()
	must.Do(t, fsx.MkdirAll(disk, filepath.Dir(dir), 0o700))
	begin(t, disk, dir)
	return disk
}

// create opens the home and creates the agent, as a process does from start to end.
func create(ctx context.Context, fsys fsx.FS, dir string) (home.Current, error) {
	a, err := openAgent(dir, options(fsys))
	if err != nil {
		return home.Current{}, err
	}
	c, _, err := a.Create(ctx, build(fsys))
	return c, err
}

// eachCut kills a creation at every call, from every start, and hands over the disk as the dead process
// left it and, where Create had returned by then, the agent it returned.
func eachCut(t *testing.T, check func(t *testing.T, n int, dir string, disk *crashfs.FS, acked *home.Current)) {
	for _, start := range starts {
		t.Run(start.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			for n := 1; ; n++ {
				disk := newDisk(t, dir, start.make)
				before := disk.Calls()
				disk.StopAt(before + n)
				c, err := create(t.Context(), disk, dir)
				over := disk.Calls() < before+n
				switch {
				case err == nil:
					check(t, n, dir, disk, &c)
				case errors.Is(err, crashfs.ErrCrashed):
					check(t, n, dir, disk, nil)
				default:
					t.Fatalf("cut at call %d: %v", n, err)
				}
				if over || t.Failed() {
					t.Logf("%d calls", n-1)
					return
				}
			}
		})
	}
}

// TestCreateSurvivesAPowerCut cuts the power at every call. Afterwards there is the whole agent, or none and
// it can be made; an agent that was acknowledged is there.
func TestCreateSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	eachCut(t, func(t *testing.T, n int, dir string, disk *crashfs.FS, acked *home.Current) {
		for seed := range uint64(*seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			c := checkAfterCut(t, dir, after, acked)
			// And once more, for what the second process did.
			checkAfterCut(t, dir, after.CrashClone(rand.New(rand.NewPCG(seed, uint64(n)))), &c)
			if t.Failed() {
				t.Fatalf("cut at call %d, seed %d", n, seed)
			}
		}
	})
}

// checkAfterCut checks what a power cut left and creates the agent. It returns the agent.
func checkAfterCut(t *testing.T, dir string, disk *crashfs.FS, acked *home.Current) home.Current {
	t.Helper()
	a := handle(t, dir, options(disk))
	found, err := a.Current()
	switch {
	case err == nil:
		checkBuilt(t, disk, a, found)
	case acked != nil || amber.KindOf(err) != amber.KindNotFound:
		t.Errorf("current: %v", err)
	}
	if acked != nil && found != *acked {
		t.Errorf("got %+v, acknowledged was %+v", found, *acked)
	}
	c, created, cerr := a.Create(t.Context(), build(disk))
	switch {
	case cerr != nil:
		t.Errorf("create: %v", cerr)
	case created:
		checkClean(t, disk, a)
	case c != found:
		t.Errorf("create found %+v, current %+v", c, found)
	}
	must.Hold(t, created != (err == nil), "made now %v after %v", created, err)
	if cerr == nil {
		checkBuilt(t, disk, a, c)
	}
	return c
}

// TestWritesAfterAKilledCreationSurvive kills a creation at every call, lets another process go on with the
// same disk, and cuts the power only then: whatever the other process was told is safe is there.
func TestWritesAfterAKilledCreationSurvive(t *testing.T) {
	t.Parallel()
	eachCut(t, func(t *testing.T, n int, dir string, disk *crashfs.FS, acked *home.Current) {
		disk.StopAt(0)
		a := handle(t, dir, options(disk))
		// Where CURRENT can be seen, straight into the agent without another Create.
		c, err := a.Current()
		if amber.KindOf(err) == amber.KindNotFound {
			c, err = create(t.Context(), disk, dir)
		}
		if err == nil {
			err = writeAck(t.Context(), a, disk)
		}
		if err != nil {
			t.Fatalf("killed at call %d: %v", n, err)
		}
		for seed := range uint64(*seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			checkAfterCut(t, dir, after, &c)
			must.Kind(t, "acknowledged write", must.Err(after.Lstat(filepath.Join(a.GenDir(c), ackName))), "")
			if t.Failed() {
				t.Fatalf("killed at call %d, power cut with seed %d", n, seed)
			}
		}
	})
}

const ackName = "acknowledged"

// writeAck writes a file into the live generation, durably.
func writeAck(ctx context.Context, a *home.Agent, fsys fsx.FS) error {
	return a.Write(ctx, "memory", func(c home.Current) error {
		return fsx.CreateNew(fsys, filepath.Join(a.GenDir(c), ackName), 0o600, []byte("told"))
	})
}
