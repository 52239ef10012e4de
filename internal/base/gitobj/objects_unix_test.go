//go:build unix

package gitobj_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// objectsOf returns what Objects hands out.
func objectsOf(t *testing.T, o gitobj.Options, want, have gitobj.Refs) (map[string][]byte, error) {
	t.Helper()
	all := map[string][]byte{}
	err := gitobj.Objects(t.Context(), o, want, have, func(oid string, raw []byte) error {
		must.Hold(t, all[oid] == nil, "%s comes twice", oid)
		all[oid] = raw
		return nil
	})
	return all, err
}

func mustObjects(t *testing.T, dir string, want, have gitobj.Refs) map[string][]byte {
	t.Helper()
	return must.Get(objectsOf(t, gitobj.Options{Dir: dir}, want, have))(t)
}

// reachable asks git for the ids of all objects.
func reachable(t *testing.T, dir string) []string {
	t.Helper()
	ids := strings.Fields(notestest.Git(t, dir, "rev-list", "--objects", "--no-object-names", "--all"))
	slices.Sort(ids)
	return ids
}

// source makes a repository with branches, tags and a merge.
func sourceRepo(t *testing.T, format string) string {
	t.Helper()
	dir := t.TempDir()
	notestest.Git(t, dir, "init", "-q", "--initial-branch=main", "--object-format="+format)
	commit := func(name, text string) {
		notestest.Put(t, filepath.Join(dir, name), text)
		notestest.Git(t, dir, "add", "-A")
		notestest.Git(t, dir, "commit", "-q", "-m", name)
	}
	commit("a.md", "one\n")
	commit("folder/b.md", "two\n")
	notestest.Git(t, dir, "checkout", "-q", "-b", "side")
	commit("c.md", strings.Repeat("three\n", 1000))
	notestest.Git(t, dir, "checkout", "-q", "main")
	commit("d.md", "\x00\xff binary")
	notestest.Git(t, dir, "merge", "-q", "-m", "merge", "side")
	notestest.Git(t, dir, "tag", "-a", "-m", "tag", "v1")
	notestest.Git(t, dir, "tag", "light", "HEAD~1")
	notestest.Git(t, dir, "tag", "blob", "HEAD:a.md")
	return dir
}

func TestObjectsAreAllThatAreReachable(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := sourceRepo(t, format)
			refs := readRefs(t, dir)
			all := mustObjects(t, dir, refs, gitobj.Refs{})
			must.Equal(t, "", reachable(t, dir), slices.Sorted(maps.Keys(all)))
			oid := strings.TrimSpace(notestest.Git(t, dir, "rev-parse", "main:folder/b.md"))
			must.Equal(t, "the blob", string(all[oid]), "blob 4\x00two\n")
			notestest.Git(t, dir, "gc", "-q")
			must.Equal(t, "packed", mustObjects(t, dir, refs, gitobj.Refs{}), all)

			notestest.Put(t, filepath.Join(dir, "e.md"), "new\n")
			notestest.Git(t, dir, "add", "-A")
			notestest.Git(t, dir, "commit", "-q", "-m", "new")
			next := readRefs(t, dir)
			fresh := mustObjects(t, dir, next, refs)
			must.Equal(t, "new objects", len(fresh), 3)
			// An object that only another repository has, or that is of another kind, is passed over.
			stranger := gitobj.Refs{Head: strings.Repeat("a", len(next.OID)), OID: strings.Repeat("a", len(next.OID))}
			must.Equal(t, "objects", len(mustObjects(t, dir, next, stranger)), len(all)+3)
			stranger.OID = strings.Repeat("a", 104-len(next.OID))
			must.Equal(t, "objects", len(mustObjects(t, dir, next, stranger)), len(all)+3)
		})
	}
}

func TestNoGitIsStartedForWhatIsKnown(t *testing.T) {
	t.Parallel()
	refs := readRefs(t, sourceRepo(t, "sha1"))
	none := gitobj.Options{Dir: "/nowhere", Git: "/nowhere/git"}
	must.Equal(t, "objects", len(must.Get(objectsOf(t, none, refs, refs))(t)), 0)
	fewer := refs
	fewer.Refs = slices.DeleteFunc(slices.Clone(refs.Refs), func(r gitobj.Ref) bool { return r.Name == "refs/tags/light" })
	must.Equal(t, "objects", len(must.Get(objectsOf(t, none, fewer, refs))(t)), 0)
	if got, err := objectsOf(t, none, gitobj.Refs{Head: "refs/heads/main"}, gitobj.Refs{}); err != nil || len(got) != 0 {
		t.Errorf("before the first commit: %d objects, %v", len(got), err)
	}
}

func TestDamagedObjectsAreNamed(t *testing.T) {
	t.Parallel()
	object := func(t *testing.T, dir, rev string) (oid, file string) {
		oid = strings.TrimSpace(notestest.Git(t, dir, "rev-parse", rev))
		return oid, filepath.Join(dir, ".git", "objects", oid[:2], oid[2:])
	}
	for _, rev := range []string{"HEAD", "HEAD~1", "HEAD^{tree}", "HEAD:folder", "HEAD:folder/b.md", "v1"} {
		for how, spoil := range map[string]func(file, other string) error{
			"missing": func(file, _ string) error { return os.Remove(file) },
			"empty":   func(file, _ string) error { return errors.Join(os.Chmod(file, 0o600), os.Truncate(file, 0)) },
			"swapped": func(file, other string) error { return errors.Join(os.Remove(file), os.Link(other, file)) },
			"cut off": func(file, _ string) error { return errors.Join(os.Chmod(file, 0o600), os.Truncate(file, 12)) },
		} {
			t.Run(rev+" "+how, func(t *testing.T) {
				t.Parallel()
				dir := sourceRepo(t, "sha1")
				refs := readRefs(t, dir)
				oid, file := object(t, dir, rev)
				_, other := object(t, dir, "HEAD:c.md")
				must.Do(t, spoil(file, other))
				_, err := objectsOf(t, gitobj.Options{Dir: dir}, refs, gitobj.Refs{})
				must.Kind(t, "objects", err, amber.KindDamaged)
				if err == nil || !strings.Contains(err.Error(), oid) {
					t.Errorf("the error does not name %s: %v", oid, err)
				}
			})
		}
	}
}

// A file that is no good does not matter when a pack has the object.
func TestObjectsInFilesAndPacks(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	random := make([]byte, 3<<20)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	notestest.Put(t, filepath.Join(dir, "large"), string(random))
	notestest.Git(t, dir, "add", "-A")
	notestest.Git(t, dir, "commit", "-q", "-m", "large")
	refs := readRefs(t, dir)
	want := mustObjects(t, dir, refs, gitobj.Refs{})
	must.Equal(t, "", reachable(t, dir), slices.Sorted(maps.Keys(want)))
	notestest.Git(t, dir, "repack", "-q", "-a")
	files, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "??", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		if i%2 == 0 {
			notestest.Remove(t, file)
			notestest.Put(t, file, "no object")
		}
	}
	got := must.Get(objectsOf(t, gitobj.Options{Dir: dir}, refs, gitobj.Refs{}))(t)
	must.Equal(t, "", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
}

func TestForeignRepositoryHasNoEffectAndIsNotWritten(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	want := mustObjects(t, dir, refs, gitobj.Refs{})
	git := filepath.Join(dir, ".git")
	mark := filepath.Join(t.TempDir(), "mark")
	prog := notestest.Program(t, mark)
	head := refs.OID
	notestest.Git(t, dir, "commit-graph", "write", "--reachable")
	notestest.Git(t, dir, "replace", head, head+"~1")
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-auto-gc"} {
		notestest.Script(t, filepath.Join(git, "hooks", hook), prog+" </dev/null")
	}
	notestest.Put(t, filepath.Join(git, "info", "grafts"), head+"\n")
	notestest.Put(t, filepath.Join(git, "info", "attributes"), "* filter=x\n")
	notestest.Put(t, filepath.Join(git, "config"), "[core]\n\tfsmonitor = "+prog+"\n\tsshCommand = "+prog+"\n[alias]\n\trev-list = !"+prog+
		"\n[filter \"x\"]\n\tclean = "+prog+"\n\tsmudge = "+prog+"\n[include]\n\tpath = /nowhere\n[core]\n\tbroken syntax [[[\n")
	before := contents(t, dir)
	must.Equal(t, "", mustObjects(t, dir, refs, gitobj.Refs{}), want)
	must.Equal(t, "the repository", contents(t, dir), before)
	must.Hold(t, !notestest.Exists(t, mark), "a program was run")
}

// contents returns everything below a folder with its times.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for path := range tree(t, dir) {
		full := filepath.Join(dir, path)
		info, err := os.Lstat(full)
		if err != nil {
			continue // the folder itself
		}
		text, _ := os.ReadFile(full)
		all[path] = fmt.Sprint(info.Mode(), info.ModTime(), string(text))
	}
	return all
}

func TestRepositoriesThatAreNotWhole(t *testing.T) {
	t.Parallel()
	clone := func(t *testing.T, args ...string) string {
		from := sourceRepo(t, "sha1")
		notestest.Git(t, from, "config", "uploadpack.allowFilter", "true")
		dir := filepath.Join(t.TempDir(), "clone")
		notestest.Git(t, from, append(append([]string{"clone", "-q"}, args...), "file://"+from, dir)...)
		return dir
	}
	tests := map[string]func(t *testing.T) string{
		"shallow": func(t *testing.T) string { return clone(t, "--depth=1") },
		"partial": func(t *testing.T) string { return clone(t, "--filter=blob:none", "--no-checkout") },
		"borrowing": func(t *testing.T) string {
			from, dir := sourceRepo(t, "sha1"), filepath.Join(t.TempDir(), "clone")
			notestest.Git(t, from, "clone", "-q", "--shared", from, dir)
			return dir
		},
		"linked objects": func(t *testing.T) string {
			dir := sourceRepo(t, "sha1")
			away := filepath.Join(t.TempDir(), "objects")
			must.Do(t, os.Rename(filepath.Join(dir, ".git", "objects"), away))
			notestest.Symlink(t, away, filepath.Join(dir, ".git", "objects"))
			return dir
		},
	}
	for name, repository := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t)
			before := contents(t, dir)
			must.Fail(objectsOf(t, gitobj.Options{Dir: dir}, readRefs(t, dir), gitobj.Refs{}))(t, "objects", amber.KindUnsupported)
			must.Equal(t, "the repository", contents(t, dir), before)
		})
	}
	// A partial clone that has everything is whole.
	dir := clone(t, "--filter=blob:limit=1m")
	must.Hold(t, len(mustObjects(t, dir, readRefs(t, dir), gitobj.Refs{})) != 0, "nothing came")
}

func TestObjectsEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	notestest.Git(t, dir, "gc", "-q")
	temp := t.TempDir()
	o := gitobj.Options{Dir: dir, Temp: temp}

	mine := errors.New("mine")
	err := gitobj.Objects(t.Context(), o, refs, gitobj.Refs{}, func(string, []byte) error { return mine })
	must.Hold(t, err == mine, "the error of the caller became %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	err = gitobj.Objects(ctx, o, refs, gitobj.Refs{}, func(string, []byte) error { cancel(); return nil })
	if err != nil && amber.KindOf(err) != amber.KindUnreachable {
		t.Errorf("broken off: %v", err)
	}
	must.Kind(t, "broken off before", gitobj.Objects(ctx, o, refs, gitobj.Refs{}, nil), amber.KindUnreachable)

	o.Git = "/nowhere/git"
	must.Equal(t, "objects without git", len(must.Get(objectsOf(t, o, refs, gitobj.Refs{}))(t)), len(reachable(t, dir)))
	must.Equal(t, "files left in the temporary folder", len(tree(t, temp)), 1)
	must.Fail(objectsOf(t, o, gitobj.Refs{Head: "x", OID: "HEAD"}, gitobj.Refs{}))(t, "refs that are not valid", amber.KindInvalid)
}
