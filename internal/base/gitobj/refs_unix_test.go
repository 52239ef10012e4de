//go:build unix

package gitobj_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

func readRefs(t *testing.T, dir string) gitobj.Refs {
	t.Helper()
	refs, found, err := gitobj.ReadRefs(fsx.OS(), dir)
	if err != nil || !found {
		t.Fatalf("found %v, %v", found, err)
	}
	return refs
}

// gitRefs asks git for what ReadRefs reads.
func gitRefs(t *testing.T, dir string) []gitobj.Ref {
	t.Helper()
	var refs []gitobj.Ref
	for line := range strings.Lines(notestest.Git(t, dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags")) {
		name, oid, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs = append(refs, gitobj.Ref{Name: name, OID: oid})
	}
	return refs
}

func TestReadRefsReadsWhatGitReads(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, found, err := gitobj.ReadRefs(fsx.OS(), dir); found || err != nil {
				t.Fatalf("found a repository in an empty folder: %v", err)
			}
			notestest.Git(t, dir, "init", "-q", "--initial-branch=main", "--object-format="+format)
			if got := readRefs(t, dir); !got.Equal(gitobj.Refs{Head: "refs/heads/main"}) {
				t.Errorf("before the first commit: %+v", got)
			}
			notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
			notestest.Git(t, dir, "tag", "-a", "-m", "tag", "v1")
			notestest.Git(t, dir, "branch", "side/branch")
			notestest.Git(t, dir, "pack-refs", "--all")
			notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "two")
			notestest.Git(t, dir, "tag", "light")
			notestest.Git(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
			notestest.Git(t, dir, "update-ref", "refs/amber/snapshot/x", "HEAD")
			notestest.Put(t, filepath.Join(dir, ".git/refs/heads/main.lock"), "")
			notestest.Put(t, filepath.Join(dir, ".git/refs/heads/.amber-tmp-1"), "")

			got := readRefs(t, dir)
			want := gitobj.Refs{Head: "refs/heads/main", OID: strings.TrimSpace(notestest.Git(t, dir, "rev-parse", "HEAD")), Refs: gitRefs(t, dir)}
			must.Equal(t, "", got, want)
			notestest.Git(t, dir, "pack-refs", "--all")
			must.Equal(t, "packed", readRefs(t, dir), want)
			notestest.Remove(t, filepath.Join(dir, ".git/refs/heads/main.lock"))
			notestest.Git(t, dir, "checkout", "-q", "--detach")
			if got := readRefs(t, dir); got.Head != want.OID || got.OID != want.OID {
				t.Errorf("detached: %+v", got)
			}
		})
	}
}

func TestReadRefsRefusesWhatGitWouldNotRead(t *testing.T) {
	t.Parallel()
	oid := strings.Repeat("a", 40)
	file := func(name, content string) func(t *testing.T, git string) {
		return func(t *testing.T, git string) {
			notestest.Put(t, filepath.Join(git, filepath.FromSlash(name)), content)
		}
	}
	tests := map[string]struct {
		spoil func(t *testing.T, git string)
		want  amber.Kind
	}{
		"garbage":        {file("refs/heads/x", "x\n"), amber.KindDamaged},
		"empty":          {file("refs/heads/x", ""), amber.KindDamaged},
		"zeros":          {file("refs/heads/x", strings.Repeat("0", 40)), amber.KindDamaged},
		"other hash":     {file("refs/heads/x", strings.Repeat("a", 64)), amber.KindDamaged},
		"huge ref":       {file("refs/heads/x", strings.Repeat("a", 10_000)), amber.KindDamaged},
		"bad name":       {file("refs/heads/a~b", oid), amber.KindDamaged},
		"symbolic":       {file("refs/heads/x", "ref: refs/heads/main\n"), amber.KindUnsupported},
		"deep":           {file("refs/heads/"+strings.Repeat("a/", 40)+"x", oid), amber.KindDamaged},
		"garbage packed": {file("packed-refs", "what is this\n"), amber.KindDamaged},
		"packed id":      {file("packed-refs", "xyz refs/heads/a\n"), amber.KindDamaged},
		"packed name":    {file("packed-refs", oid+" refs/heads/../../x\n"), amber.KindDamaged},
		"excluding":      {file("packed-refs", oid+" refs/heads/main/x\n"), amber.KindDamaged},
		"huge packed":    {file("packed-refs", strings.Repeat("#\n", 5<<20)), amber.KindDamaged},
		"too many": {func(t *testing.T, git string) {
			notestest.Put(t, filepath.Join(git, "packed-refs"), manyRefs(10_001))
		}, amber.KindQuota},
		"head":          {file("HEAD", "ref: ../../x\n"), amber.KindDamaged},
		"head is a tag": {file("HEAD", "ref: refs/tags/x\n"), amber.KindDamaged},
		"garbage head":  {file("HEAD", "x"), amber.KindDamaged},
		"reftable":      {file("reftable/tables.list", ""), amber.KindUnsupported},
		"linked refs": {func(t *testing.T, git string) {
			notestest.Remove(t, filepath.Join(git, "refs/tags"))
			notestest.Symlink(t, "/", filepath.Join(git, "refs/tags"))
		}, amber.KindUnsupported},
		"linked ref": {func(t *testing.T, git string) {
			notestest.Symlink(t, "/etc/passwd", filepath.Join(git, "refs/heads/x"))
		}, amber.KindDamaged},
		"linked folder":   {func(t *testing.T, git string) { notestest.Symlink(t, "/", filepath.Join(git, "refs/heads/x")) }, amber.KindDamaged},
		"work tree of it": {func(t *testing.T, git string) { os.RemoveAll(git); notestest.Put(t, git, "gitdir: /\n") }, amber.KindUnsupported},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			notestest.Git(t, dir, "init", "-q", "--initial-branch=main", "--template=")
			notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
			tt.spoil(t, filepath.Join(dir, ".git"))
			_, found, err := gitobj.ReadRefs(fsx.OS(), dir)
			must.Kind(t, "read refs", err, tt.want)
			must.Hold(t, !found, "it was found")
		})
	}
}

func manyRefs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s refs/heads/b%d\n", strings.Repeat("a", 40), i)
	}
	return b.String()
}

// The names are those that git takes.
func TestRefNamesAreThoseOfGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notestest.Git(t, dir, "init", "-q", "--initial-branch=main")
	for _, name := range []string{
		"a", "a/b", "ünï", "a.b", "a-b", "@", "a@b", "1", "a.lock", "a.lock/b", ".a", "a/.b", "a..b", "a.", "a/", "/a", "a//b", "a b", "a~",
		"a^", "a:", "a?", "a*", "a[", `a\`, "a@{b", "a\x01", "a\x7f", "", "lock", "a.LOCK",
	} {
		want := checkRefFormat(dir, "refs/heads/"+name)
		refs := gitobj.Refs{Head: "refs/heads/main", Refs: []gitobj.Ref{{Name: "refs/heads/" + name, OID: strings.Repeat("a", 40)}}}
		must.Equal(t, name, refs.Check() == nil, want)
	}
	for _, name := range []string{"HEAD", "refs/remotes/origin/x", "refs/x", "refs/heads/HEAD", "refs/heads/-x", "refs/heads"} {
		refs := gitobj.Refs{Head: "refs/heads/main", Refs: []gitobj.Ref{{Name: name, OID: strings.Repeat("a", 40)}}}
		must.Hold(t, refs.Check() != nil, "%q is taken", name)
	}
}

func FuzzReadPackedRefs(f *testing.F) {
	oid := strings.Repeat("a", 40)
	f.Add("# pack-refs with: peeled\n"+oid+" refs/heads/x\n^"+oid+"\n", "ref: refs/heads/x\n")
	f.Add(oid+" refs/heads/a\n"+oid+" refs/heads/a/b\n", oid)
	f.Add("", "ref:refs/heads/../x")
	f.Fuzz(func(t *testing.T, packed, head string) {
		dir := t.TempDir()
		notestest.Put(t, filepath.Join(dir, ".git", "packed-refs"), packed)
		notestest.Put(t, filepath.Join(dir, ".git", "HEAD"), head)
		refs, found, err := gitobj.ReadRefs(fsx.OS(), dir)
		if err != nil || !found {
			return
		}
		must.NoError(t, refs.Check())
	})
}

func TestCommitAllTakesInWhatTheFolderHolds(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	if err := d.CommitAll(t.Context()); err != nil || notestest.Exists(t, dir) {
		t.Fatalf("a folder was made of nothing, %v", err)
	}
	notestest.Put(t, filepath.Join(dir, "no note.txt"), "text")
	if err := d.CommitAll(t.Context()); err != nil || notestest.Exists(t, filepath.Join(dir, ".git")) {
		t.Fatalf("a repository was made of nothing, %v", err)
	}
	notestest.Put(t, filepath.Join(dir, "a", "known.md"), "text")
	for range 2 {
		must.Do(t, d.CommitAll(t.Context()))
		must.Equal(t, "the branch", notestest.Git(t, dir, "log", "--format=%s"), "recover a/known\n")
	}
	notestest.Write(t, d, "other", "text")
	notestest.Remove(t, filepath.Join(dir, "other.md"))
	notestest.Put(t, filepath.Join(dir, "a", "known.md"), "new text")
	must.Do(t, d.CommitAll(t.Context()))
	must.Equal(t, "the last commit", notestest.Git(t, dir, "log", "-1", "--format=%s"), "recover 2 notes\n")
	notestest.Put(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter=x\n")
	must.Kind(t, "commit all", d.CommitAll(t.Context()), amber.KindDamaged)
}

func checkRefFormat(dir, name string) bool {
	cmd := exec.Command("git", "check-ref-format", name)
	cmd.Dir = dir
	return cmd.Run() == nil
}
