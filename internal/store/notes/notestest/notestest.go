// Package notestest is what tests of notes and of git repositories share: notes in temporary folders, git as its
// user runs it, and programs that leave a mark when they are run.
package notestest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/must"
)

// Start is the first instant of every test.
var Start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// Ticking returns a clock that goes on by a second at each reading.
func Ticking() amber.Clock {
	var n atomic.Int64
	return func() time.Time { return Start.Add(time.Duration(n.Add(1)) * time.Second) }
}

// New returns notes in a fresh folder.
func New(t *testing.T) (*notes.Dir, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "memdir")
	return At(t, dir, notes.Options{}), dir
}

// At returns notes in the given folder, with a guard and a clock where o has none.
func At(t *testing.T, dir string, o notes.Options) *notes.Dir {
	t.Helper()
	if o.Guard == nil {
		o.Guard = notes.Fixed(dir)
	}
	if o.Clock == nil {
		o.Clock = Ticking()
	}
	return must.Get(notes.New(o))(t)
}

// Write writes a note.
func Write(t *testing.T, d *notes.Dir, name, content string) amber.Note {
	t.Helper()
	return must.Get(d.WriteNote(t.Context(), amber.NoteWrite{Name: name, Content: content}))(t)
}

// Ops returns what happened to a note, newest first.
func Ops(t *testing.T, d *notes.Dir, name string) string {
	t.Helper()
	log := must.Get(d.LogNote(t.Context(), name, 100))(t)
	var ops []string
	for _, c := range log {
		ops = append(ops, c.Op)
	}
	return strings.Join(ops, " ")
}

// Git runs git in dir as its user would, apart from the user's configuration.
func Git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Someone", "GIT_AUTHOR_EMAIL=s@localhost", "GIT_COMMITTER_NAME=Someone", "GIT_COMMITTER_EMAIL=s@localhost",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Put writes a file and the folders it needs.
func Put(t *testing.T, path, content string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
}

// Exists reports whether there is something at path.
func Exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

// Each calls every operation that needs a repository, on one with the note "known".
func Each(ctx context.Context, d *notes.Dir) map[string]error {
	errs := map[string]error{}
	_, errs["write"] = d.WriteNote(ctx, amber.NoteWrite{Name: "known", Content: "new text"})
	_, errs["read"] = d.ReadNote(ctx, "known")
	_, errs["log"] = d.LogNote(ctx, "known", 1)
	errs["delete"] = d.DeleteNote(ctx, "known", amber.NoteBy{})
	errs["check"] = d.Check(ctx)
	return errs
}

// Remove removes a file.
func Remove(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.Remove(path))
}

// Program writes an executable that leaves a mark when it is run, and returns its path.
func Program(t *testing.T, mark string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	Script(t, path, "touch '"+mark+"'; cat")
	return path
}

// Script writes an executable shell script. Another process writes it: were it this one, a git that another
// test starts at the same time would hold the file open for writing for an instant, and it could not be run.
func Script(t *testing.T, path, body string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	cmd := exec.Command("sh", "-c", `cat > "$0" && chmod 700 "$0"`, path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + body + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("write %s: %v: %s", path, err, out)
	}
}

// Symlink makes path a link to to.
func Symlink(t *testing.T, to, path string) {
	t.Helper()
	must.Do(t, os.Symlink(to, path))
}
