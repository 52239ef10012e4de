package snapshot_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Runtime state is captured and comes back through the contract that wrote it,
// also to a handle that was open all the time. A document that the snapshot does
// not hold is gone afterwards, and a revision of before the restore is refused.
func TestRuntimeStateComesBackToOpenHandles(t *testing.T) {
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
	stale := must.Get(docs.ReadDocument(t.Context(), amber.StateExtractCursor))(t)
	w.restore(meta.ID)
	want := map[string]string{amber.StateExtractCursor: `{"at":7}`, amber.StateLastConsolidation: `{"run":1}`}
	must.Equal(t, "the state", w.all().State, want)
	_, err := docs.PutDocument(t.Context(), amber.DocumentWrite{Name: stale.Name, Document: []byte(`{"at":9}`), IfRevision: stale.Revision})
	must.Kind(t, "write over a revision that the restore took away", err, amber.KindConflict)
	if got, err := docs.ReadDocument(t.Context(), amber.StateExtractCursor); err != nil || string(got.Document) != `{"at":7}` {
		t.Errorf("the handle that was open reads %s, %v", got.Document, err)
	}
}

// A damaged snapshot is refused before anything of the live agent is touched.
func TestADamagedSnapshotIsRefusedBeforeTheAgentIsTouched(t *testing.T) {
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
		b := must.Get(os.ReadFile(path))(t)
		for at := 128; at < len(b)/2; at += len(b) / 16 { // behind the header
			b[at] ^= 0x10
			must.Do(t, os.WriteFile(path, b, 0o600))
			must.Kind(t, fmt.Sprintf("restore with byte %d changed", at), w.tryRestore(meta.ID), amber.KindDamaged)
			b[at] ^= 0x10
		}
		must.Do(t, os.WriteFile(path, b, 0o600))
	}
	if w.gen() != gen || len(w.list()) != count {
		t.Errorf("refused restores left generation %s and %d snapshots", w.gen(), len(w.list()))
	}
	w.mustBe(before)
	w.restore(meta.ID)
}

// Rows that are only in the write-ahead log of the old database do not come
// back, and a process that has it open writes to the new one.
func TestRowsOfTheOldWriteAheadLogDoNotComeBack(t *testing.T) {
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
	must.Is(t, "the old log", must.Err(os.Stat(log)), os.ErrNotExist)
	id := w.remember("written by a store that was open all the time")
	must.Do(t, w.store.Close())
	w.openStore()
	must.Kind(t, "get from the new database", must.Err(w.store.Get(t.Context(), id)), "")
	must.Equal(t, "memories", len(w.all().Memories), 2)
	w.mustVerify(w.snapshot().ID)
}

// Restoring the notes does not take the databases away, large ones neither, nor
// the other way round.
func TestRestoringNotesLeavesDatabasesAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := fmt.Sprintf(`"%x"`, noise(256<<10))
	for i := range 10 {
		task := amber.Task{ID: fmt.Sprint("t", i), Goal: "grow", State: amber.TaskQueued, Extra: []byte(large)}
		must.Get(w.store.SaveTask(t.Context(), task, 0))(t)
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

	w.restore(meta.ID, func(r *wire.RestoreRequest) { r.Only = []string{wire.PartNotes} })
	w.mustBe(everything{later.Memories, first.Notes, later.State, first.Log})
	w.note("a", "three\n")
	third := w.all()
	w.restore(meta.ID, func(r *wire.RestoreRequest) { r.Only = []string{wire.PartMemory} })
	w.mustBe(everything{first.Memories, third.Notes, third.State, third.Log})
	w.restore(meta.ID, func(r *wire.RestoreRequest) { r.WithControl = true })
	w.mustBe(first)
	must.Equal(t, "tasks", w.tasks(), tasks)
	w.mustCheck()
}

// A history whose refs are packed comes back as a repository that git opens.
func TestAHistoryWithPackedRefsComesBack(t *testing.T) {
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
	must.Equal(t, "HEAD in the snapshot", meta.GitOID, head)
	w.note("a", "three\n")
	w.restore(meta.ID)
	w.mustBe(want)
	must.Equal(t, "HEAD and the tag", w.git("rev-parse", "HEAD", "v1"), head+"\n"+head)
	w.git("fsck", "--strict")
	w.note("a", "and on\n")
}

// The snapshot that is being restored cannot be deleted; and what is acknowledged
// while a restore runs is in the agent or in the safety snapshot.
func TestARunningRestoreLosesNothing(t *testing.T) {
	t.Parallel()
	t.Run("deleted meanwhile", func(t *testing.T) {
		t.Parallel()
		p := newPause("write memory.db")
		w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
		w.remember("one")
		want := w.all()
		meta := w.snapshot()
		w.remember("two")
		w.snapshot()
		p.during(t, func() error { return w.tryRestore(meta.ID) }, func() {
			ctx, cancel := context.WithCancel(t.Context())
			impatient := newImpatient(t, w.dir)
			defer cancel()
			must.Kind(t, "delete", impatient.DeleteSnapshot(ctx, ref(meta.ID)), amber.KindBusy)
			_, err := impatient.PruneSnapshots(ctx, wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1})
			must.Kind(t, "prune", err, amber.KindBusy)
			must.Fail(impatient.Snapshot(ctx, wire.SnapshotRequest{Tenant: "default", Agent: "default"}))(t, "snapshot", amber.KindBusy)
		})
		w.mustBe(want)
	})
	t.Run("written meanwhile", func(t *testing.T) {
		t.Parallel()
		w, meta := frozen(t, "one")
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
		view := must.Get(w.engine.At(t.Context(), ref(report.SafetySnapshot)))(t)
		defer view.Close()
		for _, id := range ids {
			if _, ok := live[id]; ok {
				continue
			}
			must.Kind(t, "get of acknowledged "+string(id), must.Err(view.Get(t.Context(), id)), "")
		}
	})
}

// A restore without a safety snapshot only reads the repository.
func TestARestoreWithoutASafetySnapshotWritesNothingToTheRepository(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "then")
	before := w.packs()
	w.remember("later")
	w.restore(meta.ID, func(r *wire.RestoreRequest) { r.NoSafetySnapshot = true })
	must.Equal(t, "packs", before, w.packs())
}

// The old generation goes only when every byte of the safety snapshot has been
// read, also what older snapshots have stored.
func TestAnOldGenerationStaysWhenItsSnapshotCannotBeRead(t *testing.T) {
	t.Parallel()
	w, first := frozen(t, "the first one")
	before := w.packs()
	for i := range 20 {
		w.remember("something longer that takes a page or two " + strings.Repeat("x", 400+i))
	}
	w.snapshot()
	after := w.packs()
	added := slices.DeleteFunc(after, func(p string) bool { return slices.Contains(before, p) })
	if len(added) == 0 {
		t.Fatal("the second snapshot stored no pack")
	}
	flip(t, added[0], 40)
	report := w.restore(first.ID)
	must.Equal(t, "the old generation", report.OldGeneration, 1)
	must.NoError(t, must.Err(os.Stat(filepath.Join(w.agent.Dir(), "gen", "1", "memory.db"))))
}

// packs returns the paths of all packs.
func (w *world) packs() []string {
	w.t.Helper()
	return must.Get(filepath.Glob(filepath.Join(w.home.RepoDir("default"), "packs", "*", "*.pack")))(w.t)
}

// flip changes one byte of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	b[at] ^= 0x55
	must.Do(t, os.WriteFile(path, b, 0o600))
}

// A part that is not restored stays as it is, including entries that no snapshot would hold.
func TestPartsThatAreNotRestoredStayAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	w.note("a", "one\n")
	w.state("extract_cursor", `{"at":1}`)
	meta := w.snapshot()
	w.note("a", "two\n")
	w.state("extract_cursor", `{"at":2}`)
	odd := filepath.Join(w.gen(), "memdir", "what is it?.md")
	must.Do(t, os.WriteFile(odd, []byte("a name no snapshot takes\n"), 0o600))
	exclude := filepath.Join("memdir", ".git", "refs", "notes-of-mine")
	must.Do(t, os.WriteFile(filepath.Join(w.gen(), exclude), []byte("kept\n"), 0o600))
	want := w.all()
	w.remember("later")
	w.restore(meta.ID, func(r *wire.RestoreRequest) { r.Only = []string{wire.PartMemory} })
	w.mustBe(want)
	for path, text := range map[string]string{filepath.Join("memdir", "what is it?.md"): "a name no snapshot takes\n", exclude: "kept\n"} {
		must.Equal(t, path, string(must.Get(os.ReadFile(filepath.Join(w.gen(), path)))(t)), text)
	}
}

// An agent whose databases an older Amber wrote can be frozen before anything
// migrates them, and restored.
func TestAnAgentOfAnOlderSchemaCanBeFrozenAndRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.remember("written long ago")
	must.Do(t, w.store.Close())
	older(t, filepath.Join(w.gen(), "memory.db"))
	meta := w.snapshot()
	if d := must.Get(w.engine.ShowSnapshot(t.Context(), ref(meta.ID)))(t); d.Parts[0].Schema != 1 {
		t.Fatalf("the snapshot holds schema %d, want 1", d.Parts[0].Schema)
	}
	w.mustVerify(meta.ID)
	w.openStore() // migrates
	must.Get(w.store.Erase(t.Context(), first))(t)
	w.remember("newer")
	w.restore(meta.ID)
	must.Equal(t, "memories that were not erased", len(w.all().Memories), 0)
}

// older makes a memory.db one of the first schema: what the first migration has
// room for stays.
func older(t *testing.T, path string) {
	t.Helper()
	first := must.Get(os.ReadFile("../../store/sqlfile/migrations/memory-1.sql"))(t)
	file := filepath.Join(t.TempDir(), "memory.db")
	change(t, file, string(first), "PRAGMA application_id=0x416d6272", "PRAGMA user_version=1")
	db := must.Get(sql.Open("sqlite", file))(t)
	db.SetMaxOpenConns(1)
	defer db.Close()
	must.Get(db.ExecContext(t.Context(), "ATTACH ? AS newer", path))(t)
	var copies string
	err := db.QueryRowContext(t.Context(), `SELECT group_concat('INSERT INTO main.' || l.name || ' SELECT ' ||
  (SELECT group_concat(CASE WHEN name IN ('glued', 'facets') THEN '''''' ELSE name END) FROM pragma_table_info(l.name, 'main')) || ' FROM newer.' || l.name, ';')
FROM pragma_table_list l WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%'`).Scan(&copies)
	if err == nil {
		_, err = db.ExecContext(t.Context(), copies)
	}
	if err == nil {
		err = errors.Join(db.Close(), os.Rename(file, path))
	}
	must.Do(t, err)
}
