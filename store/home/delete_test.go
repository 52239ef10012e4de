package home_test

import (
	"context"
	"errors"
	"io/fs"
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

// remove deletes an agent, as a process does from start to end.
func remove(ctx context.Context, a *home.Agent) error {
	return a.Operate(ctx, func() error { return a.Delete(ctx, nil) })
}

// withSpool leaves what a journal and a restore would in the folder of an agent.
func withSpool(t *testing.T, fsys fsx.FS, a *home.Agent) {
	t.Helper()
	for _, dir := range []string{filepath.Join(a.SpoolDir(), "s1"), filepath.Join(a.Dir(), "parked", "1")} {
		must.Do(t, fsx.MkdirAll(fsys, dir, 0o700))
		must.Do(t, fsx.CreateNew(fsys, filepath.Join(dir, "frames"), 0o600, []byte("frames")))
	}
}

func TestDeleteRemovesTheFolder(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	a := handle(t, dir, options(nil))
	made := makeAgent(t, fsx.OS(), a)
	withSpool(t, fsx.OS(), a)
	var last home.Current
	err := a.Operate(t.Context(), func() error {
		return a.Delete(t.Context(), func(c home.Current) error {
			last = c
			checkBuilt(t, fsx.OS(), a, c)
			return nil
		})
	})
	if err != nil || last != made {
		t.Fatalf("delete: %v, the last look was at %+v", err, last)
	}
	must.Is(t, "folder", must.Err(os.Lstat(a.Dir())), fs.ErrNotExist)
	must.Fail(a.Current())(t, "current", amber.KindNotFound)
	if exists, err := a.Exists(); exists || err != nil {
		t.Errorf("deleted agent exists: %v, %v", exists, err)
	}
	must.Kind(t, "write", a.Write(t.Context(), "memory", func(home.Current) error { return nil }), amber.KindNotFound)
	must.Kind(t, "delete again", remove(t.Context(), a), amber.KindNotFound)
	if again := makeAgent(t, fsx.OS(), a); again.Device == made.Device {
		t.Errorf("made again: %+v, it was %+v", again, made)
	}
}

// Also a look that fails because something is missing, a part of the repository
// say, leaves the agent as it is.
func TestDeleteStopsWhenTheLastLookFails(t *testing.T) {
	t.Parallel()
	dir, made := madeHome(t)
	a := handle(t, dir, options(nil))
	for _, stop := range []error{errors.New("no room for a snapshot"), amber.Errorf(amber.KindNotFound, "read pack", "p", "no such object")} {
		err := a.Operate(t.Context(), func() error { return a.Delete(t.Context(), func(home.Current) error { return stop }) })
		must.Is(t, "delete", err, stop)
		must.Equal(t, "agent", must.Get(a.Current())(t), made)
		checkBuilt(t, fsx.OS(), a, made)
	}
}

// A writer that is inside finishes first; one that waits is told that there is no
// agent, and writes nothing.
func TestDeleteWaitsForWriters(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	a := handle(t, dir, options(nil))
	inside, leave := make(chan struct{}), make(chan struct{})
	wrote, deleted := make(chan error, 1), make(chan error, 1)
	go func() {
		wrote <- handle(t, dir, options(nil)).Write(t.Context(), "memory", func(c home.Current) error {
			close(inside)
			<-leave
			return fsx.CreateNew(fsx.OS(), filepath.Join(a.GenDir(c), ackName), 0o600, []byte("told"))
		})
	}()
	<-inside
	go func() {
		deleted <- a.Operate(t.Context(), func() error {
			return a.Delete(t.Context(), func(c home.Current) error {
				_, err := os.Lstat(filepath.Join(a.GenDir(c), ackName))
				return err // what was acknowledged is there when the last look is taken
			})
		})
	}()
	close(leave)
	must.NoError(t, <-wrote)
	must.NoError(t, <-deleted)
}

func TestDeleteOfAFolderThatIsNoAgent(t *testing.T) {
	t.Parallel()
	a := handle(t, homeDir(t), options(nil))
	must.Kind(t, "no folder", remove(t.Context(), a), amber.KindNotFound)
	withSpool(t, fsx.OS(), a)
	if exists, err := a.Exists(); !exists || err != nil {
		t.Errorf("hooks have begun it: %v, %v", exists, err)
	}
	must.Kind(t, "a journal alone", remove(t.Context(), a), "")
	must.Is(t, "folder", must.Err(os.Lstat(a.Dir())), fs.ErrNotExist)
}

// TestDeleteSurvivesAPowerCut cuts the power at every call, and kills the process
// there. Afterwards the agent is whole or gone, never a part of one, and nothing of
// it is in one that is made again.
func TestDeleteSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	dir := lockedHome(t)
	for n := 1; ; n++ {
		disk := newDisk(t, dir, starts[0].make)
		a := handle(t, dir, options(disk))
		made := makeAgent(t, disk, a)
		withSpool(t, disk, a)
		before := disk.Calls()
		disk.StopAt(before + n)
		err := remove(t.Context(), handle(t, dir, options(disk)))
		if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
			t.Fatalf("cut at call %d: %v", n, err)
		}
		over, done := disk.Calls() < before+n, err == nil
		for seed := range uint64(*seeds) {
			checkDeleted(t, dir, disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n)))), made, done)
			if t.Failed() {
				t.Fatalf("cut at call %d, seed %d", n, seed)
			}
		}
		disk.StopAt(0)
		checkDeleted(t, dir, disk, made, done)
		if over || t.Failed() {
			t.Logf("%d calls", n-1)
			return
		}
	}
}

func checkDeleted(t *testing.T, dir string, disk *crashfs.FS, made home.Current, done bool) {
	t.Helper()
	must.Do(t, os.MkdirAll(agentDir(dir), 0o700)) // locks lie on the real disk
	a := handle(t, dir, options(disk))
	found, err := a.Current()
	switch {
	case err == nil && (found != made || done):
		t.Errorf("the agent is %+v, was %+v, deleted %v", found, made, done)
	case err == nil:
		checkBuilt(t, disk, a, found)
		must.Kind(t, "journal of an agent that is there", must.Err(disk.Lstat(filepath.Join(a.SpoolDir(), "s1", "frames"))), "")
		// The next write ends the deletion, and no later loss is taken for it.
		must.NoError(t, writeAck(t.Context(), a, disk))
		must.Is(t, "note after a write", must.Err(disk.Lstat(filepath.Join(a.Dir(), "DELETING"))), fs.ErrNotExist)
		return
	case amber.KindOf(err) != amber.KindNotFound:
		t.Errorf("current: %v", err)
	}
	if exists, err := a.Exists(); err != nil || exists {
		t.Errorf("what is gone exists: %v, %v", exists, err)
	}
	if c := makeAgent(t, disk, a); c.Device == made.Device {
		t.Fatalf("made again: %+v, it was %+v", c, made)
	}
	for _, name := range []string{"spool", "parked", "DELETING"} {
		must.Is(t, name+" of the old agent", must.Err(disk.Lstat(filepath.Join(a.Dir(), name))), fs.ErrNotExist)
	}
}
