package notes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestLifeOfANote(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	ctx := t.Context()

	first := notestest.Write(t, d, "people/ada lovelace.md", "first")
	if first.Name != "people/ada lovelace" || first.Content != "first" || first.Bytes != 5 || first.Commit == "" || first.UpdatedAt.IsZero() {
		t.Errorf("written note is %+v", first)
	}
	second := notestest.Write(t, d, "people/ada lovelace", "second")
	must.Hold(t, second.Commit != first.Commit, "a change made no commit")
	if again := notestest.Write(t, d, "people/ada lovelace", "second"); again != second {
		t.Errorf("equal content changed the note: %s", cmp.Diff(again, second, cmp.AllowUnexported(amber.Time{})))
	}
	got, err := d.ReadNote(ctx, "people/ada lovelace")
	must.Hold(t, err == nil && got == second, "read %+v, %v; want %+v", got, err, second)
	must.Equal(t, "the file", string(must.Get(os.ReadFile(filepath.Join(dir, "people", "ada lovelace.md")))(t)), "second")

	must.Do(t, d.DeleteNote(ctx, "people/ada lovelace", amber.NoteBy{}))
	must.Hold(t, !notestest.Exists(t, filepath.Join(dir, "people")), "the empty folder is still there")
	must.Fail(d.ReadNote(ctx, "people/ada lovelace"))(t, "read after delete", amber.KindNotFound)
	must.Kind(t, "second delete", d.DeleteNote(ctx, "people/ada lovelace", amber.NoteBy{}), amber.KindNotFound)

	must.Equal(t, "history", notestest.Ops(t, d, "people/ada lovelace"), "delete write write")
	must.NoError(t, d.Check(ctx))
}

func TestListNotes(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	for _, name := range []string{"b", "a/z", "a", "a/b/c", "ünïcode/ß"} {
		notestest.Write(t, d, name, "text of "+name)
	}
	notestest.Put(t, filepath.Join(dir, "plain.txt"), "no note")
	notestest.Put(t, filepath.Join(dir, ".hidden.md"), "no note")
	notestest.Put(t, filepath.Join(dir, "twice.md.md"), "no note: its name would be that of another")
	notestest.Put(t, filepath.Join(dir, ".obsidian", "x.md"), "no note")
	notestest.Put(t, filepath.Join(dir, "by hand.md"), "a note")

	notes := must.Get(d.ListNotes(t.Context()))(t)
	var got []string
	for _, n := range notes {
		must.Hold(t, n.Content == "" && n.Commit == "" && !n.UpdatedAt.IsZero(), "listed note is %+v", n)
		got = append(got, fmt.Sprint(n.Name, " ", n.Bytes))
	}
	must.Equal(t, "", got, []string{"a 9", "a/b/c 13", "a/z 11", "b 9", "by hand 6", "ünïcode/ß 20"})
}

// LoadNotes reads many notes with their texts at once. It reports a note that holds no text, and that note hides no
// other.
func TestLoadNotes(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "b", "two")
	notestest.Write(t, d, "a/z", "one")
	notestest.Put(t, filepath.Join(dir, "c.md"), "\xff")
	var got []string
	must.Do(t, d.LoadNotes(t.Context(), func(n amber.Note, err error) error {
		got = append(got, fmt.Sprint(n.Name, " ", n.Content, " ", amber.KindOf(err)))
		return nil
	}))
	must.Equal(t, "", []string{"a/z one ", "b two ", "c  damaged"}, got)
	stop := errors.New("enough")
	must.Is(t, "ended with", d.LoadNotes(t.Context(), func(amber.Note, error) error { return stop }), stop)
}

func TestBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	ctx := t.Context()
	must.Equal(t, "listed", len(must.Get(d.ListNotes(ctx))(t)), 0)
	must.Fail(d.ReadNote(ctx, "a"))(t, "read", amber.KindNotFound)
	must.Fail(d.LogNote(ctx, "a", 1))(t, "log", amber.KindNotFound)
	must.Kind(t, "delete", d.DeleteNote(ctx, "a", amber.NoteBy{}), amber.KindNotFound)
	must.NoError(t, d.Check(ctx))
	must.Hold(t, !notestest.Exists(t, dir), "something made the folder")
}

func TestLogNote(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	for i := range 5 {
		notestest.Write(t, d, "a", fmt.Sprint(i))
		notestest.Write(t, d, "other", fmt.Sprint(i))
	}
	notestest.Put(t, filepath.Join(dir, "a.md"), "by hand")
	notestest.Git(t, dir, "commit", "-q", "-a", "-m", ": edited the note")
	notestest.Git(t, dir, "rm", "-q", "a.md")
	notestest.Git(t, dir, "commit", "-q", "-m", "gone")

	must.Equal(t, "history", notestest.Ops(t, d, "a"), "delete write write write write write write")
	log, err := d.LogNote(t.Context(), "other", 2)
	if err != nil || len(log) != 2 {
		t.Fatalf("log is %v, %v", log, err)
	}
	if !log[1].At.Before(log[0].At) || log[1].At.Before(amber.At(notestest.Start)) || log[0].At.Time().After(notestest.Start.Add(time.Hour)) {
		t.Errorf("commits are dated %s and %s", log[0].At, log[1].At)
	}
	must.Fail(d.LogNote(t.Context(), "other", 0))(t, "limit 0", amber.KindInvalid)
	must.Fail(d.LogNote(t.Context(), "never", 1))(t, "never written", amber.KindNotFound)
	must.NoError(t, must.Err(d.LogNote(t.Context(), "other", 1<<30)))
	err = must.Err(d.NoteAt(t.Context(), "other", strings.Repeat("ab", 20)))
	must.Equal(t, "kind at an unknown commit", amber.KindOf(err), amber.KindNotFound)
	must.Says(t, "error at an unknown commit", err.Error(), `read note other: commit "`+strings.Repeat("ab", 20)+`" is none of the last`)
}

func TestWritersShareAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	guard := notes.Fixed(dir)
	var wg sync.WaitGroup
	for w := range 2 {
		d := notestest.At(t, dir, notes.Options{Guard: guard})
		wg.Go(func() {
			for i := range 20 {
				must.NoError(t, must.Err(d.WriteNote(t.Context(), amber.NoteWrite{Name: fmt.Sprintf("w%d/n%d", w, i), Content: "text"})))
				must.NoError(t, must.Err(d.ReadNote(t.Context(), fmt.Sprintf("w%d/n%d", w, i))))
			}
		})
	}
	wg.Wait()
	must.Equal(t, "notes of the branch", strings.Count(notestest.Git(t, dir, "ls-tree", "-r", "--name-only", "HEAD"), "\n"), 40)
	must.Equal(t, "commits of the branch", strings.TrimSpace(notestest.Git(t, dir, "rev-list", "--count", "HEAD")), "40")
	must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain"), "")
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "text")
	names := map[string]string{
		"parent":            "../x",
		"inner parent":      "a/../../x",
		"repository":        ".git/config",
		"repository folded": ".GIT/config",
		"short name":        "git~1/config",
		"attributes":        "a/.gitattributes",
		"device":            "CON",
		"device in folder":  "a/nul.txt",
		"nul byte":          "a\x00b",
		"long":              strings.Repeat("a", 10_000),
		"absolute":          "/etc/passwd",
		"trailing dot":      "a.",
		"trailing space":    "a ",
		"option":            "-rf",
		"backslash":         `a\b`,
		"stream":            "a:b",
		"newline":           "a\nM 100644 inline b",
		"quote":             `"a"`,
		"glob":              "*",
		"pathspec magic":    ":(glob)**",
		"empty":             "",
		"only suffix":       ".md",
		"not utf-8":         "a\xff",
	}
	for what, name := range names {
		ctx := t.Context()
		must.Fail(d.WriteNote(ctx, amber.NoteWrite{Name: name, Content: "text"}))(t, "write "+what, amber.KindInvalid)
		must.Fail(d.ReadNote(ctx, name))(t, "read "+what, amber.KindInvalid)
		must.Fail(d.LogNote(ctx, name, 1))(t, "log "+what, amber.KindInvalid)
		must.Kind(t, "delete "+what, d.DeleteNote(ctx, name, amber.NoteBy{}), amber.KindInvalid)
	}
	must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain", "--ignored"), "")
	must.Fail(d.WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: "a\x00b"}))(t, "content", amber.KindInvalid)
}

func TestContentIsKeptToTheByte(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	// Rules that would have git rewrite text, had it a say.
	notestest.Put(t, filepath.Join(dir, ".gitattributes"), "* text eol=lf ident working-tree-encoding=UTF-16\n")
	for name, content := range map[string]string{
		"crlf":    "a\r\nb\r\n",
		"no end":  "a",
		"ident":   "$Id$\n",
		"command": "\ndone\nreset refs/heads/main\nM 100644 inline x\n",
		"large":   strings.Repeat("0123456789abcde\n", amber.MaxContentBytes/16),
	} {
		notestest.Write(t, d, name, content)
		notestest.Write(t, d, "between", name)
		if got := notestest.Git(t, dir, "cat-file", "blob", "HEAD:"+name+".md"); got != content {
			t.Errorf("%s: the branch holds other bytes", name)
		}
		if note, err := d.ReadNote(t.Context(), name); err != nil || note.Content != content || note.Commit == "" {
			t.Errorf("%s: read %d bytes at commit %q, %v", name, len(note.Content), note.Commit, err)
		}
		must.Equal(t, name+": history", notestest.Ops(t, d, name), "write")
	}
}

func TestNewChecksItsOptions(t *testing.T) {
	t.Parallel()
	for what, o := range map[string]notes.Options{
		"no guard": {Clock: notestest.Ticking()},
		"no clock": {Guard: notes.Fixed("x")},
	} {
		must.Fail(notes.New(o))(t, what, amber.KindInvalid)
	}
}

// closed is a guard that refuses every caller.
type closed struct{ notes.Guard }

var errClosed = errors.New("closed")

func (closed) Write(ctx context.Context, fn func(string) error) error { return errClosed }
func (closed) Read(ctx context.Context, fn func(string) error) error  { return errClosed }

func TestGuardErrorsComeThrough(t *testing.T) {
	t.Parallel()
	d := notestest.At(t, "", notes.Options{Guard: closed{}})
	errs := notestest.Each(t.Context(), d)
	_, errs["list"] = d.ListNotes(t.Context())
	for what, err := range errs {
		must.Is(t, what, err, errClosed)
	}
}
