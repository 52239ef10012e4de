package notes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notefile"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// told says what differs: names with their texts, and what is gone.
func told(c notefile.Committed) string {
	var out []string
	if c.Whole {
		out = append(out, "all")
	}
	for _, n := range c.Notes {
		out = append(out, n.Name+"="+n.Content)
	}
	for _, name := range c.Removed {
		out = append(out, "-"+name)
	}
	return strings.Join(out, " ")
}

func TestSince(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	ctx := t.Context()
	head := func() string { return must.Get(d.Head(ctx))(t) }
	must.Equal(t, "head before the first commit", head(), "")
	must.Equal(t, "notes before the first commit", told(must.Get(d.Since(ctx, ""))(t)), "all")

	first := notestest.Write(t, d, "a", "one")
	must.Equal(t, "head", head(), first.Commit)
	second := notestest.Write(t, d, "ünder/b c", "two")
	c := must.Get(d.Since(ctx, ""))(t)
	must.Equal(t, "all notes", told(c), "all a=one ünder/b c=two")
	must.Equal(t, "commits", []string{c.Notes[0].Commit, c.Notes[1].Commit, c.Head}, []string{first.Commit, second.Commit, second.Commit})
	if log := must.Get(d.LogNote(ctx, "a", 1))(t); c.Notes[0].UpdatedAt != log[0].At {
		t.Errorf("note of %v, want %v", c.Notes[0].UpdatedAt, log[0].At)
	}
	must.Equal(t, "since the first", told(must.Get(d.Since(ctx, first.Commit))(t)), "ünder/b c=two")
	must.Equal(t, "since the last", told(must.Get(d.Since(ctx, second.Commit))(t)), "")
	must.Equal(t, "since a commit of nobody", told(must.Get(d.Since(ctx, strings.Repeat("0f", 20)))(t)), "all a=one ünder/b c=two")
	must.Equal(t, "blobs", len(must.Get(d.Blobs(ctx, second.Commit))(t)), 2)

	must.Do(t, d.DeleteNote(ctx, "a", amber.NoteBy{}))
	must.Equal(t, "since the second", told(must.Get(d.Since(ctx, second.Commit))(t)), "-a")

	// A change that is not committed does not count; a commit by hand does, whatever it holds.
	notestest.Put(t, filepath.Join(dir, "hand.md"), "by hand")
	before := head()
	must.Equal(t, "with a file that is not committed", told(must.Get(d.Since(ctx, before))(t)), "")
	notestest.Put(t, filepath.Join(dir, "binary.md"), "\xff\xfe")
	notestest.Put(t, filepath.Join(dir, "big.md"), strings.Repeat("x", amber.MaxContentBytes+1))
	notestest.Put(t, filepath.Join(dir, "no note.txt"), "text")
	notestest.Git(t, dir, "add", "-A")
	notestest.Git(t, dir, "-c", "user.name=u", "-c", "user.email=e", "commit", "-q", "-m", "mine")
	must.Equal(t, "since a commit by hand", told(must.Get(d.Since(ctx, before))(t)), "hand=by hand -big -binary")
	notestest.Git(t, dir, "pack-refs", "--all")
	must.Hold(t, head() != before && head() != "", "packed head is %q", head())
}

// The commits of many notes are read from the history at once, and are the same.
func TestSinceWithManyNotes(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	for i := range 12 {
		notestest.Put(t, filepath.Join(dir, fmt.Sprintf("ä %d.md", i)), "text")
	}
	must.Do(t, d.CommitAll(t.Context()))
	last := notestest.Write(t, d, "ä 3", "other")
	c := must.Get(d.Since(t.Context(), ""))(t)
	must.Equal(t, "notes", len(c.Notes), 12)
	for _, n := range c.Notes {
		log := must.Get(d.LogNote(t.Context(), n.Name, 1))(t)
		if n.Commit != log[0].Commit || n.UpdatedAt != log[0].At {
			t.Errorf("%s of %s at %v, want %+v", n.Name, n.Commit, n.UpdatedAt, log[0])
		}
		must.Hold(t, n.Name != "ä 3" || n.Commit == last.Commit, "%s of %s, want %s", n.Name, n.Commit, last.Commit)
	}
}

// A branch that holds no commit is refused, not followed.
func TestHeadOfADamagedBranch(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "a", "one")
	must.Do(t, os.WriteFile(filepath.Join(dir, ".git", "refs", "heads", "main"), []byte("ref: refs/heads/other\n"), 0o600))
	must.Fail(d.Head(t.Context()))(t, "head", amber.KindDamaged)
}

// A note has its author however many notes are read at once, and an edit by hand makes a note the owner's again.
func TestSinceSaysWhoWrote(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	by := amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "codex", Session: "s1"}}
	want := map[string]amber.NoteBy{}
	for i := range 12 {
		name := fmt.Sprint("note ", i)
		if want[name] = (amber.NoteBy{}); i%3 == 0 {
			want[name] = by
		}
		must.Get(d.WriteNote(t.Context(), amber.NoteWrite{Name: name, Content: "text", NoteBy: want[name]}))(t)
	}
	check := func(what, since string) {
		t.Helper()
		for _, n := range must.Get(d.Since(t.Context(), since))(t).Notes {
			must.Equal(t, what+": author of "+n.Name, n.NoteBy, want[n.Name])
		}
	}
	check("all at once", "")
	before := must.Get(d.Head(t.Context()))(t)
	notestest.Put(t, filepath.Join(dir, "note 0.md"), "by hand")
	must.Get(d.WriteNote(t.Context(), amber.NoteWrite{Name: "note 1", Content: "by the agent", NoteBy: by}))(t) // commits what was made by hand first
	want["note 0"], want["note 1"] = amber.NoteBy{}, by
	check("one by one", before)
	must.Equal(t, "read", must.Get(d.ReadNote(t.Context(), "note 0"))(t).NoteBy, amber.NoteBy{})
}
