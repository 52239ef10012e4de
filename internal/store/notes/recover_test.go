package notes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestRecover(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		byHand  func(t *testing.T, dir string)
		note    string // looked at afterwards
		history string
		subject string // of the last commit but one
	}{
		"edited": {
			byHand:  func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, "known.md"), "by hand") },
			note:    "known",
			history: "recover write", subject: "recover known",
		},
		"new": {
			byHand:  func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, "a", "b.md"), "by hand") },
			note:    "a/b",
			history: "recover", subject: "recover a/b",
		},
		"emptied": {
			byHand:  func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, "known.md"), "") },
			note:    "known",
			history: "recover write", subject: "recover known",
		},
		"removed": {
			byHand:  func(t *testing.T, dir string) { notestest.Remove(t, filepath.Join(dir, "known.md")) },
			note:    "known",
			history: "recover write", subject: "recover known",
		},
		"ignored by rule": {
			byHand: func(t *testing.T, dir string) {
				notestest.Put(t, filepath.Join(dir, ".gitignore"), "*.md\n")
				notestest.Put(t, filepath.Join(dir, ".git", "info", "exclude"), "*.md\n")
				notestest.Put(t, filepath.Join(dir, "new.md"), "by hand")
			},
			note:    "new",
			history: "recover", subject: "recover new",
		},
		"staged": {
			byHand: func(t *testing.T, dir string) {
				notestest.Put(t, filepath.Join(dir, "known.md"), "by hand")
				notestest.Git(t, dir, "add", "known.md")
			},
			note:    "known",
			history: "recover write", subject: "recover known",
		},
		"several": {
			byHand: func(t *testing.T, dir string) {
				notestest.Remove(t, filepath.Join(dir, "known.md"))
				notestest.Put(t, filepath.Join(dir, "new.md"), "by hand")
			},
			note:    "known",
			history: "recover write", subject: "recover 2 notes",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			notestest.Write(t, d, "known", "text")
			tt.byHand(t, dir)
			notestest.Write(t, d, "other", "text")
			must.Equal(t, "history", notestest.Ops(t, d, tt.note), tt.history)
			must.Equal(t, "the commit", strings.TrimSpace(notestest.Git(t, dir, "log", "-1", "--format=%s", "HEAD^")), tt.subject)
			must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain", "--untracked-files=no"), "")
		})
	}
}

func TestReadTellsUncommitted(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "text")
	notestest.Put(t, filepath.Join(dir, "known.md"), "by hand")
	note := must.Get(d.ReadNote(t.Context(), "known"))(t)
	must.Equal(t, "read: content", note.Content, "by hand")
	must.Equal(t, "read: commit", note.Commit, "")
}

func TestRetryAfterCrashBeforeCommit(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "old")
	notestest.Put(t, filepath.Join(dir, "known.md"), "new")
	note := notestest.Write(t, d, "known", "new")
	if got := notestest.Ops(t, d, "known"); got != "recover write" || note.Commit == "" {
		t.Errorf("history is %q, note %+v", got, note)
	}
}

func TestDeleteWhatWasRemovedByHand(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "a/b/known", "text")
	must.Do(t, os.RemoveAll(filepath.Join(dir, "a")))
	must.Do(t, d.DeleteNote(t.Context(), "a/b/known", amber.NoteBy{}))
	must.Equal(t, "history", notestest.Ops(t, d, "a/b/known"), "delete write")
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	others := []string{"picture.png", ".obsidian/workspace.md", "twice.md.md", "bad#name.md"}
	for _, o := range others {
		notestest.Put(t, filepath.Join(dir, o), "not Amber's")
	}
	notestest.Put(t, filepath.Join(dir, "huge.md"), strings.Repeat("x", amber.MaxContentBytes+1))
	notestest.Write(t, d, "known", "text")
	must.Equal(t, "files of the branch", notestest.Git(t, dir, "ls-tree", "-r", "--name-only", "HEAD"), "known.md\n")
	for _, o := range others {
		must.Hold(t, notestest.Exists(t, filepath.Join(dir, o)), "%s is gone", o)
	}

	// A commit made by hand keeps what it holds.
	notestest.Git(t, dir, "add", "picture.png")
	notestest.Git(t, dir, "commit", "-q", "-m", "add a picture")
	notestest.Write(t, d, "known", "more")
	must.Equal(t, "files of the branch", notestest.Git(t, dir, "ls-tree", "-r", "--name-only", "HEAD"), "known.md\npicture.png\n")
}

func TestLeftoversOfAKilledGit(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "text")
	left := []string{
		".git/index.lock", ".git/HEAD.lock", ".git/packed-refs.lock", ".git/config.lock", ".git/refs/heads/main.lock",
		".git/objects/pack/tmp_pack_ABC", ".git/fast_import_crash_17", ".amber-tmp-ABC", "a/.amber-tmp-DEF",
	}
	for _, l := range left {
		notestest.Put(t, filepath.Join(dir, l), "half")
	}
	notestest.Write(t, d, "known", "more")
	for _, l := range left {
		must.Hold(t, !notestest.Exists(t, filepath.Join(dir, l)), "%s is still there", l)
	}
	must.Equal(t, "history", notestest.Ops(t, d, "known"), "write write")
}

func TestTheIndexIsACache(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, index string){
		"lost":  notestest.Remove,
		"empty": func(t *testing.T, index string) { notestest.Put(t, index, "") },
		"torn":  func(t *testing.T, index string) { notestest.Put(t, index, "DIRC\x00\x00\x00\x02\x00\x00\x00\xff") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			for i := range 3 {
				notestest.Write(t, d, fmt.Sprint("n", i), "text")
			}
			lose(t, filepath.Join(dir, ".git", "index"))
			notestest.Write(t, d, "n0", "more")
			must.Equal(t, "history", notestest.Ops(t, d, "n0")+"; "+notestest.Ops(t, d, "n1"), "write write; write")
			must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain"), "")
		})
	}
}

func TestHalfMadeRepositoryIsCompleted(t *testing.T) {
	t.Parallel()
	for name, half := range map[string]func(t *testing.T, git string){
		"only the folder": func(t *testing.T, git string) { notestest.Put(t, filepath.Join(git, "x"), "") },
		"empty head": func(t *testing.T, git string) {
			notestest.Put(t, filepath.Join(git, "HEAD"), "")
			notestest.Put(t, filepath.Join(git, "config"), "[core]\n\trepositoryformatversion = 0\n")
		},
		"empty settings": func(t *testing.T, git string) {
			notestest.Put(t, filepath.Join(git, "HEAD"), "ref: refs/heads/main\n")
			notestest.Put(t, filepath.Join(git, "config"), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			half(t, filepath.Join(dir, ".git"))
			must.NoError(t, d.Check(t.Context()))
			notestest.Write(t, d, "known", "text")
			must.Equal(t, "history", notestest.Ops(t, d, "known"), "write")
			must.NoError(t, d.Check(t.Context()))
		})
	}
}
