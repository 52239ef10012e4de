package gitsync_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestWhatWasExportedAndLostIsExportedAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(a *clone){
		"the folder is gone":            func(a *clone) { os.RemoveAll(a.folder) },
		"another branch is checked out": func(a *clone) { os.Remove(filepath.Join(a.folder, a.chunkFiles()[0])) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newClone(t), newClone(t)
			a.shares("on a branch that was dropped")
			lose(a)
			must.Equal(t, "pending export", a.status().PendingExport, 1)
			must.Equal(t, "export", a.export(gitsync.ExportOptions{}).Observations, 1)
			a.gives(b)
			must.Equal(t, "missing", len(b.imports().Missing), 0)
			wantTexts(t, b, "on a branch that was dropped")
			a.exportsNothing()
		})
	}
}

func TestExportAgainWritesWhatTheFolderLacks(t *testing.T) {
	t.Parallel()
	a := newClone(t)
	a.shares("one")
	lost := a.chunkFiles()[0]
	a.shares("two")
	must.Do(t, os.Remove(filepath.Join(a.folder, lost)))
	must.Equal(t, "missing", len(a.status().Missing), 1)
	a.exportsNothing()
	must.Equal(t, "export again", a.export(gitsync.ExportOptions{Again: true}).Observations, 1)
	b := newClone(t)
	a.gives(b)
	b.imports()
	wantTexts(t, b, "one", "two")
}

func TestExportAfterCompactionRepeatsNothing(t *testing.T) {
	t.Parallel()
	a := newClone(t)
	a.many(8, "memory")
	a.compact()
	a.exportsNothing()
}

func TestTwoWorkTreesOfOneStore(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	second := newClone(t)
	a.gives(second)
	tree := must.Get(gitsync.Open(a.Store, second.folder))(t)
	a.save("of a")
	must.Get(tree.Export(t.Context(), gitsync.ExportOptions{}))(t)
	b.save("of b")
	b.pushes(a)
	b.gives(second)
	must.Equal(t, "import into the same store", must.Get(tree.Import(t.Context()))(t).Observations, 0)
	if r, err := tree.Export(t.Context(), gitsync.ExportOptions{}); err != nil || !r.IsEmpty {
		t.Errorf("export of what the folder has: %+v, %v", r, err)
	}
}

func TestCompactionObeysNoErasureThatTheImportRefuses(t *testing.T) {
	t.Parallel()
	alice := newHand(t)
	o := gitsync.Options{Signer: alice, Trust: friends{alice.KeyID()}, RequireSigned: true}
	a := cloneAt(t, t.TempDir(), o)
	id := a.shares("somebody wants this gone")
	forge(t, a, amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: amber.Origin{Device: "mallory", Counter: 9, Clock: amber.StampAt(a.clock.now())}}})
	a.imports()
	must.Equal(t, "compact", must.Get(a.sync.Compact(t.Context()))(t).Rewritten, 0)
	if !strings.Contains(plainText(t, a), "somebody wants this gone") {
		t.Error("the text went")
	}
}

func TestCompactionLeavesWhatOthersSigned(t *testing.T) {
	t.Parallel()
	alice, bob := newHand(t), newHand(t)
	a := cloneAt(t, t.TempDir(), gitsync.Options{Signer: alice})
	b := cloneAt(t, t.TempDir(), gitsync.Options{Signer: bob})
	id := a.save("signed by alice")
	a.save("the rest of her chunk")
	exchange(a, b)
	must.Get(b.Erase(t.Context(), id))(t)
	exchange(a, b)
	if r, err := b.sync.Compact(t.Context()); err != nil || r.Rewritten != 0 || r.Left != 1 {
		t.Errorf("compact by bob: %+v, %v", r, err)
	}
	if r, err := a.sync.Compact(t.Context()); err != nil || r.Rewritten != 1 || r.Left != 0 {
		t.Errorf("compact by alice: %+v, %v", r, err)
	}
	if strings.Contains(plainText(t, a), "signed by alice") {
		t.Error("the text is still there")
	}
	strict := cloneAt(t, t.TempDir(), gitsync.Options{Trust: friends{alice.KeyID(), bob.KeyID()}, RequireSigned: true})
	a.gives(strict)
	strict.imports()
	wantTexts(t, strict, "the rest of her chunk")
}

func TestSummaryIsNotWrittenThroughALink(t *testing.T) {
	t.Parallel()
	a := newClone(t)
	a.shares("one")
	elsewhere := t.TempDir()
	local := filepath.Join(a.folder, "local")
	must.Do(t, os.RemoveAll(local))
	must.Do(t, os.Symlink(elsewhere, local))
	a.status()
	must.Equal(t, "files written by status", len(must.Get(os.ReadDir(elsewhere))(t)), 0)
	must.Error(t, "compaction through a link", must.Err(a.sync.Compact(t.Context())))
}

func TestVerifyOfNothingIsNoVerdict(t *testing.T) {
	t.Parallel()
	must.Fail(newClone(t).sync.Verify(t.Context()))(t, "verify of a folder that is not there", amber.KindNotFound)
}
