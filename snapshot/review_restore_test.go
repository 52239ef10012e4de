package snapshot_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
)

// The old generation goes only when every byte of the safety snapshot has been
// read, also what older snapshots have stored.
func TestAnOldGenerationStaysWhenItsSnapshotCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("the first one")
	first := w.snapshot()
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
	if report.OldGeneration != 1 {
		t.Errorf("the old generation is gone though its snapshot is damaged: %+v", report)
	}
	if _, err := os.Stat(filepath.Join(w.agent.Dir(), "gen", "1", "memory.db")); err != nil {
		t.Error(err)
	}
}

// packs returns the paths of all packs.
func (w *world) packs() []string {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(w.home.RepoDir("default"), "packs", "*", "*.pack"))
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// flip changes one byte of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x55
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is not restored stays as it is, also what no snapshot would hold.
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
	if err := os.WriteFile(odd, []byte("a name no snapshot takes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exclude := filepath.Join("memdir", ".git", "refs", "notes-of-mine")
	if err := os.WriteFile(filepath.Join(w.gen(), exclude), []byte("kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := w.all()
	w.remember("later")
	w.restore(meta.ID, func(r *amber.RestoreRequest) { r.Only = []string{amber.PartMemory} })
	w.mustBe(want)
	for path, text := range map[string]string{filepath.Join("memdir", "what is it?.md"): "a name no snapshot takes\n", exclude: "kept\n"} {
		if b, err := os.ReadFile(filepath.Join(w.gen(), path)); err != nil || string(b) != text {
			t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
}

// A plan can be made when the live database cannot be read: that is when it is
// needed.
func TestADryRunWorksOverADamagedAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	meta := w.snapshot()
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.gen(), "memory.db"), []byte("this is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := w.restore(meta.ID, func(r *amber.RestoreRequest) { r.DryRun = true })
	if len(report.Warnings) == 0 || report.Plan.SpaceNeeded == 0 {
		t.Errorf("the plan is %+v", report)
	}
}

// --discard-old discards the generation this restore replaces, not one that an
// earlier restore had to keep.
func TestDiscardOldDiscardsOneGeneration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	meta := w.snapshot()
	bare := func(r *amber.RestoreRequest) { r.NoSafetySnapshot = true }
	if report := w.restore(meta.ID, bare); report.OldGeneration != 1 {
		t.Fatalf("generation 1 was not kept: %+v", report)
	}
	w.restore(meta.ID, bare, func(r *amber.RestoreRequest) { r.DiscardOld = true })
	got, err := w.agent.Generations()
	if err != nil || !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("generations %v, %v; want 1 and 3", got, err)
	}
}

// An agent whose databases an older Amber wrote can be frozen before anything
// migrates them, and restored.
func TestAnAgentOfAnOlderSchemaCanBeFrozenAndRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.remember("written long ago")
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	older(t, filepath.Join(w.gen(), "memory.db"))
	meta := w.snapshot()
	d, err := w.engine.ShowSnapshot(t.Context(), ref(meta.ID))
	if err != nil || d.Parts[0].Schema != 1 {
		t.Fatalf("the snapshot holds schema %d, %v; want 1", d.Parts[0].Schema, err)
	}
	w.mustVerify(meta.ID)
	w.openStore() // migrates
	if _, err := w.store.Erase(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	w.remember("newer")
	w.restore(meta.ID)
	if got := w.all().Memories; len(got) != 0 {
		t.Errorf("the agent holds %v; what it had was erased", got)
	}
}

// older makes a memory.db one of the first schema: what the first migration has
// room for stays.
func older(t *testing.T, path string) {
	t.Helper()
	first, err := os.ReadFile("../store/sqlite/migrations/memory-1.sql")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "memory.db")
	change(t, file, string(first), "PRAGMA application_id=0x416d6272", "PRAGMA user_version=1")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "ATTACH ? AS newer", path); err != nil {
		t.Fatal(err)
	}
	var copies string
	err = db.QueryRowContext(t.Context(), `SELECT group_concat('INSERT INTO main.' || l.name || ' SELECT ' ||
  (SELECT group_concat(name) FROM pragma_table_info(l.name, 'main')) || ' FROM newer.' || l.name, ';')
FROM pragma_table_list l WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%'`).Scan(&copies)
	if err == nil {
		_, err = db.ExecContext(t.Context(), copies)
	}
	if err == nil {
		err = errors.Join(db.Close(), os.Rename(file, path))
	}
	if err != nil {
		t.Fatal(err)
	}
}
