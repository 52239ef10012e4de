package notes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// A letter with a mark as one character, and as two.
const (
	composed = "r\u00e9sum\u00e9/caf\u00e9"
	apart    = "re\u0301sume\u0301/cafe\u0301"
)

func TestANoteIsOneInEverySpelling(t *testing.T) {
	t.Parallel()
	d, _ := notestest.New(t)
	ctx := t.Context()
	must.Equal(t, "the note is called", notestest.Write(t, d, apart, "one").Name, composed)
	must.Equal(t, "the note is called", notestest.Write(t, d, composed, "two").Name, composed)
	for _, name := range []string{composed, apart} {
		if n, err := d.ReadNote(ctx, name); err != nil || n.Content != "two" || n.Name != composed || n.Commit == "" {
			t.Errorf("%+q: %+v, %v", name, n, err)
		}
		must.Equal(t, fmt.Sprintf("%+q: history", name), notestest.Ops(t, d, name), "write write")
	}
	must.Equal(t, "notes", len(must.Get(d.ListNotes(ctx))(t)), 1)
	must.Do(t, d.DeleteNote(ctx, apart, amber.NoteBy{}))
	must.Fail(d.ReadNote(ctx, composed))(t, "read after delete", amber.KindNotFound)
	must.Equal(t, "history after delete", notestest.Ops(t, d, apart), "delete write write")
	must.NoError(t, d.Check(ctx))
}

// Files that an older Amber or a person wrote stay as they are and are found
// under every spelling of their name.
func TestAFileOfTheOtherSpellingIsFound(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	ctx := t.Context()
	notestest.Write(t, d, "plan", "first")
	old := filepath.Join(dir, filepath.FromSlash(apart)+".md")
	must.Do(t, os.MkdirAll(filepath.Dir(old), 0o700))
	must.Do(t, os.WriteFile(old, []byte("by hand"), 0o600))
	for _, name := range []string{composed, apart} {
		must.Equal(t, fmt.Sprintf("%+q", name), must.Get(d.ReadNote(ctx, name))(t).Content, "by hand")
	}
	notestest.Write(t, d, composed, "by Amber")
	must.Equal(t, "the file", string(must.Get(os.ReadFile(old))(t)), "by Amber")
	must.Equal(t, "twins", len(must.Get(d.Twins(ctx))(t)), 0)
	if err := d.DeleteNote(ctx, composed, amber.NoteBy{}); err != nil || notestest.Exists(t, old) {
		t.Errorf("%v", err)
	}
}

func TestTwinsAreToldApartAndNamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("one file cannot have two spellings here")
	}
	d, dir := notestest.New(t)
	ctx := t.Context()
	notestest.Write(t, d, "plan", "first")
	const nfc, nfd = "caf\u00e9", "cafe\u0301"
	for _, name := range []string{nfc, nfd} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".md"), []byte(name), 0o600))
	}
	for _, name := range []string{nfc, nfd} {
		must.Equal(t, fmt.Sprintf("%+q", name), must.Get(d.ReadNote(ctx, name))(t).Content, name)
	}
	twins, err := d.Twins(ctx)
	if diff := cmp.Diff([][]string{{nfd, nfc}}, twins); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	must.Do(t, d.DeleteNote(ctx, nfd, amber.NoteBy{}))
	must.Equal(t, "after the other is gone", must.Get(d.ReadNote(ctx, nfd))(t).Content, nfc)
}
