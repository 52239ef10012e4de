//go:build unix

package gitobj_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

func freshDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		notestest.Put(t, filepath.Join(dir, name), content)
	}
	return dir
}

func TestFreshCommitIsTheWholeFolderAndTheWholeHistory(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"a.md": "one\r\n", "folder/b.md": "two", "folder.md": "sorts before the folder", "folder-x/c.md": "", "ünï 雪.md": "\x00\xff",
		".gitignore": "*.md\n", ".hidden": "x", "deep/er/and/deeper.md": "one\r\n", "big.md": strings.Repeat("text\n", 300_000),
	}
	dir := freshDir(t, texts)
	must.Do(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	notestest.Script(t, filepath.Join(dir, "run.sh"), "true")
	refs := must.Get(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, "redacted", notestest.Start))(t)
	must.Equal(t, "", readRefs(t, dir), refs)
	notestest.Git(t, dir, "fsck", "--strict", "--full")
	history := notestest.Git(t, dir, "log", "--all", "--format=%an <%ae> %at %cn <%ce> %ct %s")
	must.Equal(t, "history", history, "Amber <amber@localhost> 1772600767 Amber <amber@localhost> 1772600767 redacted\n")
	must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain"), "")
	out := t.TempDir()
	notestest.Git(t, dir, "worktree", "add", "-q", "--detach", filepath.Join(out, "tree"))
	got := files(t, filepath.Join(out, "tree"))
	delete(got, ".git")
	want := files(t, dir)
	for name := range want {
		if strings.HasPrefix(name, ".git/") {
			delete(want, name)
		}
	}
	must.Equal(t, "", got, want)
	if mode := notestest.Git(t, dir, "ls-tree", "HEAD", "run.sh"); !strings.HasPrefix(mode, "100755 ") {
		t.Errorf("the program is %q", mode)
	}
}

func TestFreshCommitIsTheSameForTheSameFiles(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"a.md": "one", "folder/b.md": "two"}
	commit := func(texts map[string]string, message string, at time.Time) (gitobj.Refs, map[string]string) {
		dir := freshDir(t, texts)
		refs := must.Get(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, message, at))(t)
		made := files(t, filepath.Join(dir, ".git"))
		return refs, made
	}
	refs, made := commit(texts, "x", notestest.Start)
	again, madeAgain := commit(texts, "x", notestest.Start.In(time.FixedZone("", 3600)))
	must.Equal(t, "", refs, again)
	must.Equal(t, "", made, madeAgain)
	if other, _ := commit(texts, "y", notestest.Start); other.OID == refs.OID {
		t.Error("the message does not count")
	}
	if other, _ := commit(texts, "x", notestest.Start.Add(time.Second)); other.OID == refs.OID {
		t.Error("the time does not count")
	}
}

func TestFreshCommitLeavesOutWhatMeansSomethingToGit(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	dir := freshDir(t, map[string]string{
		"a.md": "one", ".gitmodules": "[submodule \"-x\"]\n\tpath = -x\n\turl = --upload-pack=x\n", "sub/.git/config": "nonsense",
		"sub/.Git": "x", "sub/git~1": "x", "sub/.g\u200cit/x": "x", ".gitattributes": "* filter=x diff=x\n", "sub/x\\.git": "x",
	})
	booby(t, filepath.Join(dir, "sub", ".git"), mark)
	must.Get(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, "x", notestest.Start))(t)
	must.Equal(t, "the commit", notestest.Git(t, dir, "ls-tree", "-r", "--name-only", "HEAD"), "a.md\n")
	must.Hold(t, !notestest.Exists(t, mark), "a program was run")
}

func TestFreshCommitOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refs := must.Get(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, "x", notestest.Start))(t)
	must.Equal(t, "the commit", notestest.Git(t, dir, "ls-tree", "-r", refs.OID), "")
	must.Fail(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, "x", notestest.Start))(t, "again", amber.KindConflict)
}

func TestFreshCommitRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := freshDir(t, map[string]string{"a.md": "one"})
	notestest.Symlink(t, "/etc/passwd", filepath.Join(dir, "link.md"))
	must.Fail(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, "x", notestest.Start))(t, "a link", amber.KindInvalid)
	must.Hold(t, !notestest.Exists(t, filepath.Join(dir, ".git")), "there is a repository")
	dir = freshDir(t, map[string]string{strings.Repeat("d/", 120) + "a.md": "one"})
	must.Fail(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, "x", notestest.Start))(t, "deep folders", amber.KindInvalid)
}

func TestFreshCommitIsANotesFolder(t *testing.T) {
	t.Parallel()
	dir := freshDir(t, map[string]string{"a.md": "one"})
	must.Get(gitobj.FreshCommit(t.Context(), gitobj.Options{}, dir, "x", notestest.Start))(t)
	d := notestest.At(t, dir, notes.Options{})
	notestest.Write(t, d, "a", "two")
	must.NoError(t, d.Check(t.Context()))
	must.Equal(t, "commits", strings.Count(notestest.Git(t, dir, "log", "--format=%H"), "\n"), 2)
}
