package snapshot_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// check checks the repository with all its data.
func (w *world) check() wire.CheckReport {
	w.t.Helper()
	return must.Get(w.engine.CheckRepository(w.t.Context(), wire.CheckRequest{Tenant: "default", ReadData: true}))(w.t)
}

// verify verifies a snapshot with all its data.
func (w *world) verify(id amber.SnapshotID) wire.VerifyReport {
	w.t.Helper()
	return must.Get(w.engine.VerifySnapshot(w.t.Context(), wire.VerifyRequest{SnapshotRef: ref(id), ReadData: true}))(w.t)
}

// trouble is a file system that answers for some files itself.
type trouble struct {
	fsx.FS
	lstat   func(name string)
	readDir func(name string) error
	open    func(name string) error
}

func (f *trouble) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.FS.Lstat(name)
	if f.lstat != nil {
		f.lstat(name)
	}
	return info, err
}

func (f *trouble) ReadDir(name string) ([]fs.DirEntry, error) {
	if f.readDir != nil {
		if err := f.readDir(name); err != nil {
			return nil, err
		}
	}
	return f.FS.ReadDir(name)
}

func (f *trouble) OpenFile(name string, flag int, perm os.FileMode) (fsx.File, error) {
	if f.open != nil {
		if err := f.open(name); err != nil {
			return nil, err
		}
	}
	return f.FS.OpenFile(name, flag, perm)
}

// snapshotOther takes a snapshot with the source "other", which must not fail.
func (w *world) snapshotOther() wire.SnapshotMeta {
	w.t.Helper()
	w.remember("the agent's own")
	meta := w.snapshot(withSource("other"))
	w.mustVerify(meta.ID)
	return meta
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.MkdirAll(path, 0o700))
}

func TestTheListCountsWhatWasSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, func(o *snapshot.Options) {
		o.Sources = map[string]snapshot.Source{"other": {Files: []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}}}
	})
	meta := w.snapshotOther()
	for _, m := range []wire.SnapshotMeta{meta, w.list()[0], w.show(meta.ID).SnapshotMeta} {
		must.Hold(t, m.SkippedCount == 2 && m.WarningCount == 2, "%d skipped, %d warnings", m.SkippedCount, m.WarningCount)
	}
}

// Journal entries that cannot be captured are listed; those that can are
// counted.
func TestDamagedJournalEntriesAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := must.Get(journal.Open(w.agent.SpoolDir(), journal.Options{Clock: time.Now}))(t)
	keep := func(s journal.Session, n int) {
		for i := range n {
			event := fmt.Sprintf(`{"schema":1,"kind":"prompt","host":"claude-code","session_id":%q,"text":"entry %d %s"}`, s.ID, i, strings.Repeat("x", 100))
			must.Get(j.Append(t.Context(), s, journal.Entry{Payload: []byte(event)}))(t)
		}
	}
	whole, spoiled := journal.Session{Host: "claude-code", ID: "whole"}, journal.Session{Host: "claude-code", ID: "spoiled"}
	keep(whole, 3)
	meta := w.snapshot()
	if p := part(w.show(meta.ID), "journal"); p == nil || p.Count != 3 || len(meta.Skipped) != 0 {
		t.Errorf("%+v, %+v", p, meta.Skipped)
	}
	keep(spoiled, 3)
	segment := filepath.Join(w.agent.SpoolDir(), string(spoiled.Key()), "000001.seg")
	info := must.Get(os.Stat(segment))(t)
	flip(t, segment, int(info.Size()/2))
	meta = w.snapshot()
	if len(meta.Skipped) != 1 || meta.Skipped[0].Part != "journal" || meta.Skipped[0].Path != string(spoiled.Key()) || len(meta.Warnings) != 1 {
		t.Errorf("%+v, %v", meta.Skipped, meta.Warnings)
	}
	if p := part(w.show(meta.ID), "journal"); p == nil || p.Count != 5 {
		t.Errorf("%+v", p)
	}
	w.mustVerify(meta.ID)
}

// History that was rewritten away is not in later snapshots.
func TestRewrittenHistoryIsLeftBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	w.note("a", "a secret\n")
	first := w.snapshot()
	objects := func() int64 {
		return int64(len(strings.Fields(w.git("rev-list", "--objects", "--no-object-names", "--all"))))
	}
	if p := part(w.show(first.ID), "git"); p == nil || p.Count != objects() {
		t.Errorf("first: %+v, want %d", p, objects())
	}
	w.note("b", "two\n")
	if p := part(w.show(w.snapshot().ID), "git"); p == nil || p.Count != objects() {
		t.Errorf("one more: %+v, want %d", p, objects())
	}
	w.git("reset", "--hard", "HEAD~2")
	w.note("c", "three\n")
	meta := w.snapshot()
	if p := part(w.show(meta.ID), "git"); p == nil || p.Count != objects() {
		t.Errorf("rewritten: %+v, want %d", p, objects())
	}
	w.mustVerify(meta.ID)
}

// The cost of a snapshot does not grow with the number of earlier snapshots.
func TestASnapshotReadsNoOldManifests(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	f := &trouble{FS: fsx.OS(), open: func(name string) error {
		if strings.Contains(name, string(filepath.Separator)+"snapshots"+string(filepath.Separator)) || strings.Contains(name, string(filepath.Separator)+"stubs"+string(filepath.Separator)) {
			reads.Add(1)
		}
		return nil
	}}
	w := newWorld(t, func(o *snapshot.Options) { o.FS = f })
	var cost []int64
	for n := range 8 {
		before := reads.Load()
		w.remember(fmt.Sprint("memory ", n))
		w.snapshot()
		cost = append(cost, reads.Load()-before)
	}
	must.Hold(t, cost[7] == cost[1], "snapshots open %v manifests and stubs", cost)
	w.mustCheck()
	// The chain goes on without the cache.
	must.Do(t, os.RemoveAll(w.home.CacheDir()))
	w.snapshot()
	w.mustCheck()
}
