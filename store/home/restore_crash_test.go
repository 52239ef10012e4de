package home_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

const snapshotID = "019b7ccd-f1ae-7a1b-8c2d-3e4f5a6b7c8d"

// later is a stamp beyond the clock of every test.
var later = amber.StampAt(today()) + 1<<20

// buildLoosely fills a generation without syncing anything, in any order, as a restore does.
func buildLoosely(fsys fsx.FS, dir string, c home.Current) error {
	if err := fsys.Mkdir(filepath.Join(dir, "memdir"), 0o700); err != nil {
		return err
	}
	for _, part := range parts {
		f, err := fsx.Build(fsys, filepath.Join(dir, part), 0o600)
		if err != nil {
			return err
		}
		data := content(part, c)
		_, second := f.WriteAt(data[4096:], 4096)
		_, first := f.WriteAt(data[:4096], 0)
		if err := errors.Join(second, first, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// park leaves what a journal would, durably.
func park(fsys fsx.FS, a *home.Agent, n int64) error {
	if err := fsx.MkdirAll(fsys, a.ParkedDir(n), 0o700); err != nil {
		return err
	}
	return fsx.CreateNew(fsys, filepath.Join(a.ParkedDir(n), "frames"), 0o600, []byte("parked"))
}

// outcome is what a process was told before it died.
type outcome struct {
	old      home.Current
	next     home.Current // zero until the restore has begun
	switched bool
	removed  bool
	aborted  bool
}

// restore restores an agent and removes the old generation, as a process does from start to end.
func restore(ctx context.Context, a *home.Agent, fsys fsx.FS) (o outcome, err error) {
	err = a.Operate(ctx, func() error {
		r, err := a.BeginRestore(ctx, snapshotID)
		if err != nil {
			return err
		}
		defer r.Abort()
		o.next = r.Current()
		if err := buildLoosely(fsys, r.Dir(), r.Current()); err != nil {
			return err
		}
		err = r.Switch(ctx, func(old home.Current) (amber.Stamp, error) {
			o.old = old
			return later, park(fsys, a, old.Generation)
		})
		if err != nil {
			return err
		}
		o.next, o.switched = r.Current(), true
		if err := a.RemoveGeneration(ctx, o.old.Generation); err != nil {
			return err
		}
		o.removed = true
		return nil
	})
	return o, err
}

// giveUp begins a restore and aborts it.
func giveUp(ctx context.Context, a *home.Agent, fsys fsx.FS) (o outcome, err error) {
	err = a.Operate(ctx, func() error {
		r, err := a.BeginRestore(ctx, snapshotID)
		if err != nil {
			return err
		}
		o.next = r.Current()
		if err := buildLoosely(fsys, r.Dir(), r.Current()); err != nil {
			return err
		}
		stop := errors.New("stop")
		err = r.Switch(ctx, func(old home.Current) (amber.Stamp, error) {
			return later, errors.Join(park(fsys, a, old.Generation), stop)
		})
		if !errors.Is(err, stop) || errors.Is(err, crashfs.ErrCrashed) {
			return err
		}
		if err := r.Abort(); err != nil {
			return err
		}
		o.aborted = true
		return nil
	})
	return o, err
}

type restoreRun func(ctx context.Context, a *home.Agent, fsys fsx.FS) (outcome, error)

var restoreRuns = []struct {
	name string
	run  restoreRun
}{{"restore", restore}, {"abort", giveUp}}

// madeDisk returns a disk with an agent on it, and the agent's generation.
func madeDisk(t *testing.T, dir string) (*crashfs.FS, home.Current) {
	t.Helper()
	disk := newDisk(t, dir, starts[0].make)
	c := must.Get(create(t.Context(), disk, dir))(t)
	return disk, c
}

// eachRestoreCut kills a run at every call and hands over the disk as the dead process left it.
func eachRestoreCut(t *testing.T, check func(t *testing.T, n int, dir string, disk *crashfs.FS, first home.Current, o outcome)) {
	for _, tt := range restoreRuns {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			for n := 1; ; n++ {
				disk, first := madeDisk(t, dir)
				before := disk.Calls()
				disk.StopAt(before + n)
				o, err := tt.run(t.Context(), handle(t, dir, options(disk)), disk)
				over := disk.Calls() < before+n
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) || over && err != nil {
					t.Fatalf("cut at call %d: %v", n, err)
				}
				check(t, n, dir, disk, first, o)
				if t.Failed() {
					t.Fatalf("cut at call %d", n)
				}
				if over {
					t.Logf("%d calls", n-1)
					return
				}
			}
		})
	}
}

// TestRestoreSurvivesAPowerCut cuts the power at every call. Afterwards the agent is exactly the old one or
// exactly the new one, and the next writer leaves no trace of the restore.
func TestRestoreSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	eachRestoreCut(t, func(t *testing.T, n int, dir string, disk *crashfs.FS, first home.Current, o outcome) {
		for seed := range uint64(*seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			checkRestored(t, dir, after, first, o)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

// checkRestored checks what was left, settles it in one of several ways, and checks again.
func checkRestored(t *testing.T, dir string, disk *crashfs.FS, first home.Current, o outcome) {
	t.Helper()
	c := checkOldOrNew(t, dir, disk, first, o)
	a := handle(t, dir, options(disk))
	report, err := a.Settle(t.Context())
	if err != nil {
		t.Errorf("settle: %v", err)
		return
	}
	if report.Running || report.Finished && c == first || report.Undone && c != first {
		t.Errorf("settled as %+v with generation %d live", report, c.Generation)
	}
	checkSettled(t, disk, a, c)
	if again, err := a.Settle(t.Context()); err != nil || again.From != "" || again.Removed != nil {
		t.Errorf("settled a second time: %+v, %v", again, err)
	}
	// And the agent goes on: a write, another restore, a power cut.
	must.NoError(t, writeAck(t.Context(), a, disk))
	o, err = restore(t.Context(), handle(t, dir, options(disk)), disk)
	if err != nil {
		t.Errorf("another restore: %v", err)
		return
	}
	if o.next.Generation <= c.Generation || o.next.Clock < later || o.next.Device != first.Device {
		t.Errorf("restored as %+v after %+v", o.next, c)
	}
	cut := disk.CrashClone(rand.New(rand.NewPCG(1, 2)))
	must.Equal(t, "agent after an acknowledged restore", checkOldOrNew(t, dir, cut, c, o), o.next)
}

// checkOldOrNew checks that the live generation is whole and, where the switch was acknowledged, the new one.
func checkOldOrNew(t *testing.T, dir string, disk fsx.FS, first home.Current, o outcome) home.Current {
	t.Helper()
	a := handle(t, dir, options(disk))
	c, err := a.Current()
	if err != nil {
		t.Fatalf("current: %v", err)
	}
	checkBuilt(t, disk, a, c)
	switch {
	case c == first:
		must.Hold(t, !o.switched, "the switch was acknowledged and taken back")
	case c.Generation != o.next.Generation || c.Incarnation != o.next.Incarnation || c.Device != first.Device || c.Clock != later:
		t.Errorf("got %+v, which is neither %+v nor %+v", c, first, o.next)
	case o.aborted:
		t.Error("an aborted restore is live")
	}
	return c
}

// checkSettled checks that nothing is left but the live generation and perhaps an older one that is whole.
func checkSettled(t *testing.T, fsys fsx.FS, a *home.Agent, c home.Current) {
	t.Helper()
	for _, e := range entries(t, fsys, a.Dir()) {
		if !slices.Contains([]string{"CURRENT", "gen", "parked"}, e) && !strings.HasPrefix(e, fsx.TempPrefix) {
			t.Errorf("%s is left", e)
		}
	}
	generations := must.Get(a.Generations())(t)
	for _, e := range entries(t, fsys, filepath.Join(a.Dir(), "gen")) {
		must.Hold(t, !strings.HasSuffix(e, ".removing"), "gen/%s is left", e)
	}
	for _, n := range generations {
		must.Hold(t, n <= c.Generation, "generation %d is left of an undone restore", n)
		// A generation that was to be removed is gone, so a generation that is there is whole.
		if len(entries(t, fsys, a.GenDir(home.Current{Generation: n}))) < 2 {
			t.Errorf("half of generation %d is left", n)
		}
	}
	parked := must.Get(a.ParkedBefore(c.Generation))(t)
	if c.Generation > 1 && !slices.Equal(parked, []int64{1}) || c.Generation == 1 && len(entries(t, fsys, filepath.Join(a.Dir(), "parked"))) > 0 {
		t.Errorf("generation %d is live, parked is %v", c.Generation, parked)
	}
}

func entries(t *testing.T, fsys fsx.FS, dir string) []string {
	t.Helper()
	list, err := fsys.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestWritesAfterAKilledRestoreSurvive kills a restore at every call, lets a writer go on with the same
// disk, and cuts the power only then: what the writer was told is safe is in the generation that is live.
func TestWritesAfterAKilledRestoreSurvive(t *testing.T) {
	t.Parallel()
	eachRestoreCut(t, func(t *testing.T, n int, dir string, disk *crashfs.FS, first home.Current, o outcome) {
		disk.StopAt(0)
		a := handle(t, dir, options(disk))
		if err := writeAck(t.Context(), a, disk); err != nil {
			t.Fatalf("write: %v", err)
		}
		c := must.Get(a.Current())(t)
		for seed := range uint64(*seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			must.Equal(t, "generation after a power cut", checkOldOrNew(t, dir, after, first, o), c)
			must.Kind(t, "acknowledged write", must.Err(after.Lstat(filepath.Join(a.GenDir(c), ackName))), "")
		}
		// The writer has settled everything on its way, so that a crash leaves nothing behind for long.
		if r, err := handle(t, dir, options(disk)).Restoring(); r != nil || err != nil {
			t.Errorf("still restoring: %+v, %v", r, err)
		}
	})
}

// TestSettleSurvivesAPowerCut kills a restore at every call, then the process that settles it at every call, and then
// cuts the power.
func TestSettleSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	ways := []struct {
		name   string
		settle func(ctx context.Context, a *home.Agent, disk fsx.FS) error
	}{
		{"settle", func(ctx context.Context, a *home.Agent, _ fsx.FS) error {
			_, err := a.Settle(ctx)
			return err
		}},
		{"write", func(ctx context.Context, a *home.Agent, _ fsx.FS) error {
			return a.Write(ctx, "memory", func(home.Current) error { return nil })
		}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			for n := 1; ; n++ {
				over := false
				for m := 1; ; m++ {
					disk, first := madeDisk(t, dir)
					stop := disk.Calls() + n
					disk.StopAt(stop)
					o, _ := restore(t.Context(), handle(t, dir, options(disk)), disk)
					over = disk.Calls() < stop
					stop = disk.Calls() + m
					disk.StopAt(stop)
					_ = way.settle(t.Context(), handle(t, dir, options(disk)), disk)
					done := disk.Calls() < stop
					for seed := range uint64(max(1, *seeds/4)) {
						checkRestored(t, dir, disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n*100+m)))), first, o)
					}
					if t.Failed() {
						t.Fatalf("restore killed at call %d, settling at call %d", n, m)
					}
					if done {
						break
					}
				}
				if over {
					return
				}
			}
		})
	}
}
