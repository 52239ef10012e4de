package snapshot_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/fsx/crashfs"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

// git runs git on the live notes.
func (w *world) git(args ...string) string {
	w.t.Helper()
	c := exec.CommandContext(w.t.Context(), "git", append([]string{"-C", filepath.Join(w.gen(), "memdir"), "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// put writes a file below the live notes by hand.
func (w *world) put(name, text string, perm os.FileMode) {
	w.t.Helper()
	path := filepath.Join(w.gen(), "memdir", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), perm); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(path, perm); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) show(id amber.SnapshotID) amber.SnapshotDetail {
	w.t.Helper()
	d, err := w.engine.ShowSnapshot(w.t.Context(), ref(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) list() []amber.SnapshotMeta {
	w.t.Helper()
	page, err := w.engine.ListSnapshots(w.t.Context(), amber.SnapshotQuery{Tenant: "default", Agent: "default", Limit: amber.MaxPageSize})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

// part finds a part of a snapshot.
func part(d amber.SnapshotDetail, name string) *amber.SnapshotPart {
	for i := range d.Parts {
		if d.Parts[i].Name == name {
			return &d.Parts[i]
		}
	}
	return nil
}

// skipped returns why a path was skipped, "" when it was not.
func skipped(list []amber.Skipped, path string) string {
	for _, s := range list {
		if s.Path == path {
			return s.Reason
		}
	}
	return ""
}

func wantKind(t *testing.T, what string, err error, want amber.Kind) {
	t.Helper()
	if got := amber.KindOf(err); got != want {
		t.Errorf("%s: kind %q, want %q: %v", what, got, want, err)
	}
}

// Both databases are captured from where they really are, and one that is
// missing is told, never passed over.
func TestDefectB1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("in memory.db")
	if _, err := w.store.SaveTask(t.Context(), amber.Task{ID: "t", Goal: "in control.db", State: amber.TaskQueued}, 0); err != nil {
		t.Fatal(err)
	}
	meta := w.snapshot()
	d := w.show(meta.ID)
	for _, name := range []string{"memory", "control"} {
		if p := part(d, name); p == nil || p.Count == 0 || p.Bytes == 0 || p.Schema == 0 {
			t.Errorf("part %s is %+v", name, p)
		}
	}
	if len(meta.Skipped) > 0 || len(meta.Warnings) > 0 {
		t.Errorf("skipped %v, warnings %v", meta.Skipped, meta.Warnings)
	}
	all, tasks := w.all(), w.tasks()
	w.remember("later")
	if _, err := w.store.SaveTask(t.Context(), amber.Task{ID: "u", Goal: "later", State: amber.TaskQueued}, 0); err != nil {
		t.Fatal(err)
	}
	w.restore(meta.ID, func(r *amber.RestoreRequest) { r.WithControl = true })
	w.mustBe(all)
	if diff := cmp.Diff(tasks, w.tasks()); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}

	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(w.gen(), "control.db"+suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	meta = w.snapshot()
	if skipped(meta.Skipped, "control.db") == "" || len(meta.Warnings) == 0 {
		t.Errorf("control.db is missing; skipped is %v, warnings are %q", meta.Skipped, meta.Warnings)
	}
	if p := part(w.show(meta.ID), "control"); p != nil {
		t.Errorf("control.db is missing, and the snapshot says it holds %+v", p)
	}
}

// Runtime state is captured and comes back through the contract that wrote it,
// also to a handle that was open all the time. A document that the snapshot does
// not hold is gone afterwards, and a revision of before the restore is refused.
func TestDefectB2(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	docs := w.store.Parts().Documents
	w.state(amber.StateExtractCursor, `{"at":7}`)
	w.state(amber.StateLastConsolidation, `{"run":1}`)
	meta := w.snapshot()
	if got := part(w.show(meta.ID), "state"); got == nil || got.Count != 2 {
		t.Errorf("the state is %+v, want two documents", got)
	}
	w.state(amber.StateExtractCursor, `{"at":8}`)
	w.state("later", `{}`)
	stale, err := docs.ReadDocument(t.Context(), amber.StateExtractCursor)
	if err != nil {
		t.Fatal(err)
	}
	w.restore(meta.ID)
	want := map[string]string{amber.StateExtractCursor: `{"at":7}`, amber.StateLastConsolidation: `{"run":1}`}
	if diff := cmp.Diff(want, w.all().State); diff != "" {
		t.Errorf("the state (-want +got):\n%s", diff)
	}
	_, err = docs.PutDocument(t.Context(), amber.DocumentWrite{Name: stale.Name, Document: []byte(`{"at":9}`), IfRevision: stale.Revision})
	wantKind(t, "write over a revision that the restore took away", err, amber.KindConflict)
	if got, err := docs.ReadDocument(t.Context(), amber.StateExtractCursor); err != nil || string(got.Document) != `{"at":7}` {
		t.Errorf("the handle that was open reads %s, %v", got.Document, err)
	}
}

// A damaged snapshot is refused before anything of the live agent is touched.
func TestDefectB4(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("the build needs Go 1.26")
	w.note("a", "one\n")
	meta := w.snapshot()
	w.remember("later")
	before, gen, count := w.all(), w.gen(), len(w.list())
	for _, o := range objects(t, w.dir) {
		if !strings.HasPrefix(filepath.ToSlash(o.path), "packs/") {
			continue
		}
		path := filepath.Join(repoDir(w.dir), o.path)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 128; at < len(b)/2; at += len(b) / 16 { // behind the header
			b[at] ^= 0x10
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := w.engine.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(meta.ID)})
			wantKind(t, fmt.Sprintf("restore with byte %d changed", at), err, amber.KindDamaged)
			b[at] ^= 0x10
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if w.gen() != gen || len(w.list()) != count {
		t.Errorf("refused restores left generation %s and %d snapshots", w.gen(), len(w.list()))
	}
	w.mustBe(before)
	w.restore(meta.ID)
}

// Whoever captures and restores looks where the store writes: there is one
// layout, and two engines of different processes agree on it.
func TestDefectB5(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("written by the daemon")
	w.note("a", "one\n")
	w.state("extract_cursor", `{"at":7}`)
	want := w.all()
	meta := w.snapshot()

	for _, path := range []string{"memory.db", "control.db", "memdir/a.md", "state/extract_cursor.json"} {
		if _, err := os.Stat(filepath.Join(w.gen(), filepath.FromSlash(path))); err != nil {
			t.Errorf("the store does not write where snapshots look: %v", err)
		}
	}
	w.remember("later")
	w.note("a", "two\n")
	live := w.all()
	other := newActor(t.Context(), t, w.dir, fsx.OS()) // the command line
	report, err := other.engine.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(meta.ID)})
	if err != nil {
		t.Fatal(err)
	}
	w.mustBe(want)
	w.restore(report.SafetySnapshot)
	w.mustBe(live)
	if _, _, err := home.Open("state", home.Options{Clock: time.Now, Random: rand.Reader}); err == nil {
		t.Error("a home relative to the working folder was opened")
	}
}

// Rows that are only in the write-ahead log of the old database do not come
// back, and a process that has it open writes to the new one.
func TestDefectB7(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("before")
	want := w.all()
	meta := w.snapshot()
	for i := range 300 {
		w.remember(fmt.Sprint("after, number ", i))
	}
	log := filepath.Join(w.gen(), "memory.db-wal")
	if info, err := os.Stat(log); err != nil || info.Size() == 0 {
		t.Fatalf("there is no log to be replayed: %v", err)
	}
	w.restore(meta.ID)
	w.mustBe(want)
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old log is still there: %v", err)
	}
	id := w.remember("written by a store that was open all the time")
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	w.openStore()
	if _, err := w.store.Get(t.Context(), id); err != nil {
		t.Errorf("it went to the old database: %v", err)
	}
	if got := len(w.all().Memories); got != 2 {
		t.Errorf("there are %d memories, want 2", got)
	}
	w.mustVerify(w.snapshot().ID)
}

// Restoring the notes does not take the databases away, large ones neither, nor
// the other way round.
func TestDefectB8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := fmt.Sprintf(`"%x"`, noise(256<<10))
	for i := range 10 {
		task := amber.Task{ID: fmt.Sprint("t", i), Goal: "grow", State: amber.TaskQueued, Extra: []byte(large)}
		if _, err := w.store.SaveTask(t.Context(), task, 0); err != nil {
			t.Fatal(err)
		}
	}
	w.remember("one")
	tasks := w.tasks()
	w.note("a", "one\n")
	first := w.all()
	meta := w.snapshot()
	if got := part(w.show(meta.ID), "control"); got == nil || got.Bytes < 4<<20 {
		t.Fatalf("the control plane is %+v, which is not large", got)
	}
	w.note("a", "two\n")
	w.remember("later")
	later := w.all()

	w.restore(meta.ID, func(r *amber.RestoreRequest) { r.Only = []string{amber.PartNotes} })
	w.mustBe(everything{later.Memories, first.Notes, later.State, first.Log})
	w.note("a", "three\n")
	third := w.all()
	w.restore(meta.ID, func(r *amber.RestoreRequest) { r.Only = []string{amber.PartMemory} })
	w.mustBe(everything{first.Memories, third.Notes, third.State, third.Log})
	w.restore(meta.ID, func(r *amber.RestoreRequest) { r.WithControl = true })
	w.mustBe(first)
	if diff := cmp.Diff(tasks, w.tasks()); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	w.mustCheck()
}

// The same snapshot can be restored again and again.
func TestDefectB9(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	w.note("a", "one\n")
	want := w.all()
	meta := w.snapshot()
	for i := range 3 {
		w.remember(fmt.Sprint("life ", i))
		w.note("a", fmt.Sprint(i, "\n"))
		report := w.restore(meta.ID)
		w.mustBe(want)
		if report.Generation != int64(i+2) {
			t.Errorf("restore %d made generation %d", i+1, report.Generation)
		}
		w.mustVerify(report.SafetySnapshot)
	}
	w.mustBeTidy(fsx.OS())
}

// A history whose refs are packed comes back as a repository that git opens.
func TestDefectB10(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	w.note("a", "two\n")
	w.git("tag", "v1")
	w.git("gc", "--quiet")
	w.git("pack-refs", "--all", "--prune")
	if found, _ := filepath.Glob(filepath.Join(w.gen(), "memdir", ".git", "refs", "heads", "*")); len(found) > 0 {
		t.Fatalf("%v are not packed", found)
	}
	head, want := w.git("rev-parse", "HEAD"), w.all()
	meta := w.snapshot()
	if meta.GitOID != head {
		t.Errorf("the snapshot says HEAD is %q, it is %s", meta.GitOID, head)
	}
	w.note("a", "three\n")
	w.restore(meta.ID)
	w.mustBe(want)
	if got := w.git("rev-parse", "HEAD", "v1"); got != head+"\n"+head {
		t.Errorf("HEAD and the tag are %q, want %s twice", got, head)
	}
	w.git("fsck", "--strict")
	w.note("a", "and on\n")
}

// pause stops an engine the first time it reports a step, until it is told to
// go on.
type pause struct {
	step    string
	once    sync.Once
	reached chan struct{}
	resume  chan struct{}
}

func newPause(step string) *pause {
	return &pause{step: step, reached: make(chan struct{}), resume: make(chan struct{})}
}

func (p *pause) progress(step string, _, _ int64) {
	if strings.HasPrefix(step, p.step) {
		p.once.Do(func() {
			close(p.reached)
			<-p.resume
		})
	}
}

// during runs op, and runs fn when op has reached the step. Both are over when
// it returns.
func (p *pause) during(t *testing.T, op func() error, fn func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- op() }()
	select {
	case <-p.reached:
		func() {
			defer close(p.resume)
			fn()
		}()
	case err := <-done:
		t.Fatalf("it ended without the step %q: %v", p.step, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Neither gc nor the sweep of what was left behind touches what a running
// snapshot or restore relies on, however old it looks.
func TestDefectB11(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"capture memory.db", "read back"} {
		t.Run("snapshot, "+step, func(t *testing.T) {
			t.Parallel()
			p := newPause(step)
			w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
			w.remember("one")
			w.note("a", "one\n")
			want := w.all()
			var meta amber.SnapshotMeta
			p.during(t, func() (err error) {
				meta, err = w.engine.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "default"})
				return err
			}, func() { sweepHard(t, w.dir) })
			w.mustVerify(meta.ID)
			w.mustCheck()
			w.remember("two")
			w.restore(meta.ID)
			w.mustBe(want)
		})
	}
	t.Run("restore", func(t *testing.T) {
		t.Parallel()
		p := newPause("write memory.db")
		w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
		w.remember("one")
		want := w.all()
		meta := w.snapshot()
		w.remember("two")
		p.during(t, func() error {
			_, err := w.engine.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(meta.ID)})
			return err
		}, func() {
			building := filepath.Join(w.agent.Dir(), "gen", "2")
			if _, err := os.Stat(building); err != nil {
				t.Errorf("nothing is being built: %v", err)
			}
			sweepHard(t, w.dir)
			if _, err := os.Stat(building); err != nil {
				t.Errorf("it was swept: %v", err)
			}
		})
		w.mustBe(want)
		w.mustCheck()
	})
	t.Run("verify", func(t *testing.T) {
		t.Parallel()
		p := newPause("write memory.db")
		w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
		w.remember("one")
		meta := w.snapshot()
		p.during(t, func() error {
			r, err := w.engine.VerifySnapshot(t.Context(), amber.VerifyRequest{SnapshotRef: ref(meta.ID), ReadData: true})
			if err == nil && !r.OK() {
				err = fmt.Errorf("damaged: %v", r.Damaged)
			}
			return err
		}, func() { sweepHard(t, w.dir) })
	})
}

// sweepHard collects garbage as another process whose clock runs days ahead.
func sweepHard(t *testing.T, dir string) {
	t.Helper()
	a := newActor(t.Context(), t, dir, newMortal(0, nil))
	for range 3 {
		a.shift += 10 * snapshot.DefaultGrace
		report, err := a.engine.CollectGarbage(a.ctx, amber.GCRequest{Tenant: "default"})
		if err != nil {
			t.Errorf("gc: %v", err)
		}
		if !report.InUse || report.Deleted > 0 {
			t.Errorf("gc beside a running operation: %+v", report)
		}
	}
}

// meddling changes a file whenever it is opened for reading.
type meddling struct {
	fsx.FS
	name   string
	mu     sync.Mutex
	times  int // how often; it is left alone then
	meddle func(path string, n int)
}

func (m *meddling) OpenFile(name string, flag int, perm os.FileMode) (fsx.File, error) {
	f, err := m.FS.OpenFile(name, flag, perm)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && filepath.Base(name) == m.name && m.times > 0 {
		m.times--
		m.meddle(name, m.times)
	}
	return f, err
}

// A file that changes or vanishes while it is read is captured whole or not at
// all, and the snapshot says which.
func TestDefectB13(t *testing.T) {
	t.Parallel()
	grow := func(t *testing.T) func(string, int) {
		return func(path string, n int) {
			if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprint("version ", n, "\n"), 100+n)), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	whole := func(text string) bool {
		first, _, _ := strings.Cut(text, "\n")
		return strings.Count(text, first+"\n")*len(first+"\n") == len(text)
	}
	for _, tt := range []struct {
		name  string
		times int
		skip  string // why it is skipped; "": it is not
	}{
		{"changed once", 1, ""},
		{"changed twice", 2, ""},
		{"never at rest", 1000, amber.SkipTorn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &meddling{FS: fsx.OS(), name: "busy.md", times: tt.times, meddle: grow(t)}
			w := newWorld(t, func(o *snapshot.Options) { o.FS = m })
			w.note("still", "never changes\n")
			w.put("busy.md", "version 0\n", 0o600)
			meta := w.snapshot()
			if got := skipped(meta.Skipped, "busy.md"); got != tt.skip {
				t.Errorf("skipped is %q, want %q: %v", got, tt.skip, meta.Skipped)
			}
			w.mustVerify(meta.ID)
			m.mu.Lock()
			m.times = 0
			m.mu.Unlock()
			w.restore(meta.ID)
			text, captured := w.all().Notes["busy"]
			if captured != (tt.skip == "") || captured && !whole(text) {
				t.Errorf("captured %v, %q", captured, text)
			}
			if w.all().Notes["still"] != "never changes\n" {
				t.Error("the other note is gone")
			}
		})
	}
	t.Run("vanished", func(t *testing.T) {
		t.Parallel()
		m := &meddling{FS: fsx.OS(), name: "busy.md", times: 1, meddle: func(path string, _ int) { _ = os.Remove(path) }}
		w := newWorld(t, func(o *snapshot.Options) { o.FS = m })
		w.note("still", "never changes\n")
		w.put("busy.md", "version 0\n", 0o600)
		meta := w.snapshot()
		w.mustVerify(meta.ID)
		w.restore(meta.ID)
	})
}

// A lock that git has left is not restored, and does not keep the notes from
// being captured.
func TestDefectB14(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	want := w.all()
	for _, lock := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"} {
		w.put(".git/"+lock, "", 0o600)
	}
	meta := w.snapshot()
	w.mustVerify(meta.ID)
	w.restore(meta.ID)
	w.mustBe(want)
	locks, err := filepath.Glob(filepath.Join(w.gen(), "memdir", ".git", "*.lock"))
	if err != nil || len(locks) > 0 {
		t.Errorf("%v, %v", locks, err)
	}
	w.note("a", "two\n")
	w.git("commit", "--allow-empty", "-m", "by hand")
}

// An agent that does not exist is an error and leaves no trace.
func TestDefectB18(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	for _, r := range []amber.SnapshotRequest{
		{Tenant: "default", Agent: "defualt"},
		{Tenant: "defualt", Agent: "default"},
	} {
		_, err := w.engine.Snapshot(t.Context(), r)
		wantKind(t, fmt.Sprint(r), err, amber.KindNotFound)
	}
	_, err := w.engine.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "default", Sources: []string{"nexo"}})
	wantKind(t, "a source that is not configured", err, amber.KindNotFound)
	for _, path := range []string{"tenants/defualt", "tenants/default/agents/defualt", "tenants/default/repo"} {
		if _, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(path))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", path, err)
		}
	}
	if got := w.list(); len(got) > 0 {
		t.Errorf("listed is %v", got)
	}
}

// What is captured comes back as it was, large files, empty folders and
// permissions to execute too; what is not is listed.
func TestDefectB19(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	large := fmt.Sprintf("%x", noise(3<<20)) // 6 MiB
	w.put("large.txt", large, 0o600)
	w.put("tools/run.sh", "#!/bin/sh\n", 0o700)
	dir := filepath.Join(w.gen(), "memdir")
	if err := os.MkdirAll(filepath.Join(dir, "empty", "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("on Windows only some users may make links: %v", err)
		}
		t.Fatal(err)
	}
	meta := w.snapshot()
	if got := skipped(meta.Skipped, "link"); got != amber.SkipNotRegular {
		t.Errorf("the link is listed as %q: %v", got, meta.Skipped)
	}
	if diff := cmp.Diff(meta.Skipped, w.show(meta.ID).Skipped); diff != "" || len(meta.Skipped) != 1 {
		t.Errorf("the manifest lists other things (-told +manifest):\n%s", diff)
	}
	if err := os.RemoveAll(filepath.Join(dir, "tools")); err != nil {
		t.Fatal(err)
	}
	w.restore(meta.ID)
	dir = filepath.Join(w.gen(), "memdir")
	if b, err := os.ReadFile(filepath.Join(dir, "large.txt")); err != nil || string(b) != large {
		t.Errorf("the large file has %d bytes, %v", len(b), err)
	}
	if info, err := os.Stat(filepath.Join(dir, "tools", "run.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "empty", "inside")); err != nil || !info.IsDir() {
		t.Errorf("the empty folder: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "link")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link came back: %v", err)
	}
}

// While a snapshot stores what it holds, its own agent's writers and other
// agents go on.
func TestDefectB20(t *testing.T) {
	t.Parallel()
	p := newPause("capture memory.db")
	w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
	w.remember("one")
	want := w.all()
	agent, err := w.home.Agent("default", "other")
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var meta amber.SnapshotMeta
	p.during(t, func() (err error) {
		meta, err = w.engine.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "default"})
		return err
	}, func() {
		w.remember("written meanwhile")
		w.note("meanwhile", "written\n")
		if _, err := store.Write(t.Context(), amber.WriteRequest{Content: "of another agent", Scope: amber.ScopeGlobal}); err != nil {
			t.Error(err)
		}
		other := newActor(t.Context(), t, w.dir, fsx.OS())
		if _, err := other.engine.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "other"}); err != nil {
			t.Errorf("a snapshot of another agent: %v", err)
		}
	})
	after := w.all()
	if len(after.Memories) != 2 || len(after.Notes) != 1 {
		t.Errorf("what was written meanwhile is %v", after)
	}
	w.restore(meta.ID)
	w.mustBe(want) // as it was at the fence
}

// A mistaken restore leaves no safety snapshot; the snapshot that is being
// restored cannot be deleted; and what is acknowledged while a restore runs is
// in the agent or in the safety snapshot.
func TestDefectB21(t *testing.T) {
	t.Parallel()
	t.Run("mistaken", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.remember("one")
		meta := w.snapshot()
		for what, r := range map[string]amber.RestoreRequest{
			"unknown":             {SnapshotRef: ref("0193c5a8-0000-7000-8000-000000000000")},
			"no id":               {SnapshotRef: ref("latest")},
			"fork onto itself":    {SnapshotRef: amber.SnapshotRef{Tenant: "default", Agent: "other", ID: meta.ID}, To: "default"},
			"of another agent":    {SnapshotRef: amber.SnapshotRef{Tenant: "default", Agent: "other", ID: meta.ID}},
			"parts that are none": {SnapshotRef: ref(meta.ID), Only: []string{"everything"}},
		} {
			if _, err := w.engine.Restore(t.Context(), r); err == nil {
				t.Errorf("%s: restored", what)
			} else if kind := amber.KindOf(err); kind == amber.KindInternal {
				t.Errorf("%s: %v", what, err)
			}
		}
		if got := w.list(); len(got) != 1 {
			t.Errorf("mistakes left %d snapshots", len(got))
		}
	})
	t.Run("deleted meanwhile", func(t *testing.T) {
		t.Parallel()
		p := newPause("write memory.db")
		w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
		w.remember("one")
		want := w.all()
		meta := w.snapshot()
		w.remember("two")
		w.snapshot()
		p.during(t, func() error {
			_, err := w.engine.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(meta.ID)})
			return err
		}, func() {
			ctx, cancel := context.WithCancel(t.Context())
			impatient := newImpatient(t, w.dir)
			defer cancel()
			wantKind(t, "delete", impatient.DeleteSnapshot(ctx, ref(meta.ID)), amber.KindBusy)
			_, err := impatient.PruneSnapshots(ctx, amber.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1})
			wantKind(t, "prune", err, amber.KindBusy)
			_, err = impatient.Snapshot(ctx, amber.SnapshotRequest{Tenant: "default", Agent: "default"})
			wantKind(t, "snapshot", err, amber.KindBusy)
		})
		w.mustBe(want)
	})
	t.Run("written meanwhile", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.remember("one")
		meta := w.snapshot()
		stop := make(chan struct{})
		acked := make(chan []amber.MemoryID, 1)
		go func() {
			var ids []amber.MemoryID
			defer func() { acked <- ids }()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				ack, err := w.store.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("write ", i), Scope: amber.ScopeGlobal})
				if err != nil {
					t.Errorf("write %d: %v", i, err)
					return
				}
				ids = append(ids, ack.Memory.ID)
			}
		}()
		report := w.restore(meta.ID)
		close(stop)
		ids := <-acked
		live := w.all().Memories
		view, err := w.engine.At(t.Context(), ref(report.SafetySnapshot))
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		for _, id := range ids {
			if _, ok := live[id]; ok {
				continue
			}
			if _, err := view.Get(t.Context(), id); err != nil {
				t.Errorf("%s was acknowledged and is lost: %v", id, err)
			}
		}
	})
}

// newImpatient returns an engine that waits for nobody.
func newImpatient(t *testing.T, dir string) *snapshot.Engine {
	t.Helper()
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader, Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	e, err := snapshot.New(snapshot.Options{Home: h, Clock: time.Now, Random: rand.Reader, Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What was acknowledged is there after a power cut, in every way the cut may go.
func TestDefectB24(t *testing.T) {
	t.Parallel()
	about := newPrepared(t)
	disk, dir := about.divided(t), about.copied(t)
	a := newActor(t.Context(), t, dir, newSplit(dir, disk, func() {}))
	meta, err := a.engine.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "default"})
	if err != nil {
		t.Fatal(err)
	}
	report, err := a.engine.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(about.snapshots[0])})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(8) {
		after := disk.CrashClone(mathrand.New(mathrand.NewPCG(seed, 24)))
		checkAcknowledged(t, dir, after, about, meta.ID, report.SafetySnapshot)
	}
}

func checkAcknowledged(t *testing.T, dir string, disk *crashfs.FS, about *prepared, want ...amber.SnapshotID) {
	t.Helper()
	w := openQuickly(t, dir, newSplit(dir, disk, func() {}))
	defer w.store.Close()
	w.mustBe(about.then)
	there := w.list()
	for _, id := range want {
		if !slices.ContainsFunc(there, func(m amber.SnapshotMeta) bool { return m.ID == id && m.Damage == "" }) {
			t.Errorf("snapshot %s is gone", id)
			continue
		}
		w.mustVerify(id)
	}
	w.mustCheck()
}
