package snapshot_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

var cuts = flag.Int("snapshot.cuts", 2, "at how many calls of each operation it is cut, spread evenly; 0: at every one")

// prepared is a home on disk in which no process works. Its agent has lived on since its snapshots.
type prepared struct {
	dir       string
	snapshots []amber.SnapshotID // that stay
	extra     amber.SnapshotID   // one more
	then      everything         // what the first one holds
	now       everything
}

// newPrepared makes a prepared home. Besides the data that the tests compare, it contains journal
// entries that were not drained, a note that was edited by hand, and control-plane rows.
func newPrepared(t *testing.T) *prepared {
	t.Helper()
	w := newWorld(t)
	first := w.remember("the build needs Go 1.26")
	gone := w.remember("the password is swordfish")
	w.note("decisions/database", "SQLite, because it is one file.\n")
	w.state("extract_cursor", `{"at":7}`)
	w.say(1, "captured and not drained")
	p := &prepared{dir: w.dir}
	p.snapshots = append(p.snapshots, w.snapshot().ID)
	p.extra = w.snapshot().ID
	must.Get(w.store.Erase(t.Context(), gone))(t)
	p.then = w.all() // what was erased stays erased
	w.remember("something newer")
	must.Do(t, w.store.Delete(t.Context(), first))
	w.note("later", "added later\n")
	w.state("last_consolidation", `{"run":1}`)
	p.snapshots = append(p.snapshots, w.snapshot().ID)
	w.remember("in no snapshot yet")
	w.note("later", "edited later\n")
	w.state("extract_cursor", `{"at":8}`)
	w.say(2, "neither captured nor drained")
	p.now = w.all()
	must.Do(t, w.store.Close())
	return p
}

// say puts an entry into the journal, as a hook does.
func (w *world) say(n int, text string) {
	w.t.Helper()
	w.hostEvent(journal.Session{Host: "claude-code", ID: "s-1"}, n, text)
}

// copied returns a copy of a home.
func (p *prepared) copied(t *testing.T) string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "home")
	copyTree(t, p.dir, dst)
	return dst
}

func copyTree(t *testing.T, src, dst string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		if d.IsDir() {
			return os.Mkdir(to, info.Mode().Perm())
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, info.Mode().Perm())
	}))
}

// openQuickly opens a home on any disk, one that is not told to sync say.
func openQuickly(t *testing.T, dir string, fsys fsx.FS) *world {
	t.Helper()
	w := &world{t: t, dir: dir}
	a := newActor(t.Context(), t, dir, fsys)
	w.home, w.engine = a.home, a.engine
	w.agent = must.Get(w.home.Agent("default", "default"))(t)
	w.openStore()
	w.notes = must.Get(notes.New(notes.Options{Guard: snapshot.NotesGuard(w.agent), Clock: time.Now}))(t)
	return w
}

// actor is an engine as a process has it that may not live long.
type actor struct {
	ctx    context.Context
	home   *home.Home
	engine *snapshot.Engine
	shift  time.Duration // of its clock
}

func newActor(ctx context.Context, t *testing.T, dir string, fsys fsx.FS) *actor {
	t.Helper()
	p := &actor{ctx: ctx}
	clock := func() time.Time { return time.Now().Add(p.shift) }
	var err error
	if p.home, _, err = home.Open(dir, home.Options{Clock: clock, Random: rand.Reader, FS: fsys}); err != nil {
		t.Fatal(err)
	}
	p.engine = must.Get(snapshot.New(snapshot.Options{Home: p.home, Clock: clock, Random: rand.Reader, FS: fsys}))(t)
	return p
}

// deed is an operation that is cut. It returns what was acknowledged: a
// snapshot that is there, one that is gone.
type deed struct {
	name     string
	restores bool
	do       func(p *actor, about *prepared) (made amber.SnapshotID, gone []amber.SnapshotID, err error)
}

var deeds = []deed{
	{name: "create", do: func(p *actor, _ *prepared) (amber.SnapshotID, []amber.SnapshotID, error) {
		meta, err := p.engine.Snapshot(p.ctx, wire.SnapshotRequest{Tenant: "default", Agent: "default", Pin: true})
		return meta.ID, nil, err
	}},
	{name: "restore", restores: true, do: func(p *actor, about *prepared) (amber.SnapshotID, []amber.SnapshotID, error) {
		report, err := p.engine.Restore(p.ctx, wire.RestoreRequest{SnapshotRef: ref(about.snapshots[0])})
		return report.SafetySnapshot, nil, err
	}},
	{name: "delete", do: func(p *actor, about *prepared) (amber.SnapshotID, []amber.SnapshotID, error) {
		return "", []amber.SnapshotID{about.extra}, p.engine.DeleteSnapshot(p.ctx, ref(about.extra))
	}},
	{name: "prune and gc", do: func(p *actor, about *prepared) (amber.SnapshotID, []amber.SnapshotID, error) {
		for _, id := range about.snapshots {
			if err := p.engine.PinSnapshot(p.ctx, ref(id), true); err != nil {
				return "", nil, err
			}
		}
		report, err := p.engine.PruneSnapshots(p.ctx, wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1})
		for range 3 {
			if err == nil {
				_, err = p.engine.CollectGarbage(p.ctx, wire.GCRequest{Tenant: "default"})
			}
			p.shift += 2 * snapshot.DefaultGrace
		}
		return "", report.Deleted, err
	}},
}

// eachCut runs a deed once to count its calls, and then once for every call at
// which it is cut. The name of a subtest is the call.
func eachCut(t *testing.T, d deed, full bool, about *prepared) {
	whole := newMortal(0, nil)
	if _, _, err := d.do(newActor(t.Context(), t, about.copied(t), whole), about); err != nil {
		t.Fatalf("not cut: %v", err)
	}
	calls, _ := whole.reached()
	for at := range cutsOf(t, calls) {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			dir := about.copied(t)
			var made amber.SnapshotID
			var gone []amber.SnapshotID
			err := cutAt(t, dir, at, full, func(p *actor) (err error) {
				made, gone, err = d.do(p, about)
				return err
			})
			if full && err != nil {
				wantFull(t, err)
			}
			aftermath(t, dir, newMortal(0, nil), d, about, made, gone, err)
		})
	}
}

// cutsOf returns at which of so many calls an operation is cut.
func cutsOf(t *testing.T, calls int) iter.Seq[int] {
	step := 1
	if *cuts > 0 {
		step = max(1, calls / *cuts)
	}
	t.Logf("%d calls, cut at every %d.", calls, step)
	return func(yield func(int) bool) {
		for at := 1 + step/2; at <= calls && yield(at); at += step {
		}
	}
}

// cutAt runs an operation that is killed at a call, or finds the disk full from
// there on.
func cutAt(t *testing.T, dir string, at int, full bool, do func(*actor) error) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := newMortal(at, cancel)
	if m.full = full; full {
		m.die = nil
	}
	err := do(newActor(ctx, t, dir, m))
	if _, dead := m.reached(); err != nil && !dead {
		t.Fatalf("it failed before it was cut: %v", err)
	}
	return err
}

// wantFull checks how a full disk is told.
func wantFull(t *testing.T, err error) {
	t.Helper()
	if kind := amber.KindOf(err); kind != amber.KindQuota && kind != amber.KindInternal {
		t.Errorf("a full disk is of kind %s: %v", kind, err)
	}
	must.Hold(t, strings.Contains(err.Error(), syscall.ENOSPC.Error()), "the error does not say that the disk is full: %v", err)
	if e, ok := errors.AsType[*amber.Error](err); !ok || e.Op == "" {
		t.Errorf("the error does not say what was being done: %v", err)
	}
}

// aftermath opens what a dead process has left: the agent is the old one or the
// new one, what was acknowledged is true, everything verifies, and life goes on.
func aftermath(t *testing.T, dir string, fsys fsx.FS, d deed, about *prepared, made amber.SnapshotID, gone []amber.SnapshotID, err error) {
	t.Helper()
	w := openQuickly(t, dir, fsys)
	defer w.store.Close()
	got := w.all()
	switch isNew, isOld := cmp.Equal(about.then, got), cmp.Equal(about.now, got); {
	case d.restores && isNew:
	case d.restores && isOld && err == nil:
		t.Fatal("the restore was acknowledged, and the old agent is live")
	case !isOld:
		t.Fatalf("the agent is neither the old one (-old +got):\n%s\nnor, after a restore, the new one:\n%s", cmp.Diff(about.now, got), cmp.Diff(about.then, got))
	}
	there := w.verifyAll()
	for _, id := range about.snapshots {
		must.Hold(t, there[id], "snapshot %s is lost", id)
	}
	if err == nil && made != "" && !there[made] {
		t.Errorf("snapshot %s was acknowledged and is not there", made)
	}
	for _, id := range gone {
		if err == nil && there[id] {
			t.Errorf("snapshot %s was deleted and is there", id)
		}
	}
	w.mustCheck()
	w.collect(fsys)
	w.mustHaveNoOrphans(fsys)
	w.mustBe(got)
	w.mustLiveOn()
	w.collect(fsys)
	if r := w.mustCheck(); 2*r.Unused > r.Bytes { // a pack is written anew when half of it is unused
		t.Errorf("after gc %d of %d bytes are unused", r.Unused, r.Bytes)
	}
	w.mustBeTidy(fsys)
}

// verifyAll verifies every snapshot there is, and returns which.
func (w *world) verifyAll() map[amber.SnapshotID]bool {
	w.t.Helper()
	there := map[amber.SnapshotID]bool{}
	for _, m := range w.list() {
		there[m.ID] = true
		w.mustVerify(m.ID)
	}
	return there
}

// collect collects garbage, once to condemn and once, when the grace time is
// over, to delete.
func (w *world) collect(fsys fsx.FS) {
	w.t.Helper()
	p := newActor(w.t.Context(), w.t, w.dir, fsys)
	for range 3 {
		p.shift += 2 * snapshot.DefaultGrace
		report := must.Get(p.engine.CollectGarbage(p.ctx, wire.GCRequest{Tenant: "default"}))(w.t)
		if report.InUse {
			w.t.Fatal("the repository is in use: a lock was left behind")
		}
	}
}

// mustLiveOn takes a snapshot, changes the agent and restores it.
func (w *world) mustLiveOn() {
	w.t.Helper()
	w.remember("life goes on")
	w.note("life", "goes on\n")
	w.state("last_consolidation", `{"run":2}`)
	want := w.all()
	meta := w.snapshot()
	w.remember("and on")
	w.note("life", "and on\n")
	w.restore(meta.ID)
	w.mustBe(want)
	w.mustVerify(meta.ID)
}

// mustHaveNoOrphans fails where leftovers take space: folders that were being built, generations
// that are not live, and temporary files of the repository.
func (w *world) mustHaveNoOrphans(fsys fsx.FS) {
	w.t.Helper()
	live := filepath.Base(w.gen())
	w.walk(fsys, func(dir, base string) bool {
		parent := filepath.Base(dir)
		return parent == "scratch" || base == "RESTORING" || base == "CREATING" || strings.HasSuffix(base, ".removing") ||
			parent == "gen" && base != live && !strings.HasPrefix(base, fsx.TempPrefix) ||
			strings.HasPrefix(base, fsx.TempPrefix) && strings.HasPrefix(dir, repoDir(w.dir))
	})
}

// mustBeTidy looks for everything that an operation that died might have left.
func (w *world) mustBeTidy(fsys fsx.FS) {
	w.t.Helper()
	w.mustHaveNoOrphans(fsys)
	w.walk(fsys, func(dir, base string) bool {
		return strings.HasPrefix(base, fsx.TempPrefix) || strings.HasPrefix(base, "amber-git-") ||
			strings.HasSuffix(filepath.ToSlash(dir), ".git/refs/amber")
	})
}

// walk looks at everything in a home.
func (w *world) walk(fsys fsx.FS, left func(dir, base string) bool) {
	w.t.Helper()
	var folder func(dir string)
	folder = func(dir string) {
		for _, e := range must.Get(fsys.ReadDir(dir))(w.t) {
			if left(dir, e.Name()) {
				w.t.Errorf("%s is left", filepath.Join(dir, e.Name()))
			}
			if e.IsDir() {
				folder(filepath.Join(dir, e.Name()))
			}
		}
	}
	folder(w.dir)
}

// TestKilledOperationsLeaveTheOldAgentOrTheNewOne kills every operation at its
// writes, syncs, links, renames and removals. What SQLite and git do counts as
// one step each.
func TestKilledOperationsLeaveTheOldAgentOrTheNewOne(t *testing.T) {
	t.Parallel()
	about := newPrepared(t)
	for _, d := range deeds {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			eachCut(t, d, false, about)
		})
	}
}

// TestAFullDiskLeavesTheOldAgentOrTheNewOne fills the disk at every step of
// what needs space. It stays full until the operation has ended.
func TestAFullDiskLeavesTheOldAgentOrTheNewOne(t *testing.T) {
	t.Parallel()
	about := newPrepared(t)
	for _, d := range deeds[:2] {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			eachCut(t, d, true, about)
		})
	}
}
