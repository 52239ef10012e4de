package sqlite

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
)

// noted returns a note of a made-up commit.
func noted(name, content string) amber.Note {
	return amber.Note{Name: name, Content: content, Commit: "c of " + name, UpdatedAt: amber.UnixMilli(1_700_000_000_000)}
}

// found returns the titles of the notes that have a word.
func foundNotes(t *testing.T, s *Store, word string) (out []string) {
	t.Helper()
	for _, h := range must.Get(s.Recall(t.Context(), amber.Query{Text: word, Layers: []amber.RecallLayer{amber.LayerNote}}))(t).Hits {
		out = append(out, h.Owner+": "+h.Title)
	}
	return out
}

// The copy of the notes goes from commit to commit, and the index with it.
func TestNotesAreFound(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Equal(t, "head of an empty store", must.Get(s.NotesHead(ctx))(t), "")
	must.Do(t, s.PutNotes(ctx, NoteChanges{To: "one", Whole: true, Written: []amber.Note{
		noted("a", "# Oil\nThe lubricant is green."), noted("b", "Of the sieve."),
	}}))
	must.Equal(t, "head", must.Get(s.NotesHead(ctx))(t), "one")
	must.Equal(t, "a section", foundNotes(t, s, "lubricant"), []string{"a: Oil"})
	must.Equal(t, "a note", foundNotes(t, s, "sieve"), []string{"b: b"})
	blobs := must.Get(s.NoteBlobs(ctx))(t)
	must.Equal(t, "blobs", blobs["b"], gitobj.BlobID([]byte("Of the sieve.")))
	must.Kind(t, "changes since another commit", s.PutNotes(ctx, NoteChanges{From: "two", To: "three"}), amber.KindConflict)

	must.Do(t, s.PutNotes(ctx, NoteChanges{From: "one", To: "two", Written: []amber.Note{noted("a", "# Oil\nIt is amber.")}, Removed: []string{"b", "nobody"}}))
	must.Equal(t, "what was rewritten", foundNotes(t, s, "lubricant"), []string(nil))
	must.Equal(t, "what is gone", foundNotes(t, s, "sieve"), []string(nil))
	must.Equal(t, "what is new", foundNotes(t, s, "amber"), []string{"a: Oil"})
	must.Do(t, s.VerifyIndex(ctx))
	must.Do(t, s.RebuildIndex(ctx))
	must.Equal(t, "after a rebuild", foundNotes(t, s, "amber"), []string{"a: Oil"})
	must.Do(t, s.VerifyIndex(ctx))
	must.Do(t, s.PutNotes(ctx, NoteChanges{From: "two", To: "", Whole: true}))
	must.Equal(t, "without notes", foundNotes(t, s, "amber"), []string(nil))
}

// Words of a note that is gone are in no byte of the file, in the tail of the index or in segments.
func TestADeletedNoteIsErased(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	written := []amber.Note{noted("secret plan", "# Xyzzy\nThe plover is at noon. "+"Plover again.")}
	for i := range 300 {
		written = append(written, noted("n"+string(rune('a'+i%26))+string(rune('a'+i/26)), "Something else about the weather."))
	}
	must.Do(t, s.PutNotes(ctx, NoteChanges{To: "one", Whole: true, Written: written}))
	if !inFiles(t, s, "plover") {
		t.Fatal("the note is not in the file")
	}
	must.Do(t, s.PutNotes(ctx, NoteChanges{From: "one", To: "two", Removed: []string{"secret plan"}}))
	for _, word := range []string{"plover", "Plover", "xyzzy", "Xyzzy", "secret plan"} {
		must.Hold(t, !inFiles(t, s, word), "%q is left in the file", word)
	}
	must.Do(t, s.VerifyIndex(ctx))
}

// A redacted copy has no notes and none of their words: notes are redacted where they live.
func TestRedactLeavesNotesOut(t *testing.T) {
	t.Parallel()
	for _, secret := range []bool{false, true} {
		l, p := newLife(t), newPlanter()
		save(t, l.s, amber.WriteRequest{Content: "plain"})
		if secret {
			save(t, l.s, amber.WriteRequest{Content: p.text()})
		}
		must.Do(t, l.s.PutNotes(t.Context(), NoteChanges{To: "one", Whole: true, Written: []amber.Note{noted("plan", "# Xyzzy\nThe plover is at noon.")}}))
		path := filepath.Join(l.snapshot(t), "memory.db")
		must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
		after := dump(t, path)
		for _, table := range image.RedactElsewhere {
			must.Equal(t, "rows of "+table, len(after[table]), 0)
		}
		examined(t, path)
		v := must.Get(OpenReadOnlyFile(t.Context(), path, Options{Clock: newHandClock().Now, Random: rand.Reader}))(t)
		hits := must.Get(v.Recall(t.Context(), amber.Query{Text: "plover plain"}))(t).Hits
		must.Equal(t, "hits", len(hits), 1)
		must.Do(t, v.Close())
	}
}

// A file of schema 5 can be asked, and says that it has no notes.
func TestAnOlderFileHasNoNotes(t *testing.T) {
	t.Parallel()
	a := agentWithMemory(t, 5)
	old := must.Get(openWith(t, a, memoryAt(5), true))(t)
	must.Do(t, old.CatchUp(t.Context()))
	must.Do(t, old.Close())
	c := must.Get(a.Current())(t)
	v := must.Get(OpenReadOnlyFile(t.Context(), filepath.Join(a.GenDir(c), sqlfile.MemorySchema.File), Options{Clock: newHandClock().Now, Random: rand.Reader}))(t)
	defer v.Close()
	r := must.Get(v.Recall(t.Context(), amber.Query{Text: "third"}))(t)
	if len(r.Hits) != 1 || r.Degraded != "the file is of an older version, which has no notes" {
		t.Errorf("%d hits, degraded: %q", len(r.Hits), r.Degraded)
	}
	r = must.Get(v.Recall(t.Context(), amber.Query{Text: "third", Layers: []amber.RecallLayer{amber.LayerMemory}}))(t)
	must.Equal(t, "degraded without notes being asked", r.Degraded, "")
}
