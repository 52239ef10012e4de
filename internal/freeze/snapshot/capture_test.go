package snapshot_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// Both databases are captured from where they really are, and one that is
// missing is told, never passed over.
func TestAMissingDatabaseIsToldNotPassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("in memory.db")
	must.Get(w.store.SaveTask(t.Context(), amber.Task{ID: "t", Goal: "in control.db", State: amber.TaskQueued}, 0))(t)
	meta := w.snapshot()
	d := w.show(meta.ID)
	for _, name := range []string{"memory", "control"} {
		if p := part(d, name); p == nil || p.Count == 0 || p.Bytes == 0 || p.Schema == 0 {
			t.Errorf("part %s is %+v", name, p)
		}
	}
	must.Hold(t, len(meta.Skipped) == 0 && len(meta.Warnings) == 0, "skipped %v, warnings %v", meta.Skipped, meta.Warnings)
	all, tasks := w.all(), w.tasks()
	w.remember("later")
	must.Get(w.store.SaveTask(t.Context(), amber.Task{ID: "u", Goal: "later", State: amber.TaskQueued}, 0))(t)
	w.restore(meta.ID, func(r *wire.RestoreRequest) { r.WithControl = true })
	w.mustBe(all)
	must.Equal(t, "tasks", w.tasks(), tasks)

	must.Do(t, w.store.Close())
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(w.gen(), "control.db"+suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	meta = w.snapshot()
	if skipped(meta.Skipped, "control.db") == "" || len(meta.Warnings) == 0 {
		t.Errorf("control.db is missing; skipped is %v, warnings are %q", meta.Skipped, meta.Warnings)
	}
	must.Equal(t, "the part control without control.db", part(w.show(meta.ID), "control"), nil)
}

// Captures and restores look where the store writes: there is one layout, and two
// engines of different processes agree on it.
func TestTwoEnginesLookWhereTheStoreWrites(t *testing.T) {
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
	report := must.Get(other.engine.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: ref(meta.ID)}))(t)
	w.mustBe(want)
	w.restore(report.SafetySnapshot)
	w.mustBe(live)
	if _, _, err := home.Open("state", home.Options{Clock: time.Now, Random: rand.Reader}); err == nil {
		t.Error("a home relative to the working folder was opened")
	}
}

// A file that changes or vanishes while it is read is captured whole or not at
// all, and the snapshot says which.
func TestAFileThatChangesIsCapturedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	grow := func(t *testing.T) func(string, int) {
		return func(path string, n int) {
			must.NoError(t, os.WriteFile(path, []byte(strings.Repeat(fmt.Sprint("version ", n, "\n"), 100+n)), 0o600))
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
		{"never at rest", 1000, wire.SkipTorn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &meddling{FS: fsx.OS(), name: "busy.md", times: tt.times, meddle: grow(t)}
			w := newWorld(t, func(o *snapshot.Options) { o.FS = m })
			w.note("still", "never changes\n")
			w.put("busy.md", "version 0\n", 0o600)
			meta := w.snapshot()
			must.Equal(t, "reason busy.md was skipped", skipped(meta.Skipped, "busy.md"), tt.skip)
			w.mustVerify(meta.ID)
			m.mu.Lock()
			m.times = 0
			m.mu.Unlock()
			w.restore(meta.ID)
			text, captured := w.all().Notes["busy"]
			if captured != (tt.skip == "") || captured && !whole(text) {
				t.Errorf("captured %v, %q", captured, text)
			}
			must.Equal(t, "the other note", w.all().Notes["still"], "never changes\n")
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
func TestALockOfGitIsNotCaptured(t *testing.T) {
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
	if locks := must.Get(filepath.Glob(filepath.Join(w.gen(), "memdir", ".git", "*.lock")))(t); len(locks) > 0 {
		t.Errorf("%v", locks)
	}
	w.note("a", "two\n")
	w.git("commit", "--allow-empty", "-m", "by hand")
}

// An agent that does not exist is an error and leaves no trace.
func TestASnapshotOfNoAgentLeavesNoTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	for _, r := range []wire.SnapshotRequest{
		{Tenant: "default", Agent: "defualt"},
		{Tenant: "defualt", Agent: "default"},
	} {
		must.Fail(w.engine.Snapshot(t.Context(), r))(t, fmt.Sprint(r), amber.KindNotFound)
	}
	must.Fail(w.trySnapshot(withSource("nexo")))(t, "a source that is not configured", amber.KindNotFound)
	for _, path := range []string{"tenants/defualt", "tenants/default/agents/defualt", "tenants/default/repo"} {
		must.Is(t, path, must.Err(os.Lstat(filepath.Join(w.dir, filepath.FromSlash(path)))), os.ErrNotExist)
	}
	if got := w.list(); len(got) > 0 {
		t.Errorf("listed is %v", got)
	}
}

// Captured files come back as they were, also large files, empty folders and permissions to
// execute. The snapshot lists what it could not capture.
func TestFilesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	large := fmt.Sprintf("%x", noise(3<<20)) // 6 MiB
	w.put("large.txt", large, 0o600)
	w.put("tools/run.sh", "#!/bin/sh\n", 0o700)
	dir := filepath.Join(w.gen(), "memdir")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "empty", "inside"), 0o700))
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("on Windows only some users may make links: %v", err)
		}
		t.Fatal(err)
	}
	meta := w.snapshot()
	must.Equal(t, "reason the link was skipped", skipped(meta.Skipped, "link"), wire.SkipNotRegular)
	if diff := cmp.Diff(meta.Skipped, w.show(meta.ID).Skipped); diff != "" || len(meta.Skipped) != 1 {
		t.Errorf("the manifest lists other things (-told +manifest):\n%s", diff)
	}
	must.Do(t, os.RemoveAll(filepath.Join(dir, "tools")))
	w.restore(meta.ID)
	dir = filepath.Join(w.gen(), "memdir")
	must.Equal(t, "the large file", string(must.Get(os.ReadFile(filepath.Join(dir, "large.txt")))(t)), large)
	if info, err := os.Stat(filepath.Join(dir, "tools", "run.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "empty", "inside")); err != nil || !info.IsDir() {
		t.Errorf("the empty folder: %v", err)
	}
	must.Is(t, "the link", must.Err(os.Lstat(filepath.Join(dir, "link"))), os.ErrNotExist)
}

// While a snapshot stores what it holds, its own agent's writers and other
// agents go on.
func TestWritersGoOnWhileASnapshotIsStored(t *testing.T) {
	t.Parallel()
	p := newPause("capture memory.db")
	w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
	w.remember("one")
	want := w.all()
	agent := must.Get(w.home.Agent("default", "other"))(t)
	store := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	defer store.Close()
	var meta wire.SnapshotMeta
	p.during(t, func() (err error) {
		meta, err = w.trySnapshot()
		return err
	}, func() {
		w.remember("written meanwhile")
		w.note("meanwhile", "written\n")
		must.NoError(t, must.Err(store.Write(t.Context(), amber.WriteRequest{Content: "of another agent", Scope: amber.ScopeGlobal})))
		other := newActor(t.Context(), t, w.dir, fsx.OS())
		if _, err := other.engine.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: "default", Agent: "other"}); err != nil {
			t.Errorf("a snapshot of another agent: %v", err)
		}
	})
	after := w.all()
	must.Hold(t, len(after.Memories) == 2 && len(after.Notes) == 1, "what was written meanwhile is %v", after)
	w.restore(meta.ID)
	w.mustBe(want) // as it was at the fence
}

// Nothing is ever captured of an agent of which nothing can be read.
func TestAnAgentWithoutDatabasesIsNoSnapshot(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "then")
	must.Do(t, w.store.Close())
	must.Do(t, os.RemoveAll(w.gen()))
	must.Fail(w.trySnapshot())(t, "a snapshot of nothing", amber.KindDamaged)
	report := w.restore(meta.ID, func(r *wire.RestoreRequest) { r.WithControl = true })
	if report.SafetySnapshot != "" || !strings.Contains(strings.Join(report.Warnings, " "), "no safety snapshot") {
		t.Errorf("the report is %+v", report)
	}
}
