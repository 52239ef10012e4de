//go:build unix

package gitobj_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// gitPackOf writes a git pack of a repository.
func gitPackOf(t *testing.T, dir string, refs gitobj.Refs) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.bundle")
	must.Do(t, gitobj.WriteGitPack(t.Context(), gitobj.Options{Dir: dir}, refs, file))
	return file
}

// readGitPack returns the objects of a git pack, and checks that nothing is left behind.
func readGitPack(t *testing.T, file string, want gitobj.Refs) (map[string][]byte, error) {
	t.Helper()
	all, temp := map[string][]byte{}, t.TempDir()
	err := gitobj.ReadGitPack(t.Context(), gitobj.Options{Temp: temp}, file, want, func(oid string, raw []byte) error {
		all[oid] = raw
		return nil
	})
	must.Equal(t, "files left behind", len(must.Get(os.ReadDir(temp))(t)), 0)
	return all, err
}

func contentOf(t *testing.T, file string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(file))(t)
}

func TestGitPackHoldsTheWholeHistory(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, detached := range []bool{false, true} {
			t.Run(format, func(t *testing.T) {
				t.Parallel()
				dir := sourceRepo(t, format)
				if detached {
					notestest.Git(t, dir, "checkout", "-q", "--detach", "HEAD~1")
				}
				refs := readRefs(t, dir)
				want := mustObjects(t, dir, refs, gitobj.Refs{})
				file := gitPackOf(t, dir, refs)
				must.Equal(t, "", must.Get(readGitPack(t, file, refs))(t), want)
				must.Equal(t, "mode", must.Get(os.Stat(file))(t).Mode().Perm(), 0o600)
				// Anybody's git reads it.
				clone := filepath.Join(t.TempDir(), "clone")
				notestest.Git(t, dir, "clone", "-q", "--mirror", file, clone)
				must.Equal(t, "", reachable(t, dir), reachable(t, clone))
				notestest.Git(t, dir, "bundle", "verify", file)
			})
		}
	}
}

func TestGitPackOfTheSameHistoryIsTheSame(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	loose := contentOf(t, gitPackOf(t, dir, refs))
	must.Equal(t, "a second git pack", contentOf(t, gitPackOf(t, dir, refs)), loose)
	notestest.Git(t, dir, "gc", "-q", "--aggressive")
	must.Equal(t, "the git pack of packed objects", contentOf(t, gitPackOf(t, dir, refs)), loose)
	rebuilt := must.Get(build(t, refs, mustObjects(t, dir, refs, gitobj.Refs{})))(t)
	must.Equal(t, "the git pack of a repository of the same objects", contentOf(t, gitPackOf(t, rebuilt, refs)), loose)
}

func TestNoGitPackOfAnEmptyHistory(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "x")
	notestest.Git(t, dir, "init", "-q", "--initial-branch=main")
	err := gitobj.WriteGitPack(t.Context(), gitobj.Options{Dir: dir}, readRefs(t, dir), file)
	if !errors.Is(err, gitobj.ErrEmptyHistory) || amber.KindOf(err) != amber.KindNotFound || notestest.Exists(t, file) {
		t.Errorf("got %v", err)
	}
	must.Kind(t, "read", gitobj.ReadGitPack(t.Context(), gitobj.Options{}, file, readRefs(t, dir), nil), amber.KindInvalid)
}

func TestWriteGitPackLeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	file := filepath.Join(t.TempDir(), "x")
	blob := strings.TrimSpace(notestest.Git(t, dir, "rev-parse", "HEAD:a.md"))
	notestest.Remove(t, filepath.Join(dir, ".git", "objects", blob[:2], blob[2:]))
	err := gitobj.WriteGitPack(t.Context(), gitobj.Options{Dir: dir}, refs, file)
	must.Kind(t, "write", err, amber.KindDamaged)
	must.Hold(t, strings.Contains(err.Error(), blob), "it does not name %s: %v", blob, err)
	must.Hold(t, !notestest.Exists(t, file), "there is a file")
	notestest.Put(t, file, "mine")
	must.Kind(t, "over a file", gitobj.WriteGitPack(t.Context(), gitobj.Options{Dir: dir}, refs, file), amber.KindConflict)
	must.Equal(t, "the file", string(contentOf(t, file)), "mine")
}

func TestReadGitPackRefusesWhatIsNotTheGitPack(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	good := string(contentOf(t, gitPackOf(t, dir, refs)))
	head, pack, _ := strings.Cut(good, "\n\n")
	other := refs.Refs[0].OID
	fixed := func(pack string) string { // with a right hash at its end
		body := pack[:len(pack)-20]
		sum := sha1.Sum([]byte(body))
		return body + string(sum[:])
	}
	tests := map[string]struct {
		file string
		kind amber.Kind
	}{
		"empty":                  {"", amber.KindDamaged},
		"no git pack":            {"PACK" + pack, amber.KindDamaged},
		"header cut off":         {head, amber.KindDamaged},
		"newer":                  {strings.Replace(good, "v2", "v4", 1), amber.KindUnsupported},
		"endless line":           {"# v2 git bundle\n" + strings.Repeat("a", 1<<20), amber.KindDamaged},
		"endless refs":           {"# v2 git bundle\n" + strings.Repeat(refs.OID+" refs/heads/x\n", 20_000) + "\n" + pack, amber.KindDamaged},
		"prerequisite":           {strings.Replace(good, "\n", "\n-"+other+" before\n", 1), amber.KindDamaged},
		"filter":                 {strings.Replace(good, "# v2 git bundle\n", "# v3 git bundle\n@filter=blob:none\n", 1), amber.KindUnsupported},
		"other hash":             {strings.Replace(good, "# v2 git bundle\n", "# v3 git bundle\n@object-format=sha256\n", 1), amber.KindDamaged},
		"other ref":              {strings.Replace(good, "refs/heads/side", "refs/heads/tide", 1), amber.KindDamaged},
		"ref elsewhere":          {strings.Replace(good, "\n\n", "\n"+refs.OID+" refs/heads/../../../x\n\n", 1), amber.KindDamaged},
		"no HEAD":                {strings.Replace(good, refs.OID+" HEAD\n", "", 1), amber.KindDamaged},
		"no refs":                {"# v2 git bundle\n\n" + pack, amber.KindDamaged},
		"no pack":                {head + "\n\n", amber.KindDamaged},
		"pack cut off":           {good[:len(good)-30], amber.KindDamaged},
		"pack cut off, resealed": {head + "\n\n" + fixed(pack[:len(pack)-30]), amber.KindDamaged},
		"junk at the end":        {good + "junk", amber.KindDamaged},
		"fewer objects":          {head + "\n\n" + fixed(pack[:8]+"\x00\x00\x00\x01"+pack[12:]), amber.KindDamaged},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "x")
			notestest.Put(t, file, tt.file)
			got, err := readGitPack(t, file, refs)
			must.Kind(t, name, err, tt.kind)
			must.Equal(t, "objects handed out", len(got), 0)
		})
	}
	must.Fail(readGitPack(t, filepath.Join(t.TempDir(), "none"), refs))(t, "no file", amber.KindNotFound)
	must.Fail(readGitPack(t, t.TempDir(), refs))(t, "a folder", amber.KindDamaged)
}

func TestGitPackWithEveryByteFlipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notestest.Git(t, dir, "init", "-q", "--initial-branch=main")
	notestest.Put(t, filepath.Join(dir, "a"), "a\n")
	notestest.Git(t, dir, "add", "-A")
	notestest.Git(t, dir, "commit", "-q", "-m", "a")
	refs := readRefs(t, dir)
	good := contentOf(t, gitPackOf(t, dir, refs))
	file := filepath.Join(t.TempDir(), "x")
	for i := range good {
		if testing.Short() && i%16 != 0 {
			continue
		}
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		notestest.Put(t, file, string(bad))
		if _, err := readGitPack(t, file, refs); err == nil {
			t.Errorf("byte %d was flipped, and nobody minds", i)
		}
	}
}

// TestGitPackOfPartsOfAHistory has a git pack whose pack is whole for git, and does not hold what the refs need.
func TestGitPackOfPartsOfAHistory(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	all := readRefs(t, dir)
	side := gitobj.Refs{Head: "refs/heads/side", OID: oidOf(all, "refs/heads/side")}
	side.Refs = []gitobj.Ref{{Name: side.Head, OID: side.OID}}
	_, pack, _ := bytes.Cut(contentOf(t, gitPackOf(t, dir, side)), []byte("\n\n"))
	head, _, _ := bytes.Cut(contentOf(t, gitPackOf(t, dir, all)), []byte("\n\n"))
	file := filepath.Join(t.TempDir(), "x")
	notestest.Put(t, file, string(head)+"\n\n"+string(pack))
	got, err := readGitPack(t, file, all)
	must.Kind(t, "read", err, amber.KindDamaged)
	must.Equal(t, "objects handed out", len(got), 0)
	// A branch must be of commits.
	tree := strings.TrimSpace(notestest.Git(t, dir, "rev-parse", "side^{tree}"))
	bad := gitobj.Refs{Head: side.Head, OID: tree, Refs: []gitobj.Ref{{Name: side.Head, OID: tree}}}
	must.Fail(readGitPack(t, gitPackOf(t, dir, bad), bad))(t, "branch of a tree", amber.KindDamaged)
}

func oidOf(refs gitobj.Refs, name string) string {
	for _, r := range refs.Refs {
		if r.Name == name {
			return r.OID
		}
	}
	return ""
}

func TestReadGitPackRefusesHostileTrees(t *testing.T) {
	t.Parallel()
	blob, rawBlob := object("blob", "x")
	for _, name := range []string{".git", ".GIT", "..", "git~1"} {
		refs, all := crafted([3]string{"100644", name, blob})
		all[blob] = rawBlob
		dir := looseRepo(t, refs, all)
		must.Fail(readGitPack(t, gitPackOf(t, dir, refs), refs))(t, name, amber.KindDamaged)
	}
}

// TestGitPackThatClaimsAHugeObject has a delta of a few bytes that says its result has 16 GiB.
func TestGitPackThatClaimsAHugeObject(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	head, _, _ := bytes.Cut(contentOf(t, gitPackOf(t, dir, refs)), []byte("\n\n"))
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x02")
	entry := func(kind byte, between, content string) {
		pack.WriteString(string([]byte{kind<<4 | byte(len(content))}) + between)
		w := zlib.NewWriter(&pack)
		if _, err := w.Write([]byte(content)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
	}
	entry(3, "", "base")
	size := pack.Len() - 12
	entry(6, string([]byte{byte(size)}), "\x04\x80\x80\x80\x80\x40\x90\x04") // from 4 bytes, to 1<<34, copy four
	sum := sha1.Sum(pack.Bytes())
	file := filepath.Join(t.TempDir(), "x")
	notestest.Put(t, file, string(head)+"\n\n"+pack.String()+string(sum[:]))
	_, err := readGitPack(t, file, refs)
	must.Kind(t, "read", err, amber.KindDamaged)
	must.Hold(t, strings.Contains(err.Error(), "over limit"), "git tried: %v", err)
}

func TestReadGitPackEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	file, mine := gitPackOf(t, dir, refs), errors.New("mine")
	err := gitobj.ReadGitPack(t.Context(), gitobj.Options{}, file, refs, func(string, []byte) error { return mine })
	must.Hold(t, err == mine, "got %v", err)
}

func TestGitPackOfAHostileRepository(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	want := mustObjects(t, dir, refs, gitobj.Refs{})
	mark := filepath.Join(t.TempDir(), "mark")
	booby(t, filepath.Join(dir, ".git"), mark)
	before := contents(t, filepath.Join(dir, ".git"))
	must.Equal(t, "", must.Get(readGitPack(t, gitPackOf(t, dir, refs), refs))(t), want)
	must.Hold(t, !notestest.Exists(t, mark), "a program was run")
	must.Equal(t, "the repository", contents(t, filepath.Join(dir, ".git")), before)
}

func FuzzGitPackHeader(f *testing.F) {
	oid := strings.Repeat("a", 40)
	for _, s := range []string{
		"# v2 git bundle\n" + oid + " HEAD\n" + oid + " refs/heads/main\n\nPACK",
		"# v3 git bundle\n@object-format=sha1\n-" + oid + "\n\n", "# v2 git bundle\n\n", "@\n", "",
	} {
		f.Add([]byte(s))
	}
	want := gitobj.Refs{Head: "refs/heads/main", OID: oid, Refs: []gitobj.Ref{{Name: "refs/heads/main", OID: oid}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "x")
		notestest.Put(t, file, string(data))
		// There is no such program: whatever passes the header ends there.
		err := gitobj.ReadGitPack(t.Context(), gitobj.Options{Git: "/nonsense/git", Temp: t.TempDir()}, file, want, nil)
		switch amber.KindOf(err) {
		case amber.KindDamaged:
		case amber.KindUnsupported:
		default:
			t.Errorf("got %v", err)
		}
	})
}
