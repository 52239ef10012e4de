package notes_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
)

// A letter with a mark as one character, and as two.
const (
	composed = "r\u00e9sum\u00e9/caf\u00e9"
	apart    = "re\u0301sume\u0301/cafe\u0301"
)

func TestANoteIsOneInEverySpelling(t *testing.T) {
	t.Parallel()
	d, _ := newDir(t)
	ctx := t.Context()
	if n := write(t, d, apart, "one"); n.Name != composed {
		t.Errorf("the note is called %+q", n.Name)
	}
	if n := write(t, d, composed, "two"); n.Name != composed {
		t.Errorf("the note is called %+q", n.Name)
	}
	for _, name := range []string{composed, apart} {
		if n, err := d.ReadNote(ctx, name); err != nil || n.Content != "two" || n.Name != composed || n.Commit == "" {
			t.Errorf("%+q: %+v, %v", name, n, err)
		}
		if got := ops(t, d, name); got != "write write" {
			t.Errorf("%+q: history is %q", name, got)
		}
	}
	if all, err := d.ListNotes(ctx); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	must.Do(t, d.DeleteNote(ctx, apart))
	must.Fail(d.ReadNote(ctx, composed))(t, "read after delete", amber.KindNotFound)
	if got := ops(t, d, apart); got != "delete write write" {
		t.Errorf("history after delete is %q", got)
	}
	if err := d.Check(ctx); err != nil {
		t.Error(err)
	}
}

// Files that an older Amber or a person wrote stay as they are and are found
// under every spelling of their name.
func TestAFileOfTheOtherSpellingIsFound(t *testing.T) {
	t.Parallel()
	d, dir := newDir(t)
	ctx := t.Context()
	write(t, d, "plan", "first")
	old := filepath.Join(dir, filepath.FromSlash(apart)+".md")
	must.Do(t, os.MkdirAll(filepath.Dir(old), 0o700))
	must.Do(t, os.WriteFile(old, []byte("by hand"), 0o600))
	for _, name := range []string{composed, apart} {
		if n, err := d.ReadNote(ctx, name); err != nil || n.Content != "by hand" {
			t.Errorf("%+q: %+v, %v", name, n, err)
		}
	}
	write(t, d, composed, "by Amber")
	if raw, err := os.ReadFile(old); err != nil || string(raw) != "by Amber" {
		t.Errorf("the file holds %q, %v", raw, err)
	}
	if twins, err := d.Twins(ctx); err != nil || len(twins) != 0 {
		t.Errorf("twins %v, %v", twins, err)
	}
	if err := d.DeleteNote(ctx, composed); err != nil || exists(t, old) {
		t.Errorf("%v", err)
	}
}

func TestTwinsAreToldApartAndNamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("one file cannot have two spellings here")
	}
	d, dir := newDir(t)
	ctx := t.Context()
	write(t, d, "plan", "first")
	const nfc, nfd = "caf\u00e9", "cafe\u0301"
	for _, name := range []string{nfc, nfd} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".md"), []byte(name), 0o600))
	}
	for _, name := range []string{nfc, nfd} {
		if n, err := d.ReadNote(ctx, name); err != nil || n.Content != name {
			t.Errorf("%+q: %+v, %v", name, n, err)
		}
	}
	twins, err := d.Twins(ctx)
	if diff := cmp.Diff([][]string{{nfd, nfc}}, twins); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	must.Do(t, d.DeleteNote(ctx, nfd))
	if n, err := d.ReadNote(ctx, nfd); err != nil || n.Content != nfc {
		t.Errorf("after the other is gone: %+v, %v", n, err)
	}
}
