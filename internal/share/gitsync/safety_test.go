package gitsync_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// What Engram 1.7.0 loses or corrupts when a team shares memory through git, and
// what happens here instead. Tests about Engram's own files are in
// engram_safety_test.go.

func wantTexts(t *testing.T, c *clone, want ...string) {
	t.Helper()
	slices.Sort(want)
	must.Equal(t, "memories", c.texts(), want, cmpopts.EquateEmpty())
}

func TestSaveInTheSecondOfTheLastExportIsExported(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.shares("before the export")
	a.clock.turn(-10 * time.Millisecond) // the same second, even the same instants again
	a.save("in the same second")
	if r := a.export(gitsync.ExportOptions{}); r.IsEmpty || r.Observations != 1 {
		t.Errorf("the second export wrote %+v", r)
	}
	a.gives(b)
	b.imports()
	wantTexts(t, b, "before the export", "in the same second")
}

func TestForgottenChunkAddsNothingTwice(t *testing.T) {
	t.Parallel()
	a := newClone(t)
	for _, text := range []string{"one", "two", "three"} {
		a.save(text)
	}
	a.export(gitsync.ExportOptions{})
	// The same folder under another name is one that the store knows nothing
	// of, and so are its chunks once they are forgotten.
	b := newClone(t)
	a.gives(b)
	b.imports()
	again := cloneAt(t, t.TempDir(), gitsync.Options{})
	b.gives(again)
	moved := must.Get(gitsync.Open(a.Store, again.folder))(t)
	forgetChunks(t, a)
	r := must.Get(moved.Import(t.Context()))(t)
	must.Equal(t, "import of what is there: observations", r.Observations, 0)
	must.Equal(t, "import of what is there: chunks", r.Chunks, 1)
	wantTexts(t, a, "one", "two", "three")
	if r, err := moved.Export(t.Context(), gitsync.ExportOptions{}); err != nil || !r.IsEmpty {
		t.Errorf("export of what the folder has: %+v, %v", r, err)
	}
}

func TestTruncatedAndEmptyChunksAreNotImported(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	for _, text := range []string{"one", "two", "three", "four"} {
		a.shares(text)
	}
	a.gives(b)
	files := b.chunkFiles()
	whole := must.Get(os.ReadFile(filepath.Join(b.folder, files[0])))(t)
	b.put(files[0], whole[:len(whole)/2])
	b.put(files[2], nil)
	r := b.imports()
	if len(r.Quarantined) != 2 || r.Chunks != 2 {
		t.Fatalf("import: %+v", r)
	}
	for _, q := range r.Quarantined {
		if q.Kind != amber.KindDamaged || q.Reason == "" {
			t.Errorf("quarantined: %+v", q)
		}
	}
	if st := b.status(); st.Damaged != 2 || len(st.Quarantined) != 2 || st.PendingImport != 0 {
		t.Errorf("status: %+v", st)
	}
	a.gives(b) // whole again
	if r := b.imports(); len(r.Quarantined) != 0 || r.Chunks != 2 {
		t.Errorf("import of the whole chunks: %+v", r)
	}
	wantTexts(t, b, "one", "two", "three", "four")
	if st := b.status(); st.Damaged != 0 || len(st.Quarantined) != 0 {
		t.Errorf("status afterwards: %+v", st)
	}
}

func TestAlteredChunkIsNotImported(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.shares("the truth")
	other := newClone(t)
	other.shares("not the truth")
	forged := must.Get(os.ReadFile(filepath.Join(other.folder, other.chunkFiles()[0])))(t)
	b.put(a.chunkFiles()[0], forged) // whole, and under a name that is not its own
	if r := b.imports(); len(r.Quarantined) != 1 || r.Quarantined[0].Kind != amber.KindDamaged {
		t.Errorf("import: %+v", r)
	}
	wantTexts(t, b)
}

func TestNamesOutOfTheFolderAreNotRead(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.shares("somewhere else")
	name := filepath.Base(a.chunkFiles()[0])
	b.put("chunks/..outside.jsonl.zst", []byte("x"))
	b.put("chunks/"+strings.ToUpper(name[:64])+".jsonl.zst", []byte("x"))
	must.Do(t, os.Symlink(filepath.Join(a.folder, "chunks", name), filepath.Join(b.folder, "chunks", name)))
	r := b.imports()
	must.Equal(t, "import: chunks", r.Chunks, 0)
	must.Equal(t, "import: quarantined", len(r.Quarantined), 3)
	wantTexts(t, b)
	linked := filepath.Join(t.TempDir(), ".amber")
	must.Do(t, os.Symlink(a.folder, linked))
	must.Fail(gitsync.Open(b.Store, linked))(t, "a folder that is a symbolic link", amber.KindRefused)
}

func TestPersonalPrivateAndDeletedTextIsNotExported(t *testing.T) {
	t.Parallel()
	a := newClone(t)
	a.write(amber.WriteRequest{Content: "my own alpha", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ann", ProjectID: shop}})
	gone := a.save("deleted bravo")
	must.Do(t, a.Delete(t.Context(), gone))
	erased := a.save("erased charlie")
	must.Get(a.Erase(t.Context(), erased))(t)
	a.save("shown <private>hidden delta <private>nested echo</private> still foxtrot</private> shown too")
	a.save("open <private>hidden golf and no end")
	a.save("<private>nothing but hotel</private>")
	edited := a.save("first <private>old india</private>")
	a.edit(edited, "second")
	r := a.export(gitsync.ExportOptions{})
	if r.Redacted["private"] == 0 || len(r.Withheld) != 1 {
		t.Errorf("export: %+v", r)
	}
	a.export(gitsync.ExportOptions{NoRedact: true})
	text := plainText(t, a)
	for _, word := range []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india"} {
		if strings.Contains(text, word) {
			t.Errorf("%q left in %s", word, text)
		}
	}
	if !strings.Contains(text, "shown too") {
		t.Errorf("what is not private stayed: %s", text)
	}
}

func TestMemoryBringsItsOldSession(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	must.Get(a.StartSession(t.Context(), amber.SessionStart{ID: "old", Project: shop, Directory: "/src"}))(t)
	a.export(gitsync.ExportOptions{})
	a.clock.turn(time.Hour)
	a.write(amber.WriteRequest{Content: "late", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop, SessionID: "old"}})
	a.export(gitsync.ExportOptions{})
	for _, f := range a.chunkFiles() { // the later chunk alone brings its session
		one := must.Get(os.ReadFile(filepath.Join(a.folder, f)))(t)
		if strings.Contains(decoded(t, one), "late") {
			b.put(f, one)
		}
	}
	b.imports()
	wantTexts(t, b, "late")
	must.Equal(t, "its session", must.Get(b.Session(t.Context(), "old"))(t).Project, shop)
}

func TestChunkFromTheFutureDoesNotPullTheClock(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.clock.turn(20 * 365 * 24 * time.Hour)
	id := a.save("from the future")
	a.pushes(b)
	b.save("from today")
	b.edit(id, "edited today")
	must.Equal(t, "export of today", b.export(gitsync.ExportOptions{}).Observations, 2)
	b.gives(a)
	a.imports()
	wantTexts(t, a, "from today", "edited today")
	st := b.status()
	if len(st.Devices) != 2 && len(st.Devices) != 1 {
		t.Fatalf("devices: %+v", st.Devices)
	}
	drift := int64(0)
	for _, d := range st.Devices {
		drift = max(drift, d.DriftMS)
	}
	if years := time.Duration(drift) * time.Millisecond / (365 * 24 * time.Hour); years != 19 && years != 20 {
		t.Errorf("the drift is recorded as %d years", years)
	}
	m := must.Get(b.Get(t.Context(), b.save("after the import")))(t)
	if lead := m.Origin.Clock.Time().Time().Sub(b.clock.now()); lead > 6*time.Minute {
		t.Errorf("the local clock is pulled %v ahead", lead)
	}
}

func TestFolderNeedNotBeNamedLikeTheProject(t *testing.T) {
	t.Parallel()
	a := cloneAt(t, filepath.Join(t.TempDir(), "quite-another-name"), gitsync.Options{})
	a.save("of acme/shop")
	must.Equal(t, "export", a.export(gitsync.ExportOptions{Project: shop}).Observations, 1)
}

func TestMemoryUnderASessionOfAnotherProjectIsExported(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	must.Get(a.StartSession(t.Context(), amber.SessionStart{ID: "s", Project: "acme/api"}))(t)
	a.write(amber.WriteRequest{Content: "of shop", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop, SessionID: "s"}})
	if r := a.export(gitsync.ExportOptions{Project: shop}); r.Observations != 1 || r.Sessions != 0 {
		t.Errorf("export: %+v", r)
	}
	a.gives(b)
	b.imports()
	wantTexts(t, b, "of shop")
}
