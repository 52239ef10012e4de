package agent

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/wire"
)

// noteHits asks for notes, and says what an answer could not take into account.
func noteHits(t *testing.T, a *Agent, text string) (out []string) {
	t.Helper()
	r := must.Get(a.Store().LongTerm.Recall(t.Context(), amber.Query{Text: text, Layers: []amber.RecallLayer{amber.LayerNote}}))(t)
	for _, h := range r.Hits {
		out = append(out, h.Owner+": "+h.Title)
	}
	if r.Degraded != "" {
		out = append(out, r.Degraded)
	}
	return out
}

// wordy opens an agent that is asked by words alone.
func wordy(t *testing.T) *Agent {
	t.Helper()
	c := config.Default()
	c.Search.Model = config.ModelNone
	a := must.Get(Open(t.Context(), Options{Home: t.TempDir(), Clock: time.Now, Random: rand.Reader, Config: &c}))(t)
	t.Cleanup(func() { must.NoError(t, a.Close()) })
	return a
}

// noteDir is the folder of the notes.
func noteDir(t *testing.T, a *Agent) string {
	t.Helper()
	c := must.Get(a.folder.Current())(t)
	return filepath.Join(a.folder.GenDir(c), "memdir")
}

// handGit runs git as the owner of the notes would.
func handGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=u", "-c", "user.email=e"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// indexFinding is what the doctor says about the index.
func indexFinding(t *testing.T, a *Agent) string {
	t.Helper()
	for _, f := range a.Doctor(t.Context(), false).Checks {
		if f.Code == indexCode {
			return fmt.Sprint(f.Status, ": ", f.Detail)
		}
	}
	return ""
}

// A note is found as soon as it is written, and until it is deleted; what its owner commits
// by hand is found by the next question.
func TestNotesAreFollowed(t *testing.T) {
	t.Parallel()
	a := wordy(t)
	ctx, store := t.Context(), a.Store()
	must.Equal(t, "before the first note", noteHits(t, a, "lubricant"), []string(nil))
	must.Get(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "# Oil\nThe lubricant is green.\n\n# Sieve\nBehind the hatch."}))(t)
	must.Equal(t, "head in the index", must.Get(a.sqlite.NotesHead(ctx))(t), must.Get(a.notes.Head(ctx))(t))
	must.Equal(t, "a section", noteHits(t, a, "lubricant"), []string{"mill: Oil"})

	must.Do(t, os.WriteFile(filepath.Join(noteDir(t, a), "hand.md"), []byte("The quern is heavy."), 0o600))
	must.Equal(t, "a file that is not committed", noteHits(t, a, "quern"), []string(nil))
	handGit(t, noteDir(t, a), "add", "-A")
	handGit(t, noteDir(t, a), "commit", "-q", "-m", "mine")
	x := must.Get(a.Index())(t)
	must.Equal(t, "waiting after a commit by hand", must.Get(x.IndexStatus(ctx))(t).Waiting, int64(1))
	must.Equal(t, "what the doctor finds then", indexFinding(t, a), "warning: 2 passages, by words alone; 1 record or note waits for the index and 0 passages for a vector")
	must.Equal(t, "a commit by hand", noteHits(t, a, "quern"), []string{"hand: hand"})
	must.Equal(t, "waiting after the question", must.Get(x.IndexStatus(ctx))(t).Waiting, int64(0))

	must.Equal(t, "what the doctor finds then", indexFinding(t, a), "ok: 3 passages, by words alone")

	// Commits that change several notes: each of them waits, also one that is gone.
	handGit(t, noteDir(t, a), "rm", "-q", "mill.md")
	for _, name := range []string{"a.md", "b.md"} {
		must.Do(t, os.WriteFile(filepath.Join(noteDir(t, a), name), []byte("The sack is full."), 0o600))
	}
	handGit(t, noteDir(t, a), "add", "-A")
	handGit(t, noteDir(t, a), "commit", "-q", "-m", "more")
	must.Equal(t, "waiting after a commit of several", must.Get(x.IndexStatus(ctx))(t).Waiting, int64(3))
	handGit(t, noteDir(t, a), "reset", "-q", "--hard", "HEAD~1")
	must.Equal(t, "waiting after that is taken back", must.Get(x.IndexStatus(ctx))(t).Waiting, int64(0))

	// A history that was rewritten, or cut back.
	handGit(t, noteDir(t, a), "reset", "-q", "--hard", "HEAD~1")
	must.Equal(t, "after a reset", noteHits(t, a, "quern"), []string(nil))
	must.Equal(t, "what is left", noteHits(t, a, "lubricant"), []string{"mill: Oil"})
	must.Do(t, x.VerifyIndex(ctx))
	must.Do(t, store.Notes.DeleteNote(ctx, "mill", amber.NoteBy{}))
	must.Equal(t, "a deleted note", noteHits(t, a, "lubricant"), []string(nil))
}

// Verifying compares the copy with git, and rebuilding mends it.
func TestACopyOfNotesThatLies(t *testing.T) {
	t.Parallel()
	a := wordy(t)
	ctx := t.Context()
	must.Get(a.Store().Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "The lubricant is green."}))(t)
	head := must.Get(a.sqlite.NotesHead(ctx))(t)
	lie := changesOf(head, must.Get(a.notes.Since(ctx, ""))(t))
	lie.Written[0].Content = "The lubricant is violet."
	must.Do(t, a.sqlite.PutNotes(ctx, lie))
	x := must.Get(a.Index())(t)
	must.Kind(t, "verify", x.VerifyIndex(ctx), amber.KindDamaged)
	must.Equal(t, "the lie", noteHits(t, a, "violet"), []string{"mill: mill"})
	must.Do(t, x.RebuildIndex(ctx))
	must.Do(t, x.VerifyIndex(ctx))
	must.Equal(t, "the truth", noteHits(t, a, "green"), []string{"mill: mill"})
	must.Equal(t, "the lie afterwards", noteHits(t, a, "violet"), []string(nil))
}

// Notes whose branch cannot be read do not keep a question from the other layers; the answer says so.
func TestRecallWithoutItsNotes(t *testing.T) {
	t.Parallel()
	a := wordy(t)
	ctx := t.Context()
	must.Get(a.Store().Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "The lubricant is green."}))(t)
	must.Get(a.Store().LongTerm.Write(ctx, amber.WriteRequest{Content: "The lubricant is dear."}))(t)
	must.Do(t, os.WriteFile(filepath.Join(noteDir(t, a), ".git", "refs", "heads", "main"), []byte("nonsense\n"), 0o600))
	r := must.Get(a.Store().LongTerm.Recall(ctx, amber.Query{Text: "lubricant"}))(t)
	if len(r.Hits) != 2 || !strings.HasPrefix(r.Degraded, "the newest notes are not in the index: ") {
		t.Errorf("%d hits, degraded: %q", len(r.Hits), r.Degraded)
	}
	must.Kind(t, "index sync", must.Get(a.Index())(t).SyncIndex(ctx, nil, nil), amber.KindDamaged)
}

// Several processes that write notes and ask at once leave an index of the last commit.
func TestManyFollowTheSameNotes(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	a := wordy(t)
	ctx := t.Context()
	agents := []*Agent{a}
	for range 2 {
		o := a.o
		other := must.Get(Open(ctx, o))(t)
		t.Cleanup(func() { must.NoError(t, other.Close()) })
		agents = append(agents, other)
	}
	var done sync.WaitGroup
	for i, one := range agents {
		done.Go(func() {
			for _, colour := range []string{"crimson", "turquoise", "violet", "ochre"} {
				if _, err := one.Store().Notes.WriteNote(ctx, amber.NoteWrite{Name: fmt.Sprintf("n%d", i), Content: "The lubricant is " + colour + "."}); err != nil {
					t.Error(err)
				}
				if _, err := one.Store().LongTerm.Recall(ctx, amber.Query{Text: "lubricant"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	must.Equal(t, "notes", len(noteHits(t, a, "lubricant")), len(agents))
	must.Equal(t, "old texts", noteHits(t, a, "violet"), []string(nil))
	must.Do(t, must.Get(a.Index())(t).VerifyIndex(ctx))
}

// A snapshot has the notes of its time; a restore brings the index back with them.
func TestNotesOfASnapshot(t *testing.T) {
	t.Parallel()
	a := wordy(t)
	ctx, store := t.Context(), a.Store()
	must.Get(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "The lubricant is green."}))(t)
	frozen := must.Get(a.Snapshot(ctx, wire.SnapshotRequest{}))(t)
	must.Get(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "The grease is blue."}))(t)
	e := must.Get(a.Snapshots(ctx))(t)
	ref := wire.SnapshotRef{Tenant: a.Tenant(), Agent: a.ID(), ID: frozen.ID}
	v := must.Get(e.At(ctx, ref))(t)
	r := must.Get(v.Recall(ctx, amber.Query{Text: "lubricant", Layers: []amber.RecallLayer{amber.LayerNote}}))(t)
	must.Hold(t, len(r.Hits) == 1 && r.Hits[0].Owner == "mill", "the snapshot has %+v", r.Hits)
	must.Equal(t, "degraded", r.Degraded, "")
	must.Do(t, v.Close())

	// A note that was not committed before is in the snapshot, and not in its index.
	must.Do(t, os.WriteFile(filepath.Join(noteDir(t, a), "hand.md"), []byte("The quern is heavy."), 0o600))
	byHand := must.Get(a.Snapshot(ctx, wire.SnapshotRequest{}))(t)
	v = must.Get(e.At(ctx, wire.SnapshotRef{Tenant: a.Tenant(), Agent: a.ID(), ID: byHand.ID}))(t)
	if r = must.Get(v.Recall(ctx, amber.Query{Text: "quern"}))(t); r.Degraded == "" {
		t.Error("the answer does not say that notes are missing")
	}
	if r = must.Get(v.Recall(ctx, amber.Query{Text: "quern", Layers: []amber.RecallLayer{amber.LayerMemory}}))(t); r.Degraded != "" {
		t.Error(r.Degraded)
	}
	must.Do(t, v.Close())
	must.Get(a.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref}))(t)
	must.Equal(t, "after the restore", noteHits(t, a, "lubricant"), []string{"mill: mill"})
	must.Equal(t, "what came later", noteHits(t, a, "grease"), []string(nil))
	must.Do(t, must.Get(a.Index())(t).VerifyIndex(ctx))
}

// A note is trusted as far as the author of its last change: found as an agent's until the owner writes it, also when the index is made anew.
func TestNotesOfAgentsAreFoundAsTheirs(t *testing.T) {
	t.Parallel()
	a := wordy(t)
	ctx, store := t.Context(), a.Store()
	trusts := func() (out []amber.Trust) {
		for _, h := range must.Get(store.LongTerm.Recall(ctx, amber.Query{Text: "lubricant"}))(t).Hits {
			out = append(out, h.Trust)
		}
		return out
	}
	theirs := amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "codex"}}
	must.Get(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "The lubricant is green.", NoteBy: theirs}))(t)
	must.Equal(t, "note of an agent", trusts(), []amber.Trust{amber.TrustAgent})
	x := must.Get(a.Index())(t)
	must.Do(t, x.VerifyIndex(ctx))
	must.Do(t, x.RebuildIndex(ctx))
	must.Equal(t, "after a rebuild", trusts(), []amber.Trust{amber.TrustAgent})
	must.Get(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "The lubricant is blue."}))(t)
	must.Equal(t, "after the owner has written it", trusts(), []amber.Trust{amber.TrustOwn})
	must.Get(store.Notes.WriteNote(ctx, amber.NoteWrite{Name: "mill", Content: "The lubricant is red.", NoteBy: theirs}))(t)
	must.Do(t, os.WriteFile(filepath.Join(noteDir(t, a), "mill.md"), []byte("The lubricant is grey."), 0o600))
	handGit(t, noteDir(t, a), "commit", "-q", "-a", "-m", "mine")
	must.Equal(t, "after a commit by hand", trusts(), []amber.Trust{amber.TrustOwn})
}
