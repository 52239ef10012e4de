package home_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// restoring begins a restore, fills the generation and calls fn, as one operation.
func restoring(ctx context.Context, a *home.Agent, fsys fsx.FS, fn func(*home.Restore) error) error {
	return a.Operate(ctx, func() error {
		r, err := a.BeginRestore(ctx, snapshotID)
		if err == nil {
			err = buildLoosely(fsys, r.Dir(), r.Current())
		}
		if err != nil {
			return err
		}
		return fn(r)
	})
}

// begin begins a restore, fills the generation and returns it; the operation goes on until the test ends.
func begin(t *testing.T, a *home.Agent, fsys fsx.FS) *home.Restore {
	t.Helper()
	began, over, left := make(chan *home.Restore), make(chan struct{}), make(chan error)
	go func() {
		left <- restoring(t.Context(), a, fsys, func(r *home.Restore) error {
			began <- r
			<-over
			return nil
		})
	}()
	select {
	case r := <-began:
		t.Cleanup(func() {
			close(over)
			must.NoError(t, <-left)
		})
		return r
	case err := <-left:
		t.Fatal(err)
		return nil
	}
}

func noStamp(home.Current) (amber.Stamp, error) { return 0, nil }

func TestSwitchMakesTheNewGenerationLive(t *testing.T) {
	t.Parallel()
	dir, first := madeHome(t)
	a, other := handle(t, dir, options(nil)), handle(t, dir, options(nil))
	r := begin(t, a, fsx.OS())
	if r.Current().Generation != 2 || r.Current().Device != first.Device || r.Current().Incarnation == first.Incarnation || r.Replaces() != 1 {
		t.Errorf("building %+v after %+v", r.Current(), first)
	}
	// Writers go on in the old generation while it is built.
	must.Do(t, writeAck(t.Context(), other, fsx.OS()))
	must.Do(t, r.Sync())
	err := r.Switch(t.Context(), func(old home.Current) (amber.Stamp, error) {
		must.Equal(t, "what prepare is given", old, first)
		must.NoError(t, must.Err(os.Lstat(filepath.Join(a.GenDir(old), ackName))))
		return later, nil
	})
	must.Do(t, err)
	c, err := other.Current()
	if err != nil || c != r.Current() || c.Clock != later {
		t.Errorf("got %+v, %v, want %+v", c, err, r.Current())
	}
	checkBuilt(t, fsx.OS(), other, c)
	must.NoError(t, errors.Join(r.Abort(), writeAck(t.Context(), other, fsx.OS())))
	must.Kind(t, "write after the switch", must.Err(os.Lstat(filepath.Join(a.GenDir(c), ackName))), "")
	must.Kind(t, "a second switch", r.Switch(t.Context(), noStamp), amber.KindInternal)
}

// TestClockNeverGoesBack switches with stamps before and behind the clock of the old generation.
func TestClockNeverGoesBack(t *testing.T) {
	t.Parallel()
	dir, first := madeHome(t)
	a := handle(t, dir, options(nil))
	r := begin(t, a, fsx.OS())
	beyond := ^amber.Stamp(0)
	must.Kind(t, "a clock beyond all times", r.Switch(t.Context(), func(home.Current) (amber.Stamp, error) { return beyond, nil }), amber.KindInvalid)
	must.Do(t, r.Switch(t.Context(), noStamp))
	must.Equal(t, "clock", r.Current().Clock, first.Clock)
}

// TestNumbersOfGenerations checks that a number that was live, or is there, is not used again, and that one
// whose restore was given up is.
func TestNumbersOfGenerations(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	a := handle(t, dir, options(nil))
	next := func(run restoreRun) int64 {
		t.Helper()
		o := must.Get(run(t.Context(), a, fsx.OS()))(t)
		return o.next.Generation
	}
	got := []int64{next(giveUp), next(giveUp), next(restore), next(giveUp), next(restore)}
	must.Equal(t, "numbers", got, []int64{2, 2, 2, 3, 3})
	put(t, filepath.Join(agentDir(dir), "gen", "17"), "stranger.db")
	put(t, filepath.Join(agentDir(dir), "gen"), "99x", "098")
	must.Equal(t, "number beside a folder 17", next(giveUp), 18)
	must.Equal(t, "generations", must.Get(a.Generations())(t), []int64{3, 17})
	must.Equal(t, "parked", must.Get(a.ParkedBefore(3))(t), []int64{1, 2})
	must.NoError(t, a.RemoveParkedBefore(1, 3))
	for _, n := range []int64{0, 3, 4} {
		must.Kind(t, "remove what is not parked", a.RemoveParkedBefore(n, 3), amber.KindRefused)
	}
}

// TestRestoreOfAnotherProcessIsLeftAlone has another process in the middle of a restore. No writer
// undoes the restore, writers go on, and the restore can finish. If the process is killed, the next
// writer undoes the restore.
func TestRestoreOfAnotherProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		dir, first := madeHome(t)
		cmd, in := startChild(t, "restore", dir)
		a := handle(t, dir, options(nil))
		must.Do(t, writeAck(t.Context(), a, fsx.OS()))
		must.Equal(t, "running", must.Get(a.Settle(t.Context()))(t).Running, true)
		must.Equal(t, "restoring", must.Get(a.Restoring())(t), &home.Restoring{From: snapshotID, Generation: 2, Replaces: 1, Running: true})
		checkBuilt(t, fsx.OS(), a, home.Current{Generation: 2, Incarnation: incarnationOf(t, dir)})
		if !killed {
			// Not in the other case: a wait that was given up gets the lock for a moment when it is free.
			short := options(nil)
			short.Wait = time.Millisecond
			err := handle(t, dir, short).Operate(t.Context(), func() error { return nil })
			must.Kind(t, "operate beside it", err, amber.KindBusy)
			must.Do(t, errors.Join(in.Close(), cmd.Wait()))
			must.Equal(t, "generation after the other process is done", must.Get(a.Current())(t).Generation, 2)
			continue
		}
		kill(t, cmd)
		fresh := handle(t, dir, options(nil))
		must.Do(t, fresh.Write(t.Context(), "control", func(c home.Current) error {
			must.Equal(t, "generation that is written to", c, first)
			return nil
		}))
		must.Equal(t, "generations that are left", must.Get(a.Generations())(t), []int64{1})
		must.Equal(t, "restoring", must.Get(a.Restoring())(t), nil)
	}
}

// incarnationOf reads the incarnation that is being built.
func incarnationOf(t *testing.T, dir string) string {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join(agentDir(dir), "RESTORING")))(t)
	return strings.TrimPrefix(strings.Split(string(b), "\n")[2], "incarnation ")
}

// counting counts what reads and syncs.
type counting struct {
	fsx.FS
	calls int
}

func (c *counting) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	c.calls++
	return c.FS.OpenFile(name, flag, perm)
}

func (c *counting) Lstat(name string) (fs.FileInfo, error) { c.calls++; return c.FS.Lstat(name) }
func (c *counting) SyncDir(name string) error              { c.calls += 100; return c.FS.SyncDir(name) }

// TestRestoreDoesNotSlowWriters counts what a write costs while a restore is being built.
func TestRestoreDoesNotSlowWriters(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	cost := func(a *home.Agent, c *counting) int {
		t.Helper()
		before := c.calls
		must.Do(t, a.Write(t.Context(), "memory", func(home.Current) error { return nil }))
		return c.calls - before
	}
	open := func() (*home.Agent, *counting) {
		c := &counting{FS: fsx.OS()}
		return handle(t, dir, options(c)), c
	}
	warm, warmCount := open()
	cost(warm, warmCount)
	alone := cost(warm, warmCount)
	begin(t, handle(t, dir, options(nil)), fsx.OS())
	must.Equal(t, "calls of a write beside a restore", cost(warm, warmCount), alone)
	cold, coldCount := open()
	if got := cost(cold, coldCount); got > alone+3 {
		t.Errorf("the first write of a process costs %d calls beside a restore, others %d", got, alone)
	}
	must.Equal(t, "calls of the second write of a process beside a restore", cost(cold, coldCount), alone)
}

// TestBadNoteIsReportedAndNothingIsGuessed puts notes there that cannot be believed: the agent works on, no
// restore begins, and nothing is removed.
func TestBadNoteIsReportedAndNothingIsGuessed(t *testing.T) {
	t.Parallel()
	note := func(generation, replaces string) string {
		return string(home.MarshalNote(generation, "x", replaces, "y"))
	}
	for _, tt := range []struct {
		name, note string
		want       amber.Kind
		hint       string
	}{
		{"empty", "", amber.KindDamaged, "RESTORING"},
		{"torn", note("2", "1")[:40], amber.KindDamaged, "RESTORING"},
		{"newer", "amber-restoring 2\nwho knows\n", amber.KindTooNew, "newer amber"},
		{"about other generations", note("9", "8"), amber.KindDamaged, "RESTORING"},
		{"the live number, another incarnation", note("5", "4"), amber.KindDamaged, "RESTORING"},
		{"too long", strings.Repeat("x", 5000), amber.KindDamaged, "RESTORING"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, c := madeHome(t)
			c.Generation = 5
			a := handle(t, dir, options(nil))
			must.Do(t, fsx.Replace(fsx.OS(), filepath.Join(a.Dir(), "CURRENT"), 0o600, home.MarshalCurrent(c)))
			must.Do(t, fsx.Replace(fsx.OS(), filepath.Join(a.Dir(), "RESTORING"), 0o600, []byte(tt.note)))
			for _, n := range []string{"4", "5", "8", "9"} {
				put(t, filepath.Join(a.Dir(), "gen", n), "memory.db")
			}
			makeLocks(t, a)
			must.Do(t, a.Operate(t.Context(), func() error { return nil }))
			before := listing(t, filepath.Join(a.Dir(), "gen"))
			_, settle := a.Settle(t.Context())
			_, looked := a.Restoring()
			_, began := a.BeginRestore(t.Context(), snapshotID)
			for what, err := range map[string]error{"settle": settle, "look": looked, "begin": began, "remove": a.RemoveGeneration(t.Context(), 8)} {
				if what == "remove" && tt.note == note("9", "8") || what == "remove" && tt.note == note("5", "4") {
					continue // the note can be read, and is not about it
				}
				must.Kind(t, what, err, tt.want, tt.hint)
			}
			must.NoError(t, handle(t, dir, options(nil)).Write(t.Context(), "memory", func(home.Current) error { return nil }))
			if got := listing(t, filepath.Join(a.Dir(), "gen")); got != before && !strings.Contains(tt.note, "amber-restoring 1") {
				t.Error("something was changed")
			}
			must.Equal(t, "note", string(must.Get(os.ReadFile(filepath.Join(a.Dir(), "RESTORING")))(t)), tt.note)
		})
	}
}

func TestRemoveGenerationRefusesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	a := handle(t, dir, options(nil))
	r := begin(t, a, fsx.OS())
	ctx := t.Context()
	for n, want := range map[int64]amber.Kind{1: amber.KindRefused, 2: amber.KindRefused, 0: amber.KindInvalid, -1: amber.KindInvalid, 7: ""} {
		must.Kind(t, "remove", a.RemoveGeneration(ctx, n), want)
	}
	must.Do(t, r.Switch(ctx, noStamp))
	must.Kind(t, "remove the live one", a.RemoveGeneration(ctx, 2), amber.KindRefused)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	must.Kind(t, "remove when the caller gave up", a.RemoveGeneration(ended, 1), amber.KindUnreachable)
	for range 2 {
		must.NoError(t, a.RemoveGeneration(ctx, 1))
	}
	must.Equal(t, "generations", must.Get(a.Generations())(t), []int64{2})
	// A mark at the live one is not obeyed.
	put(t, filepath.Join(a.Dir(), "gen"), "2.removing")
	must.Fail(handle(t, dir, options(nil)).Settle(ctx))(t, "beside an operation", "")
	must.Fail(a.BeginRestore(ctx, snapshotID))(t, "begin beside a mark at the live generation", amber.KindDamaged)
	checkBuilt(t, fsx.OS(), a, r.Current())
}

// refilled puts a file into a folder just before it is removed, as a reader does that opens a database.
type refilled struct {
	fsx.FS
	times int
}

func (f *refilled) Remove(name string) error {
	if filepath.Base(name) == "1" && f.times > 0 {
		f.times--
		w, err := f.OpenFile(filepath.Join(name, "memory.db-shm"), os.O_CREATE|os.O_WRONLY, 0o600)
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
	return f.FS.Remove(name)
}

func TestRemoveGenerationBesideAReader(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	must.Get(restoreOnly(t, handle(t, dir, options(nil))))(t)
	a := handle(t, dir, options(&refilled{FS: fsx.OS(), times: 2}))
	must.Do(t, a.RemoveGeneration(t.Context(), 1))
	must.Equal(t, "generations", must.Get(a.Generations())(t), []int64{2})
}

// restoreOnly restores and keeps the old generation.
func restoreOnly(t *testing.T, a *home.Agent) (c home.Current, err error) {
	t.Helper()
	err = restoring(t.Context(), a, fsx.OS(), func(r *home.Restore) error {
		err := r.Switch(t.Context(), noStamp)
		c = r.Current()
		return err
	})
	return c, err
}

// TestSwitchInDoubtIsSettled fails the sync after CURRENT was replaced. Switch says so; the new generation
// is live, and the next writer makes it safe before anything is acknowledged.
func TestSwitchInDoubtIsSettled(t *testing.T) {
	t.Parallel()
	dir := lockedHome(t)
	doubted := false
	for n := 1; ; n++ {
		disk, first := madeDisk(t, dir)
		bad := errfs.Wrap(disk, errfs.Rule{Op: errfs.OpSyncDir, Glob: "default", Nth: n, Err: syscall.EIO})
		o, err := restore(t.Context(), handle(t, dir, options(bad)), bad)
		if len(bad.Injected()) == 0 {
			break
		}
		if !errors.Is(err, fsx.ErrInPlace) || o.old == (home.Current{}) {
			continue
		}
		doubted = true
		c, err := handle(t, dir, options(disk)).Current()
		if err != nil || c == first {
			t.Fatalf("got %+v, %v with CURRENT in place", c, err)
		}
		broken := errfs.Wrap(disk, errfs.Rule{Op: errfs.OpSyncDir, Err: syscall.EIO})
		must.Kind(t, "with the disk still broken", writeAck(t.Context(), handle(t, dir, options(broken)), broken), amber.KindInternal)
		a := handle(t, dir, options(disk))
		must.Do(t, writeAck(t.Context(), a, disk))
		for seed := range uint64(*seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, 0)))
			must.Equal(t, "generation", must.Get(handle(t, dir, options(after)).Current())(t), c)
		}
	}
	must.Hold(t, doubted, "no failed sync left CURRENT in doubt")
}

// TestRestoreWithEveryError fails every call of a restore in turn. It reports it, or has nothing to report
// because the agent is restored and safe; the agent is whole, and another restore goes through.
func TestRestoreWithEveryError(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		name string
		rule errfs.Rule
	}{
		{"broken disk", errfs.Rule{Err: syscall.EIO}},
		{"full disk", errfs.Rule{Err: syscall.ENOSPC, Written: 7}},
		{"failed sync of everything", errfs.Rule{Op: errfs.OpSyncAll, Err: syscall.EIO}},
		{"failed sync of a folder", errfs.Rule{Op: errfs.OpSyncDir, Err: syscall.EIO}},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			for n := 1; ; n++ {
				disk, first := madeDisk(t, dir)
				rule := fault.rule
				rule.Nth = n
				bad := errfs.Wrap(disk, rule)
				var o outcome
				a, err := openAgent(dir, options(bad))
				if err == nil {
					o, err = restore(t.Context(), a, bad)
				}
				if len(bad.Injected()) == 0 {
					if err != nil || n == 1 {
						t.Fatalf("without a fault, call %d: %v", n, err)
					}
					return
				}
				if err == nil && !o.removed || err != nil && !errors.Is(err, fault.rule.Err) {
					t.Errorf("got %+v, %v", o, err)
				}
				for seed := range uint64(max(1, *seeds/3)) {
					checkRestored(t, dir, disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n)))), first, o)
				}
				if t.Failed() {
					t.Fatalf("fault at call %d, %v", n, bad.Injected())
				}
			}
		})
	}
}

func TestBeginRestoreRefuses(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	a := handle(t, dir, options(nil))
	for _, from := range []string{"", " ", "two\nlines", strings.Repeat("x", 201)} {
		must.Fail(a.BeginRestore(t.Context(), from))(t, "from "+from, amber.KindInvalid)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(a.BeginRestore(ended, snapshotID))(t, "when the caller gave up", amber.KindUnreachable)
	none := handle(t, homeDir(t), options(nil))
	must.Fail(none.BeginRestore(t.Context(), snapshotID))(t, "no agent", amber.KindNotFound)
	must.Kind(t, "operate without a folder", none.Operate(t.Context(), func() error { return nil }), amber.KindNotFound)
	must.Kind(t, "settle without an agent", must.Err(none.Settle(t.Context())), "")
	must.Is(t, "note", must.Err(os.Lstat(filepath.Join(agentDir(dir), "RESTORING"))), fs.ErrNotExist)
}

func TestForkMakesAnAgentOfItsOwn(t *testing.T) {
	t.Parallel()
	dir, first := madeHome(t)
	h, _, err := home.Open(dir, options(nil))
	must.Do(t, err)
	a := must.Get(h.Agent(amber.DefaultTenant, "fork"))(t)
	forked := func() (home.Current, error) {
		return a.Fork(t.Context(), func(dir string, c home.Current) (amber.Stamp, error) {
			return later, buildLoosely(fsx.OS(), dir, c)
		})
	}
	c, err := forked()
	if err != nil || c.Generation != 1 || c.Device == first.Device || c.Clock != later {
		t.Fatalf("got %+v, %v", c, err)
	}
	checkBuilt(t, fsx.OS(), a, c)
	must.Fail(forked())(t, "a second fork", amber.KindConflict)
	must.Equal(t, "generation", must.Get(a.Current())(t), c)
}

// TestForkSurvivesAPowerCut cuts the power at every call: there is the whole agent, or none.
func TestForkSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	dir := lockedHome(t)
	for n := 1; ; n++ {
		disk := newDisk(t, dir, starts[0].make)
		before := disk.Calls()
		disk.StopAt(before + n)
		var c home.Current
		a, err := openAgent(dir, options(disk))
		if err == nil {
			c, err = a.Fork(t.Context(), func(dir string, c home.Current) (amber.Stamp, error) {
				return later, buildLoosely(disk, dir, c)
			})
		}
		for seed := range uint64(*seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			a := handle(t, dir, options(after))
			got, cerr := a.Current()
			switch {
			case cerr == nil:
				checkBuilt(t, after, a, got)
			case err == nil || amber.KindOf(cerr) != amber.KindNotFound:
				t.Errorf("cut at call %d, seed %d: %v", n, seed, cerr)
			}
			must.Hold(t, err != nil || got == c, "got %+v, acknowledged was %+v", got, c)
		}
		if disk.Calls() < before+n || t.Failed() {
			return
		}
	}
}

// TestRestoreIOOrder pins the order of writes, syncs and renames on the real file system.
func TestRestoreIOOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		run  func(ctx context.Context, a *home.Agent, fsys fsx.FS) error
	}{
		{"restore", func(ctx context.Context, a *home.Agent, fsys fsx.FS) error {
			_, err := restore(ctx, a, fsys)
			return err
		}},
		{"restore_abort", func(ctx context.Context, a *home.Agent, fsys fsx.FS) error {
			_, err := giveUp(ctx, a, fsys)
			return err
		}},
		{"restore_settle", func(ctx context.Context, a *home.Agent, _ fsx.FS) error { _, err := a.Settle(ctx); return err }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, _ := madeHome(t)
			var lines []string
			fsys := errfs.TraceRel(fsx.OS(), agentDir(dir), func(line string) { lines = append(lines, line) })
			a := handle(t, dir, options(fsys))
			lines = nil
			must.Do(t, tt.run(t.Context(), a, fsys))
			checkGolden(t, tt.name, strings.Join(append(lines, "= ok"), "\n")+"\n")
		})
	}
}

func TestPlacesOfAHome(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	h := must.Get(home.At(dir, options(nil)))(t)
	a := must.Get(h.Agent("acme", "bot"))(t)
	var got bytes.Buffer
	for _, path := range []string{h.RepoDir("acme"), h.KeysDir(), h.CacheDir(), a.ParkedDir(3)} {
		rel := must.Get(filepath.Rel(dir, path))(t)
		got.WriteString(filepath.ToSlash(rel) + "\n")
	}
	want := "tenants/acme/repo\nkeys\ncache\ntenants/acme/agents/bot/parked/3\n"
	must.Equal(t, "", got.String(), want)
	must.Is(t, "home", must.Err(os.Lstat(dir)), fs.ErrNotExist)
}

// TestSettleRemovesWhatAKilledWriterLeft leaves a half-written file among the generations, and nothing else.
func TestSettleRemovesWhatAKilledWriterLeft(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	left := filepath.Join(agentDir(dir), "gen", fsx.TempPrefix+"X")
	must.Do(t, os.WriteFile(left, []byte("half"), 0o600))
	must.Get(handle(t, dir, options(nil)).Settle(t.Context()))(t)
	must.Is(t, "folder", must.Err(os.Lstat(left)), fs.ErrNotExist)
}
