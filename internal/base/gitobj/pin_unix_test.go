//go:build unix

package gitobj_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestPinKeepsACommitFromBeingCollected(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "text")
	head := strings.TrimSpace(notestest.Git(t, dir, "rev-parse", "HEAD"))
	before := tree(t, filepath.Join(dir, ".git"))
	unpin := must.Get(gitobj.Pin(fsx.OS(), dir, "one", head))(t)
	must.Equal(t, "pinned", strings.TrimSpace(notestest.Git(t, dir, "rev-parse", "refs/amber/snapshot/one")), head)
	for what, err := range notestest.Each(t.Context(), d) {
		must.Hold(t, err == nil, "%s: %v", what, err)
	}
	// The branch is rewritten and everything unreachable collected.
	notestest.Git(t, dir, "checkout", "-q", "--orphan", "new")
	notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "new")
	notestest.Git(t, dir, "branch", "-M", "main")
	notestest.Git(t, dir, "reflog", "expire", "--expire=now", "--all")
	notestest.Git(t, dir, "prune", "--expire=now")
	notestest.Git(t, dir, "cat-file", "-e", head+":known.md")
	for range 2 {
		must.Do(t, unpin())
	}
	notestest.Git(t, dir, "reset", "-q", "--hard", head)
	for path := range tree(t, filepath.Join(dir, ".git")) {
		if !before[path] && strings.HasPrefix(path, "refs/") {
			t.Errorf("%s is left", path)
		}
	}
}

// tree returns the paths below a folder.
func tree(t *testing.T, dir string) map[string]bool {
	t.Helper()
	paths := map[string]bool{}
	must.Do(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		paths[strings.TrimPrefix(path, dir+"/")] = true
		return err
	}))
	return paths
}

func TestPinsOfTheDeadAreSwept(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	head := notestest.Write(t, d, "known", "text").Commit
	pins := filepath.Join(dir, ".git", "refs", "amber", "snapshot")
	for _, name := range []string{"dead", "dead.lock", "older", "lonely.lock", fsx.TempPrefix + "1"} {
		notestest.Put(t, filepath.Join(pins, name), head+"\n")
	}
	unpin := must.Get(gitobj.Pin(fsx.OS(), dir, "one", head))(t)
	if got := tree(t, pins); len(got) != 3 || !got["one"] || !got["one.lock"] {
		t.Errorf("there are %v", got)
	}
	must.Fail(gitobj.Pin(fsx.OS(), dir, "one", head))(t, "pin again", amber.KindBusy)
	other := must.Get(gitobj.Pin(fsx.OS(), dir, "two", head))(t)
	must.Hold(t, notestest.Exists(t, filepath.Join(pins, "one")), "the pin of somebody alive was swept")
	must.NoError(t, unpin())
	must.NoError(t, other())
	must.Hold(t, !notestest.Exists(t, filepath.Dir(pins)), "the folders are left")
	must.NoError(t, d.Check(t.Context()))
}

// A git gc meanwhile packs the pin; the next snapshot removes it.
func TestPackedPinIsDropped(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	head := notestest.Write(t, d, "known", "text").Commit
	unpin := must.Get(gitobj.Pin(fsx.OS(), dir, "one", head))(t)
	notestest.Git(t, dir, "pack-refs", "--all", "--no-prune")
	must.Do(t, d.CommitAll(t.Context()))
	notestest.Git(t, dir, "rev-parse", "--verify", "refs/amber/snapshot/one")
	must.Do(t, unpin())
	must.Do(t, d.CommitAll(t.Context()))
	must.Equal(t, "refs", notestest.Git(t, dir, "for-each-ref", "--format=%(refname)"), "refs/heads/main\n")
}

func TestPinRefusesWhatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	oid := strings.Repeat("a", 40)
	for _, link := range []string{"refs", "refs/amber", "refs/amber/snapshot"} {
		d, dir := notestest.New(t)
		notestest.Write(t, d, "known", "text")
		away := t.TempDir()
		path := filepath.Join(dir, ".git", link)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		os.RemoveAll(path)
		notestest.Symlink(t, away, path)
		must.Fail(gitobj.Pin(fsx.OS(), dir, "one", oid))(t, link, amber.KindDamaged)
		must.Equal(t, "files behind "+link, len(tree(t, away)), 1)
		must.Kind(t, "check", d.Check(t.Context()), amber.KindDamaged)
	}
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "text")
	for _, name := range []string{"", "..", "a/b", "a.lock", "-a", "A", strings.Repeat("a", 65)} {
		must.Fail(gitobj.Pin(fsx.OS(), dir, name, oid))(t, name, amber.KindInvalid)
	}
	must.Fail(gitobj.Pin(fsx.OS(), dir, "a", "HEAD"))(t, "no id", amber.KindInvalid)
	must.Error(t, "pinning where there is no repository", must.Err(gitobj.Pin(fsx.OS(), t.TempDir(), "a", oid)))
}
