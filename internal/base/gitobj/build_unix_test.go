//go:build unix

package gitobj_test

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// from hands out objects.
func from(all map[string][]byte) gitobj.ObjectSource {
	return func(yield func(oid string, raw []byte) error) error {
		for oid, raw := range all {
			if err := yield(oid, raw); err != nil {
				return err
			}
		}
		return nil
	}
}

func build(t *testing.T, refs gitobj.Refs, all map[string][]byte) (string, error) {
	t.Helper()
	dir := t.TempDir()
	return dir, gitobj.Build(t.Context(), gitobj.Options{}, dir, refs, from(all))
}

func TestB10_RepositoryWithPackedRefsComesBack(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			old := sourceRepo(t, format)
			notestest.Git(t, old, "gc", "-q")
			if notestest.Exists(t, filepath.Join(old, ".git/refs/heads/main")) {
				t.Fatal("the refs are not packed")
			}
			refs := readRefs(t, old)
			dir := must.Get(build(t, refs, mustObjects(t, old, refs, gitobj.Refs{})))(t)
			must.Equal(t, "", readRefs(t, dir), refs)
			notestest.Git(t, dir, "fsck", "--strict", "--full")
			must.Equal(t, "", reachable(t, old), reachable(t, dir))
			must.Equal(t, "the index", notestest.Git(t, old, "ls-files", "--stage"), notestest.Git(t, dir, "ls-files", "--stage"))
			must.Equal(t, "files in the folder", len(must.Get(os.ReadDir(dir))(t)), 1)
			notestest.Git(t, dir, "reset", "-q", "--hard")
			notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "it goes on")
		})
	}
}

func nobodyElse(t *testing.T, dir string) {
	t.Helper()
	for path := range tree(t, dir) {
		info, err := os.Lstat(filepath.Join(dir, path))
		if err == nil && info.Mode().Perm()&0o077 != 0 && path != dir {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
	}
}

func TestBuildOfAnEmptyHistory(t *testing.T) {
	t.Parallel()
	dir := must.Get(build(t, gitobj.Refs{Head: "refs/heads/main"}, nil))(t)
	d := notestest.At(t, dir, notes.Options{})
	notestest.Write(t, d, "known", "text")
	must.NoError(t, d.Check(t.Context()))
}

// object returns an object and its id.
func object(kind, content string) (oid string, raw []byte) {
	raw = fmt.Appendf(nil, "%s %d\x00%s", kind, len(content), content)
	sum := sha1.Sum(raw)
	return hex.EncodeToString(sum[:]), raw
}

// crafted makes a history of one commit whose tree is given as mode, name and id of each entry.
func crafted(entries ...[3]string) (gitobj.Refs, map[string][]byte) {
	all := map[string][]byte{}
	add := func(kind, content string) string {
		oid, raw := object(kind, content)
		all[oid] = raw
		return oid
	}
	blob := add("blob", "text")
	empty := add("tree", "")
	var tree strings.Builder
	for _, e := range entries {
		oid := map[string]string{"": blob, "tree": empty}[e[2]]
		if oid == "" {
			oid = e[2]
		}
		id, _ := hex.DecodeString(oid)
		tree.WriteString(e[0] + " " + e[1] + "\x00" + string(id))
	}
	commit := add("commit", "tree "+add("tree", tree.String())+"\nauthor A <a@localhost> 1 +0000\ncommitter A <a@localhost> 1 +0000\n\nx\n")
	return gitobj.Refs{Head: "refs/heads/main", OID: commit, Refs: []gitobj.Ref{{Name: "refs/heads/main", OID: commit}}}, all
}

func TestHostileObjectsAreRefused(t *testing.T) {
	t.Parallel()
	refs, all := crafted([3]string{"100644", "a.md", ""})
	if dir, err := build(t, refs, all); err != nil {
		t.Fatal(err)
	} else {
		notestest.Git(t, dir, "fsck", "--strict")
	}
	dangling := strings.Repeat("1", 40)
	for name, entries := range map[string][][3]string{
		"dot git":          {{"100644", ".git", ""}},
		"folder dot git":   {{"40000", ".git", "tree"}},
		"spelled":          {{"40000", ".GIT", "tree"}},
		"short name":       {{"40000", "GIT~1", "tree"}},
		"ignored in HFS":   {{"40000", ".g\u200cit", "tree"}},
		"NTFS stream":      {{"40000", ".git::$INDEX_ALLOCATION", "tree"}},
		"dot":              {{"100644", ".", ""}},
		"parent":           {{"40000", "..", "tree"}},
		"slash":            {{"100644", "a/b", ""}},
		"absolute":         {{"100644", "/etc/passwd", ""}},
		"twice":            {{"100644", "a", ""}, {"100644", "a", ""}},
		"twice, as folder": {{"100644", "a", ""}, {"40000", "a", "tree"}},
		"not sorted":       {{"100644", "b", ""}, {"100644", "a", ""}},
		"no name":          {{"100644", "", ""}},
		"missing blob":     {{"100644", "a", dangling}},
		"missing tree":     {{"40000", "a", dangling}},
		"wrong type":       {{"40000", "a", ""}},
		"linked modules":   {{"120000", ".gitmodules", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refs, all := crafted(entries...)
			dir, err := build(t, refs, all)
			must.Kind(t, "build", err, amber.KindDamaged)
			must.Equal(t, "files that are left", len(tree(t, dir)), 1)
		})
	}
}

func TestObjectsThatAreNotAHistoryAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(refs *gitobj.Refs, all map[string][]byte)
		want  amber.Kind
	}{
		"no tip":     {func(r *gitobj.Refs, all map[string][]byte) { delete(all, r.OID) }, amber.KindDamaged},
		"wrong id":   {func(r *gitobj.Refs, all map[string][]byte) { all[strings.Repeat("2", 40)] = all[r.OID] }, amber.KindDamaged},
		"bit flip":   {func(r *gitobj.Refs, all map[string][]byte) { all[r.OID][30] ^= 1 }, amber.KindDamaged},
		"other hash": {func(r *gitobj.Refs, all map[string][]byte) { all[strings.Repeat("2", 64)] = all[r.OID] }, amber.KindDamaged},
		"no header": {func(r *gitobj.Refs, all map[string][]byte) {
			sum := sha1.Sum([]byte("blob4text"))
			all[hex.EncodeToString(sum[:])] = []byte("blob4text")
		}, amber.KindDamaged},
		"wrong size": {func(r *gitobj.Refs, all map[string][]byte) {
			sum := sha1.Sum([]byte("blob 5\x00text"))
			all[hex.EncodeToString(sum[:])] = []byte("blob 5\x00text")
		}, amber.KindDamaged},
		"unknown type":     {func(r *gitobj.Refs, all map[string][]byte) { oid, raw := object("link", "x"); all[oid] = raw }, amber.KindDamaged},
		"no commit at all": {func(r *gitobj.Refs, all map[string][]byte) { oid, raw := object("commit", "x"); all[oid] = raw }, amber.KindDamaged},
		"branch of a blob": {func(r *gitobj.Refs, all map[string][]byte) {
			oid, _ := object("blob", "text")
			r.Refs = append(r.Refs, gitobj.Ref{Name: "refs/heads/x", OID: oid})
		}, amber.KindDamaged},
		"bad ref":       {func(r *gitobj.Refs, _ map[string][]byte) { r.Refs[0].Name = "refs/heads/../../config" }, amber.KindInvalid},
		"bad head":      {func(r *gitobj.Refs, _ map[string][]byte) { r.Head = "refs/heads/x\n[core]" }, amber.KindInvalid},
		"contradiction": {func(r *gitobj.Refs, _ map[string][]byte) { r.OID = strings.Repeat("3", 40) }, amber.KindInvalid},
		"ref twice":     {func(r *gitobj.Refs, _ map[string][]byte) { r.Refs = append(r.Refs, r.Refs[0]) }, amber.KindInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refs, all := crafted([3]string{"100644", "a.md", ""})
			tt.spoil(&refs, all)
			dir, err := build(t, refs, all)
			must.Kind(t, "build", err, tt.want)
			must.Equal(t, "files that are left", len(tree(t, dir)), 1)
			temp := t.TempDir()
			must.Kind(t, "connected", gitobj.Connected(t.Context(), gitobj.Options{}, temp, refs, from(all)), tt.want)
			must.Equal(t, "files that are left", len(tree(t, temp)), 1)
		})
	}
}

// Links and repositories inside are objects like others: they come back as such, and nothing is checked out.
func TestLinksComeBackAsObjectsOnly(t *testing.T) {
	t.Parallel()
	refs, all := crafted([3]string{"100644", "a.md", ""}, [3]string{"160000", "inner", strings.Repeat("1", 40)}, [3]string{"120000", "link.md", ""})
	dir := must.Get(build(t, refs, all))(t)
	must.Equal(t, "files", len(must.Get(os.ReadDir(dir))(t)), 1)
	notestest.Put(t, filepath.Join(dir, "a.md"), "text")
	d := notestest.At(t, dir, notes.Options{})
	must.NoError(t, d.CommitAll(t.Context()))
	must.Equal(t, "read", must.Get(d.ReadNote(t.Context(), "a"))(t).Content, "text")
}

func TestOldFlawsInCommitsComeBack(t *testing.T) {
	t.Parallel()
	blob, rawBlob := object("blob", "text")
	id, _ := hex.DecodeString(blob)
	tree, rawTree := object("tree", "100644 a\x00"+string(id))
	commit, rawCommit := object("commit", "tree "+tree+"\nauthor A<a@localhost> 1 +051800\ncommitter A <a@localhost> 01 +0000\n\nx\n")
	refs := gitobj.Refs{Head: "refs/heads/main", OID: commit, Refs: []gitobj.Ref{{Name: "refs/heads/main", OID: commit}}}
	must.NoError(t, must.Err(build(t, refs, map[string][]byte{blob: rawBlob, tree: rawTree, commit: rawCommit})))
}

func TestBuildKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	refs, all := crafted([3]string{"100644", "a.md", ""})
	dir := must.Get(build(t, refs, all))(t)
	must.Kind(t, "build again", gitobj.Build(t.Context(), gitobj.Options{}, dir, refs, from(all)), amber.KindConflict)
	if got := readRefs(t, dir); !got.Equal(refs) {
		t.Errorf("it is %+v now", got)
	}
	mine := errors.New("mine")
	err := gitobj.Build(t.Context(), gitobj.Options{FS: fsx.OS()}, t.TempDir(), refs, func(func(string, []byte) error) error { return mine })
	must.Is(t, "the error of the caller", err, mine)
	must.Kind(t, "no git", gitobj.Build(t.Context(), gitobj.Options{Git: "/nowhere/git"}, t.TempDir(), refs, from(all)), amber.KindUnsupported)
}
