//go:build unix

package gitobj_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// getter hands out objects by id.
func getter(all map[string][]byte) gitobj.ObjectGetter {
	return func(oid string) ([]byte, error) {
		raw, found := all[oid]
		if !found {
			return nil, fmt.Errorf("no object %s", oid)
		}
		return raw, nil
	}
}

// gitDiff asks git for what Compare counts.
func gitDiff(t *testing.T, dir, from, to string) wire.GitDiff {
	t.Helper()
	d := wire.GitDiff{From: from, To: to}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil && s != "-" {
			t.Fatal(err)
		}
		return n
	}
	d.Commits = number(strings.TrimSpace(notestest.Git(t, dir, "rev-list", "--count", from+".."+to)))
	for line := range strings.Lines(notestest.Git(t, dir, "diff", "--numstat", "--no-renames", "--minimal", from, to)) {
		f := strings.Fields(line)
		d.FilesChanged++
		d.Insertions += number(f[0])
		d.Deletions += number(f[1])
	}
	return d
}

func compare(t *testing.T, get gitobj.ObjectGetter, from, to string) wire.GitDiff {
	t.Helper()
	return must.Get(gitobj.Compare(t.Context(), get, from, to))(t)
}

// Random histories: files come, go, change, become folders and back, binary and executable; branches are merged.
func TestCompareCountsWhatGitCounts(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(format, " ", seed), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				rnd := rand.New(rand.NewPCG(seed, 1))
				notestest.Git(t, dir, "init", "-q", "--initial-branch=main", "--object-format="+format)
				for i := range 12 {
					if i == 6 {
						notestest.Git(t, dir, "checkout", "-q", "-b", "side", "HEAD~2")
					}
					if i == 9 {
						notestest.Git(t, dir, "checkout", "-q", "main")
						notestest.Git(t, dir, "merge", "-q", "-s", "ours", "-m", "merge", "side")
					}
					meddle(t, rnd, dir)
					notestest.Git(t, dir, "add", "-A")
					notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", strconv.Itoa(i))
				}
				all := mustObjects(t, dir, readRefs(t, dir), gitobj.Refs{})
				commits := strings.Fields(notestest.Git(t, dir, "rev-list", "--all"))
				for range 20 {
					a, b := commits[rnd.IntN(len(commits))], commits[rnd.IntN(len(commits))]
					must.Equal(t, fmt.Sprintf("%s..%s", a, b), gitDiff(t, dir, a, b), compare(t, getter(all), a, b))
				}
			})
		}
	}
}

// meddle changes some files.
func meddle(t *testing.T, rnd *rand.Rand, dir string) {
	t.Helper()
	for range 4 {
		path := filepath.Join(dir, []string{"a", "b", "c/a", "c/b/a", "d", "d/e"}[rnd.IntN(6)])
		parent := filepath.Dir(path)
		if info, err := os.Lstat(parent); err == nil && !info.IsDir() {
			os.Remove(parent)
		}
		os.RemoveAll(path)
		var text strings.Builder
		for range rnd.IntN(12) {
			fmt.Fprintf(&text, "line %d\n", rnd.IntN(8))
		}
		switch rnd.IntN(8) {
		case 0:
			continue
		case 1:
			text.WriteString("\x00")
		case 2:
			text.WriteString("no end")
		case 3:
			must.Do(t, os.MkdirAll(parent, 0o700))
			notestest.Symlink(t, "somewhere", path)
			continue
		}
		notestest.Put(t, path, text.String())
		if rnd.IntN(3) == 0 {
			must.Do(t, os.Chmod(path, 0o700))
		}
	}
}

func TestCompareFromNothingAndToNothing(t *testing.T) {
	t.Parallel()
	dir := sourceRepo(t, "sha1")
	refs := readRefs(t, dir)
	get := getter(mustObjects(t, dir, refs, gitobj.Refs{}))
	got := compare(t, get, "", refs.OID)
	want := wire.GitDiff{To: refs.OID, Commits: 5, FilesChanged: 4, Insertions: 1002}
	must.Equal(t, "", got, want)
	got = compare(t, get, refs.OID, "")
	want = wire.GitDiff{From: refs.OID, FilesChanged: 4, Deletions: 1002}
	must.Equal(t, "", got, want)
	must.Equal(t, "commits between a commit and itself", compare(t, nil, refs.OID, refs.OID).Commits, 0)
}

// Texts with nothing in common are counted too, in bounded time.
func TestCompareLongTexts(t *testing.T) {
	t.Parallel()
	text := func(word string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %d\n", word, i)
		}
		return b.String()
	}
	history := func(content string) (string, map[string][]byte) {
		blob, raw := object("blob", content)
		refs, all := crafted([3]string{"100644", "a.md", blob})
		all[blob] = raw
		return refs.OID, all
	}
	a, all := history(text("old", 50_000))
	b, more := history(text("new", 40_000) + text("old", 10))
	for oid, raw := range more {
		all[oid] = raw
	}
	got := compare(t, getter(all), a, b)
	must.Equal(t, "insertions", got.Insertions, 40_000)
	must.Equal(t, "deletions", got.Deletions, 49_990)
}

func TestCompareRefusesWhatIsNoHistory(t *testing.T) {
	t.Parallel()
	refs, all := crafted([3]string{"100644", "a.md", ""})
	add := func(kind, content string) string {
		oid, raw := object(kind, content)
		all[oid] = raw
		return oid
	}
	blob := add("blob", "text")
	for name, oid := range map[string]string{
		"a blob":        blob,
		"no tree":       add("commit", "author x\n\n"),
		"empty":         add("commit", ""),
		"tree is blob":  add("commit", "tree "+blob+"\n\n"),
		"tree is text":  add("commit", "tree HEAD\n\n"),
		"cut off tree":  add("commit", "tree "+add("tree", "100644 a\x00abc")+"\n\n"),
		"tree of words": add("commit", "tree "+add("tree", "hello")+"\n\n"),
		"short parent":  add("commit", "tree "+blob+"\nparent abc\n\n"),
	} {
		must.Fail(gitobj.Compare(t.Context(), getter(all), refs.OID, oid))(t, name, amber.KindDamaged)
	}
	// A folder that holds itself cannot be made, but a repository may claim one.
	loop := strings.Repeat("1", 40)
	inLoop := strings.Repeat("\x11", 20)
	_, raw := object("tree", "40000 a\x00"+inLoop)
	all[loop] = raw
	endless := add("commit", "tree "+loop+"\n\n")
	must.Fail(gitobj.Compare(t.Context(), getter(all), refs.OID, endless))(t, "endless", amber.KindQuota)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(gitobj.Compare(ctx, getter(all), "", refs.OID))(t, "broken off", amber.KindUnreachable)
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte("commit 3\x00abc"), []byte("tree 0\x00"))
	_, raw := object("commit", "tree "+strings.Repeat("2", 40)+"\nparent "+strings.Repeat("1", 40)+"\n\n")
	f.Add(raw, []byte("tree 28\x00100644 a\x0011111111111111111111"))
	f.Add(raw, []byte("tree 27\x0040000 a\x00\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""))
	f.Fuzz(func(t *testing.T, commit, tree []byte) {
		one, two := strings.Repeat("1", 40), strings.Repeat("2", 40)
		_, _ = gitobj.Compare(t.Context(), func(oid string) ([]byte, error) {
			if oid == one {
				return commit, nil
			}
			return tree, nil
		}, "", one)
		_, _ = gitobj.Compare(t.Context(), getter(map[string][]byte{one: commit, two: tree}), one, two)
	})
}
