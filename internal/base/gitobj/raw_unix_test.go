//go:build unix

package gitobj_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// booby fills a .git folder with everything that makes a git run a program, and leaves a mark when one is.
func booby(t *testing.T, git, mark string) {
	t.Helper()
	prog := notestest.Program(t, mark)
	notestest.Put(t, filepath.Join(git, "more"), "[core]\n\tfsmonitor = "+prog+"\n")
	notestest.Put(t, filepath.Join(git, "config"), strings.ReplaceAll(`[core]
	repositoryformatversion = 0
	fsmonitor = PROGRAM
	sshCommand = PROGRAM
	pager = PROGRAM
	editor = PROGRAM
	hooksPath = `+filepath.Join(git, "hooks")+`
	attributesFile = `+filepath.Join(git, "attributes")+`
	alternateRefsCommand = PROGRAM
[include]
	path = more
[diff "x"]
	textconv = PROGRAM
	command = PROGRAM
[filter "x"]
	clean = PROGRAM
	smudge = PROGRAM
	process = PROGRAM
	required = true
[alias]
	status = !PROGRAM
	index-pack = !PROGRAM
	pack-objects = !PROGRAM
	rev-list = !PROGRAM
	cat-file = !PROGRAM
	read-tree = !PROGRAM
[gpg]
	program = PROGRAM
[credential]
	helper = !PROGRAM
[uploadpack]
	packObjectsHook = PROGRAM
[gc]
	recentObjectsHook = PROGRAM
`, "PROGRAM", prog))
	for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-rewrite", "fsmonitor-watchman"} {
		notestest.Script(t, filepath.Join(git, "hooks", hook), prog+" </dev/null")
	}
	for _, name := range []string{"attributes", "info/attributes"} {
		notestest.Put(t, filepath.Join(git, name), "* filter=x diff=x\n")
	}
}

// files returns the content of every regular file below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		all[rel] = string(contentOf(t, path))
		return err
	}))
	return all
}

// rawOf copies a .git folder as a program does that knows files alone: no empty folders, no modes.
func rawOf(t *testing.T, dir string) string {
	t.Helper()
	raw := filepath.Join(t.TempDir(), "raw")
	for path, content := range files(t, filepath.Join(dir, ".git")) {
		notestest.Put(t, filepath.Join(raw, path), content)
	}
	return raw
}

// rawRepo returns what the files of a .git folder hold, and checks that they stay as they are.
func rawRepo(t *testing.T, raw string) (gitobj.Refs, map[string][]byte, error) {
	t.Helper()
	before := contents(t, raw)
	refs, found, err := gitobj.RawRefs(fsx.OS(), raw)
	if err != nil || !found {
		t.Fatalf("found %t, %v", found, err)
	}
	all, temp := map[string][]byte{}, t.TempDir()
	err = gitobj.RawObjects(t.Context(), gitobj.Options{GitDir: raw, Temp: temp}, refs, func(oid string, b []byte) error {
		all[oid] = b
		return nil
	})
	must.Equal(t, "files left behind", len(must.Get(os.ReadDir(temp))(t)), 0)
	must.Equal(t, "the files", contents(t, raw), before)
	return refs, all, err
}

func TestRawRepositoryIsRead(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for name, prepare := range map[string]func(t *testing.T, dir string){
			"loose":    func(t *testing.T, dir string) {},
			"packed":   func(t *testing.T, dir string) { notestest.Git(t, dir, "gc", "-q") },
			"detached": func(t *testing.T, dir string) { notestest.Git(t, dir, "checkout", "-q", "--detach", "HEAD~1") },
			"some of each": func(t *testing.T, dir string) {
				notestest.Git(t, dir, "repack", "-q", "-d")
				notestest.Put(t, filepath.Join(dir, "e.md"), "five\n")
				notestest.Git(t, dir, "add", "-A")
				notestest.Git(t, dir, "commit", "-q", "-m", "five")
				notestest.Git(t, dir, "repack", "-q", "-d")
				notestest.Put(t, filepath.Join(dir, "f.md"), "six\n")
				notestest.Git(t, dir, "add", "-A")
				notestest.Git(t, dir, "commit", "-q", "-m", "six")
			},
		} {
			t.Run(format+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := sourceRepo(t, format)
				prepare(t, dir)
				wantRefs := readRefs(t, dir)
				refs, all, err := rawRepo(t, rawOf(t, dir))
				must.Do(t, err)
				must.Equal(t, "", refs, wantRefs)
				must.Equal(t, "", all, mustObjects(t, dir, wantRefs, gitobj.Refs{}))
			})
		}
	}
}

func TestB10_RawRepositoryWithPackedRefsIsRead(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	notestest.Git(t, dir, "gc", "-q")
	raw := rawOf(t, dir)
	if notestest.Exists(t, filepath.Join(raw, "refs")) {
		t.Fatal("there is a folder of refs, and should be none")
	}
	refs, all, err := rawRepo(t, raw)
	must.Do(t, err)
	back := t.TempDir()
	must.Do(t, gitobj.WriteRaw(t.Context(), gitobj.Options{}, back, refs, from(all)))
	must.Hold(t, !notestest.Exists(t, filepath.Join(back, ".git", "packed-refs")), "the refs are packed")
	// Carried as files alone once more, it is a repository to anybody's git.
	again := t.TempDir()
	for path, content := range files(t, filepath.Join(back, ".git")) {
		notestest.Put(t, filepath.Join(again, ".git", path), content)
	}
	notestest.Git(t, again, "fsck", "--strict", "--full")
	must.Equal(t, "", readRefs(t, dir), readRefs(t, again))
	must.Equal(t, "", reachable(t, dir), reachable(t, again))
	for path, content := range files(t, dir) {
		if !strings.HasPrefix(path, ".git/") {
			notestest.Put(t, filepath.Join(again, path), content)
		}
	}
	must.Equal(t, "git sees changes", notestest.Git(t, again, "status", "--porcelain"), "")
	nobodyElse(t, back)
}

func TestB14_RawLocksHaveNoEffect(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	raw := rawOf(t, dir)
	for _, lock := range []string{"index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/main.lock", "objects/pack/x.lock"} {
		notestest.Put(t, filepath.Join(raw, lock), "nonsense")
	}
	refs, all, err := rawRepo(t, raw)
	must.Do(t, err)
	back := t.TempDir()
	must.Do(t, gitobj.WriteRaw(t.Context(), gitobj.Options{}, back, refs, from(all)))
	for path := range files(t, back) {
		must.Hold(t, !strings.HasSuffix(path, ".lock"), "%s came back", path)
	}
	notestest.Git(t, back, "commit", "-q", "--allow-empty", "-m", "it goes on")
}

func TestHostileRawRepositoryHasNoEffect(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	want := mustObjects(t, dir, readRefs(t, dir), gitobj.Refs{})
	elsewhere := sourceRepo(t, "sha1")
	raw := rawOf(t, dir)
	mark := filepath.Join(t.TempDir(), "mark")
	booby(t, raw, mark)
	main := readRefs(t, dir).OID
	for name, content := range map[string]string{
		"objects/info/alternates":         filepath.Join(elsewhere, ".git", "objects") + "\n",
		"objects/info/http-alternates":    "http://localhost/\n",
		"objects/info/commit-graph":       "nonsense",
		"objects/pack/multi-pack-index":   "nonsense",
		"objects/pack/nonsense.pack":      "nonsense",
		"objects/pack/tmp_pack_x":         "nonsense",
		"objects/zz/nonsense":             "nonsense",
		"objects/ab/short":                "nonsense",
		"shallow":                         main + "\n",
		"info/grafts":                     main + "\n",
		"commondir":                       elsewhere + "/.git\n",
		"gitdir":                          elsewhere + "/.git\n",
		"worktrees/x/gitdir":              elsewhere + "/.git\n",
		"modules/x/config":                "nonsense",
		"refs/replace/" + main:            oidOf(readRefs(t, dir), "refs/heads/side") + "\n",
		"refs/remotes/origin/HEAD":        "ref: refs/heads/nonsense\n",
		"refs/stash":                      "nonsense",
		"refs/amber/snapshot/left":        main + "\n",
		"index":                           "nonsense",
		"logs/HEAD":                       "nonsense",
		"config.worktree":                 "[core]\n\tbare = true\n",
		"objects/pack/pack-1.idx":         "nonsense",
		"objects/pack/pack-1.promisor":    "",
		"objects/pack/pack-nonsense.pack": "nonsense",
	} {
		notestest.Put(t, filepath.Join(raw, name), content)
	}
	refs, all, err := rawRepo(t, raw)
	must.Do(t, err)
	must.Equal(t, "", all, want)
	must.Equal(t, "", readRefs(t, dir), refs)
	must.Hold(t, !notestest.Exists(t, mark), "a program was run")
	// The trap works: plain git falls into it.
	plain := filepath.Join(t.TempDir(), "plain")
	notestest.Put(t, filepath.Join(plain, "a.md"), "x")
	must.Do(t, os.Rename(raw, filepath.Join(plain, ".git")))
	for _, name := range []string{"commondir", "config.worktree", "shallow", "index", "gitdir"} {
		notestest.Remove(t, filepath.Join(plain, ".git", name))
	}
	cmd := exec.Command("git", "add", "a.md")
	cmd.Dir = plain
	_ = cmd.Run()
	must.Hold(t, notestest.Exists(t, mark), "the trap does not work")
}

func TestRawRepositoryThatIsNotWholeIsRefused(t *testing.T) {
	t.Parallel()
	loose := func(oid string) string { return filepath.Join("objects", oid[:2], oid[2:]) }
	tests := map[string]struct {
		packed bool
		spoil  func(t *testing.T, raw string, refs gitobj.Refs)
	}{
		"ref to nowhere": {false, func(t *testing.T, raw string, refs gitobj.Refs) {
			notestest.Put(t, filepath.Join(raw, "refs/heads/other"), strings.Repeat("a", 40)+"\n")
		}},
		"lost object": {false, func(t *testing.T, raw string, refs gitobj.Refs) {
			notestest.Remove(t, filepath.Join(raw, loose(refs.OID)))
		}},
		"spoiled object": {false, func(t *testing.T, raw string, refs gitobj.Refs) {
			notestest.Put(t, filepath.Join(raw, loose(refs.OID)), "nonsense")
		}},
		"object of another id": {false, func(t *testing.T, raw string, refs gitobj.Refs) {
			other := contentOf(t, filepath.Join(raw, loose(oidOf(refs, "refs/heads/side"))))
			notestest.Put(t, filepath.Join(raw, loose(refs.OID)), string(other))
		}},
		"pack cut off": {true, func(t *testing.T, raw string, refs gitobj.Refs) {
			pack := onePack(t, raw)
			notestest.Put(t, pack, string(contentOf(t, pack)[:100]))
		}},
		"no pack": {true, func(t *testing.T, raw string, refs gitobj.Refs) { notestest.Remove(t, onePack(t, raw)) }},
		"branch of a tree": {false, func(t *testing.T, raw string, refs gitobj.Refs) {
			notestest.Put(t, filepath.Join(raw, "refs/heads/other"), oidOf(refs, "refs/tags/blob")+"\n")
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sourceRepo(t, "sha1")
			if tt.packed {
				notestest.Git(t, dir, "gc", "-q")
			}
			raw := rawOf(t, dir)
			tt.spoil(t, raw, readRefs(t, dir))
			_, all, err := rawRepo(t, raw)
			must.Kind(t, name, err, amber.KindDamaged)
			must.Equal(t, "objects handed out", len(all), 0)
		})
	}
}

func onePack(t *testing.T, raw string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(raw, "objects/pack/*.pack"))
	if err != nil || len(found) != 1 {
		t.Fatalf("packs %v, %v", found, err)
	}
	return found[0]
}

func TestRawFilesWithoutARepository(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"no HEAD": "-", "empty": "", "zeros": strings.Repeat("0", 40) + "\n", "zeros of SHA-256": strings.Repeat("0", 64),
	} {
		raw := t.TempDir()
		notestest.Put(t, filepath.Join(raw, "config"), "")
		if head != "-" {
			notestest.Put(t, filepath.Join(raw, "HEAD"), head)
		}
		refs, found, err := gitobj.RawRefs(fsx.OS(), raw)
		must.Hold(t, !found && err == nil && len(refs.Refs) == 0, "%s: %+v, %t, %v", name, refs, found, err)
	}
	if _, found, err := gitobj.RawRefs(fsx.OS(), filepath.Join(t.TempDir(), "none")); found || err != nil {
		t.Errorf("no folder: %t, %v", found, err)
	}
	// Before the first commit there is nothing to hand out.
	raw := t.TempDir()
	notestest.Put(t, filepath.Join(raw, "HEAD"), "ref: refs/heads/main\n")
	refs, all, err := rawRepo(t, raw)
	must.Hold(t, err == nil && len(all) == 0 && refs.Head == "refs/heads/main" && refs.OID == "", "%+v, %v", refs, err)
}

func TestWriteRawOfRefsThatNeedFolders(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	for _, name := range []string{"refs/heads/a/b/c", "refs/heads/a/b/d", "refs/tags/x/y"} {
		notestest.Git(t, dir, "update-ref", name, "HEAD")
	}
	refs := readRefs(t, dir)
	all := mustObjects(t, dir, refs, gitobj.Refs{})
	back := t.TempDir()
	must.Do(t, gitobj.WriteRaw(t.Context(), gitobj.Options{}, back, refs, from(all)))
	must.Equal(t, "", readRefs(t, back), refs)
	must.Equal(t, "", gitRefs(t, dir), gitRefs(t, back))
	must.Kind(t, "again", gitobj.WriteRaw(t.Context(), gitobj.Options{}, back, refs, from(all)), amber.KindConflict)
	must.Hold(t, notestest.Exists(t, filepath.Join(back, ".git", "HEAD")), "what was there is gone")
}

func TestWriteRawWithoutAnyRef(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	oid := readRefs(t, dir).OID
	refs := gitobj.Refs{Head: oid, OID: oid, Refs: []gitobj.Ref{}}
	back, again := t.TempDir(), t.TempDir()
	must.Do(t, gitobj.WriteRaw(t.Context(), gitobj.Options{}, back, refs, from(mustObjects(t, dir, refs, gitobj.Refs{}))))
	for path, content := range files(t, filepath.Join(back, ".git")) {
		notestest.Put(t, filepath.Join(again, ".git", path), content)
	}
	notestest.Git(t, again, "fsck", "--strict", "--full")
	must.Equal(t, "HEAD", strings.TrimSpace(notestest.Git(t, again, "rev-parse", "HEAD")), oid)
}

// looseRepo makes a repository of objects that git itself would not make.
func looseRepo(t *testing.T, refs gitobj.Refs, all map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	notestest.Git(t, dir, "init", "-q", "--initial-branch=main")
	for oid, raw := range all {
		var b strings.Builder
		w := zlib.NewWriter(&b)
		must.Get(w.Write(raw))(t)
		must.Do(t, w.Close())
		notestest.Put(t, filepath.Join(dir, ".git/objects", oid[:2], oid[2:]), b.String())
	}
	for _, ref := range refs.Refs {
		notestest.Put(t, filepath.Join(dir, ".git", ref.Name), ref.OID+"\n")
	}
	return dir
}

func TestRawHostileTreesAreRefused(t *testing.T) {
	t.Parallel()
	blob, rawBlob := object("blob", "x")
	for _, name := range []string{".git", ".GIT", "..", "git~1"} {
		refs, all := crafted([3]string{"100644", name, blob})
		all[blob] = rawBlob
		_, got, err := rawRepo(t, rawOf(t, looseRepo(t, refs, all)))
		must.Kind(t, name, err, amber.KindDamaged)
		must.Equal(t, name+": objects handed out", len(got), 0)
	}
}
