package gitsync_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// beside lets a clone use another folder.
func (c *clone) beside(t *testing.T) *clone {
	t.Helper()
	other := *c
	other.folder = filepath.Join(t.TempDir(), ".amber")
	must.Do(t, os.MkdirAll(other.folder, 0o755))
	other.sync = must.Get(gitsync.Open(c.Store, other.folder))(t)
	return &other
}

// A folder has no say in what another folder brought, nor in what was exported to
// another one, also where chunks were copied from there.
func TestOneFolderHasNoSayInWhatIsInAnother(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	first := newClone(t)
	mine := first.shares("mine, exported to the first")
	bob := newClone(t)
	theirs := bob.save("Bob's, of the first")
	bob.pushes(first)
	second := first.beside(t)
	m := newClone(t)
	first.gives(m) // any person can read the folder
	m.imports()
	m.erase(mine)
	m.edit(theirs, "not Bob's")
	m.export(gitsync.ExportOptions{})
	m.gives(second)
	for _, name := range first.chunkFiles() { // but what was copied is not there
		if !slices.Contains(second.chunkFiles(), name) {
			t.Fatal("the chunks were not copied")
		}
	}
	second.imports()
	got := must.Get(first.Get(ctx, mine))(t)
	must.Equal(t, "mine: content", got.Content, "mine, exported to the first")
	must.Equal(t, "mine: trust", got.Trust, amber.TrustOwn)
	must.NoError(t, must.Err(first.Get(ctx, theirs)))
}

// An erasure of a memory that is not known here is no word of this home: it does
// not go on to folders that have nothing to do with it.
func TestAnErasureIsNotPassedOnToOtherFolders(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"unknown": false, "known from that folder": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := newClone(t)
			second := first.beside(t)
			bob := newClone(t)
			id := bob.write(deploy)
			bob.export(gitsync.ExportOptions{})
			m, _ := mallory(t)
			if known {
				m.pushes(first)
			}
			m.erase(id)
			m.pushes(first)
			second.pushes(bob)
			mustHold(t, bob, id, deploy.Content)
			bob.gives(second)
			second.imports()
			must.Equal(t, "texts from the other folder", second.texts(), []string{deploy.Content})
		})
	}
}

// An erasure that this home made itself goes to every folder, and an erasure by another person to the folders that had
// the memory.
func TestAnErasureReachesTheFoldersThatHadTheMemory(t *testing.T) {
	t.Parallel()
	first := newClone(t)
	second := first.beside(t)
	bob, eve := newClone(t), newClone(t)
	mine, shared := first.save("erased here"), first.save("erased by Bob")
	first.pushes(bob)
	second.pushes(eve)
	first.erase(mine)
	bob.erase(shared)
	bob.pushes(first)
	second.pushes(eve)
	must.Equal(t, "Eve", len(eve.texts()), 0)
}

// A clone that was moved goes on: what others wrote is in the folder wherever it
// lies, and what this home wrote once it was exported there.
func TestAFolderThatWasMoved(t *testing.T) {
	t.Parallel()
	a, bob := newClone(t), newClone(t)
	mine := a.save("mine")
	theirs := bob.save("Bob's")
	settled(a, bob)
	moved := a.beside(t)
	a.gives(moved)
	bob.edit(theirs, "Bob's, edited")
	bob.edit(mine, "mine, edited by Bob")
	bob.pushes(moved)
	must.Equal(t, "before an export there", a.texts(), []string{"Bob's, edited", "mine"})
	moved.export(gitsync.ExportOptions{})
	moved.imports()
	must.Equal(t, "after an export there", a.texts(), []string{"Bob's, edited", "mine, edited by Bob"})
	wantConflicts(t, moved, 0)
}

// A restore obeys an erasure as the import did: it removes what was in the folder,
// and nothing that quotes it.
func TestARestoreErasesNoMoreThanTheImportDid(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	victim := newClone(t)
	own := victim.write(deploy)
	m := newClone(t)
	bait := m.save("e")
	m.pushes(victim)
	victim.prompt("s", "everything I said")
	before := victim.snapshot()
	theirs := deploy
	theirs.Content = "theirs"
	m.write(theirs)
	m.erase(own)
	m.erase(bait)
	m.pushes(victim)
	victim.restore(before)
	mustHold(t, victim, own, deploy.Content)
	must.Equal(t, "said", victim.said("s"), []string{"everything I said"})
	must.Fail(victim.Get(ctx, bait))(t, "what was erased", amber.KindNotFound)
	victim.imports()
	mustHold(t, victim, own, deploy.Content)
}

// A memory that was in the folder and erased there stays erased, also after a restore of a snapshot from before it was
// in the folder.
func TestARestoreBringsNothingBackThatWasErasedThere(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	id := a.write(deploy)
	before := a.snapshot()
	a.pushes(b)
	b.erase(id)
	b.pushes(a)
	a.restore(before)
	must.Fail(amber.All(t.Context(), a.History, id))(t, "what was erased", amber.KindNotFound)
}
