package gitsync_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// many exports n chunks of one memory each.
func (c *clone) many(n int, word string) {
	c.t.Helper()
	for i := range n {
		c.shares(fmt.Sprintf("%s number %d", word, i))
	}
}

func (c *clone) compact() {
	c.t.Helper()
	must.Get(c.sync.Compact(c.t.Context()))(c.t)
}

func TestCompactionChangesNothingThatAnybodySees(t *testing.T) {
	t.Parallel()
	a, reader, later := newClone(t), newClone(t), newClone(t)
	a.many(20, "memory")
	a.gives(reader)
	reader.imports()
	before := must.Get(a.sync.Verify(t.Context()))(t)
	r, err := a.sync.Compact(t.Context())
	if err != nil || r.Before != 20 || r.After != 1 || r.Packed != 20 {
		t.Fatalf("compact: %+v, %v", r, err)
	}
	after, err := a.sync.Verify(t.Context())
	if err != nil || len(after.Damaged) != 0 || len(after.Missing) != 0 {
		t.Errorf("verify: %+v, %v", after, err)
	}
	before.Summary.Files, after.Summary.Files = 0, 0
	must.Equal(t, "what the folder holds after the compaction", after.Summary, before.Summary, cmpopts.EquateComparable(amber.Time{}))
	for _, f := range reader.chunkFiles() { // the merge takes the old files away
		must.Do(t, os.Remove(filepath.Join(reader.folder, f)))
	}
	a.gives(reader)
	if r := reader.imports(); r.Chunks != 0 || r.Observations != 0 || len(r.Missing) != 0 {
		t.Errorf("import of the pack where its chunks were applied: %+v", r)
	}
	if st := reader.status(); st.Local != 20 || st.Remote != 20 || st.PendingImport != 0 {
		t.Errorf("status: %+v", st)
	}
	a.gives(later)
	if r := later.imports(); r.Chunks != 20 || r.Observations != 20 {
		t.Errorf("import of the pack by somebody new: %+v", r)
	}
	wantTexts(t, later, a.texts()...)
	must.Equal(t, "a second import", later.imports().Chunks, 0)
	if r, err := a.sync.Compact(t.Context()); err != nil || r.Packed != 0 || r.After != 1 {
		t.Errorf("a second compaction: %+v, %v", r, err)
	}
	a.save("after the pack")
	must.Equal(t, "an export after the pack", a.export(gitsync.ExportOptions{}).Observations, 1)
}

func TestCompactionTakesErasedTextOut(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.many(6, "harmless")
	id := a.save("the unspeakable zanzibar")
	a.edit(id, "the unspeakable zanzibar, again")
	a.export(gitsync.ExportOptions{})
	a.compact()
	if !strings.Contains(plainText(t, a), "zanzibar") {
		t.Fatal("the text was never there")
	}
	must.Get(a.Erase(t.Context(), id))(t)
	a.export(gitsync.ExportOptions{})
	r, err := a.sync.Compact(t.Context())
	if err != nil || r.Rewritten != 1 {
		t.Errorf("compact: %+v, %v", r, err)
	}
	if strings.Contains(plainText(t, a), "zanzibar") {
		t.Error("the text is still there")
	}
	v, err := a.sync.Verify(t.Context())
	if err != nil || len(v.Damaged) != 0 || len(v.Missing) != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	a.gives(b)
	b.imports()
	wantTexts(t, b, a.texts()...)
	must.Equal(t, "import of what was rewritten", a.imports().Observations, 0)
}

func TestCompactionTakesDeletedPromptsOut(t *testing.T) {
	t.Parallel()
	a := newClone(t)
	must.Get(a.StartSession(t.Context(), amber.SessionStart{ID: "s", Project: shop}))(t)
	must.Get(a.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "shared by mistake", ProjectID: shop}))(t)
	a.export(gitsync.ExportOptions{})
	must.Do(t, a.DeleteSession(t.Context(), "s"))
	a.export(gitsync.ExportOptions{})
	a.compact()
	if strings.Contains(plainText(t, a), "by mistake") {
		t.Error("the prompt is still there")
	}
}

func TestTwoWhoCompactAtOnce(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.many(8, "common")
	a.gives(b)
	b.imports()
	a.many(4, "of a")
	b.many(5, "of b")
	a.compact()
	b.compact()
	// The merge: both packs, and none of the files that either removed.
	a.gives(b)
	v, err := b.sync.Verify(t.Context())
	if err != nil || v.Summary.Chunks != 17 || len(v.Missing) != 0 {
		t.Errorf("verify after the merge: %+v, %v", v, err)
	}
	b.imports()
	b.compact()
	if v, err = b.sync.Verify(t.Context()); err != nil || v.Summary.Chunks != 17 {
		t.Errorf("verify after another compaction: %+v, %v", v, err)
	}
	fresh := newClone(t)
	b.gives(fresh)
	fresh.imports()
	wantTexts(t, fresh, b.texts()...)
	must.Equal(t, "memories", len(fresh.texts()), 17)
}
