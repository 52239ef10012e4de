package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	a := handle(t, dir, options(nil))
	c, created, err := a.Create(t.Context(), func(gen string, c home.Current) error {
		entries, err := os.ReadDir(gen)
		must.Hold(t, len(entries) == 0 && err == nil, "the folder to build in holds %v, %v", entries, err)
		return build(fsx.OS())(gen, c)
	})
	if err != nil || !created {
		t.Fatalf("made now %v, %v", created, err)
	}
	must.Hold(t, c.Generation == 1 && c.Clock == amber.StampAt(today()) && c.Incarnation != c.Device, "got %+v", c)
	checkBuilt(t, fsx.OS(), a, c)
	checkClean(t, fsx.OS(), a)
	second := handle(t, dir, options(nil))
	must.Equal(t, "current", must.Get(second.Current())(t), c)
	got, created, err := second.Create(t.Context(), func(string, home.Current) error { return errors.New("built again") })
	if got != c || created || err != nil {
		t.Errorf("create again: got %+v, made now %v, %v; want %+v", got, created, err, c)
	}
}

// TestCreateOrder pins the order of writes, syncs and removals on the real file system.
func TestCreateOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before func(t *testing.T, dir string)
	}{
		{"create", func(*testing.T, string) {}},
		{"create_again", func(t *testing.T, dir string) {
			put(t, agentDir(dir), "CREATING", ".amber-tmp-LEFT", "gen/1/half.db", "gate", "lock")
		}},
		{"create_exists", createFirst},
		{"create_settles", func(t *testing.T, dir string) {
			createFirst(t, dir)
			put(t, agentDir(dir), "CREATING")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := homeDir(t)
			tt.before(t, dir)
			var lines []string
			fsys := errfs.TraceRel(fsx.OS(), dir, func(line string) { lines = append(lines, line) })
			a := handle(t, dir, options(fsys))
			c, _, err := a.Create(t.Context(), build(fsys))
			must.Do(t, err)
			checkBuilt(t, fsx.OS(), a, c)
			checkClean(t, fsx.OS(), a)
			checkGolden(t, tt.name, strings.Join(append(lines, "= ok"), "\n")+"\n")
		})
	}
}

func createFirst(t *testing.T, dir string) {
	t.Helper()
	makeAgent(t, fsx.OS(), handle(t, dir, options(nil)))
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, *update, "io_"+name, got)
}

func TestCreateBeginsAgainFromNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := handle(t, dir, options(nil))
	stop := errors.New("stop")
	_, created, err := a.Create(t.Context(), func(gen string, c home.Current) error {
		put(t, gen, "half.db", "memdir/.git/objects/00/half")
		return stop
	})
	if created || !errors.Is(err, stop) {
		t.Fatalf("made now %v, got %v, want the error of build", created, err)
	}
	must.Fail(a.Current())(t, "current", amber.KindNotFound)
	// The words of the note are for people. Another version may have left others.
	must.Do(t, os.WriteFile(filepath.Join(a.Dir(), "CREATING"), []byte("other words"), 0o600))
	makeAgent(t, fsx.OS(), a)
	checkClean(t, fsx.OS(), a)
}

// TestNoteBesideCurrent removes the note before anybody writes. Were it still there on the day CURRENT
// gets lost, it would turn damage into a fresh start.
func TestNoteBesideCurrent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		use  func(t *testing.T, a *home.Agent) error
	}{
		{"create", func(t *testing.T, a *home.Agent) error {
			_, _, err := a.Create(t.Context(), build(fsx.OS()))
			return err
		}},
		{"write", func(t *testing.T, a *home.Agent) error {
			return a.Write(t.Context(), "memory", func(home.Current) error { return nil })
		}},
		{"exclusive", func(t *testing.T, a *home.Agent) error {
			return a.Exclusive(t.Context(), func(home.Current) error { return nil })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, c := madeHome(t)
			put(t, agentDir(dir), "CREATING")
			a := handle(t, dir, options(nil))
			must.Do(t, tt.use(t, a))
			checkBuilt(t, fsx.OS(), a, c)
			must.Do(t, os.Remove(filepath.Join(a.Dir(), "CURRENT")))
			for door, err := range everyDoor(t, a) {
				must.Kind(t, door, err, amber.KindDamaged)
			}
		})
	}
}

// TestCreateNeedsAClockAndIDs refuses before anything is written what could never be read back.
func TestCreateNeedsAClockAndIDs(t *testing.T) {
	t.Parallel()
	year := func(y int) amber.Clock { return func() time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) } }
	tests := []struct {
		name string
		edit func(*home.Options)
		want amber.Kind
	}{
		{"clock before 1970", func(o *home.Options) { o.Clock = year(1969) }, amber.KindInvalid},
		{"clock after 9999", func(o *home.Options) { o.Clock = year(10000) }, amber.KindInvalid},
		{"no time at all", func(o *home.Options) { o.Clock = func() time.Time { return time.Time{} } }, amber.KindInvalid},
		{"randomness that fails", func(o *home.Options) { o.Random = iotest.ErrReader(errors.New("dry")) }, amber.KindInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := homeDir(t)
			o := options(nil)
			tt.edit(&o)
			a := handle(t, dir, o)
			_, created, err := a.Create(t.Context(), build(fsx.OS()))
			must.Kind(t, "create", err, tt.want)
			must.Hold(t, !created, "made now, though there is an error")
			must.Fail(a.Current())(t, "current", amber.KindNotFound)
			createFirst(t, dir)
		})
	}
}

// TestCreateTogether lets handles of one agent create it at the same time: one does, all get the same.
func TestCreateTogether(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := homeDir(t)
		var builds, made atomic.Int32
		got := make([]home.Current, 8)
		var wg sync.WaitGroup
		for i := range got {
			a := handle(t, dir, options(nil))
			wg.Go(func() {
				c, created, err := a.Create(t.Context(), func(dir string, c home.Current) error {
					builds.Add(1)
					return build(fsx.OS())(dir, c)
				})
				must.NoError(t, err)
				if created {
					made.Add(1)
				}
				got[i] = c
			})
		}
		wg.Wait()
		if builds.Load() != 1 || made.Load() != 1 {
			t.Fatalf("built %d times, made by %d", builds.Load(), made.Load())
		}
		for _, c := range got {
			must.Equal(t, "what two that create together get", c, got[0])
		}
		checkBuilt(t, fsx.OS(), handle(t, dir, options(nil)), got[0])
	}
}
