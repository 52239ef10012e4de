//go:build unix

package gitobj_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

func fromGitPack(t *testing.T, file string, refs gitobj.Refs) (string, error) {
	t.Helper()
	dir := t.TempDir()
	return dir, gitobj.BuildFromGitPack(t.Context(), gitobj.Options{Temp: t.TempDir()}, dir, file, refs)
}

func TestBuiltFromGitPackIsTheWholeHistory(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			source := sourceRepo(t, format)
			refs := readRefs(t, source)
			dir := must.Get(fromGitPack(t, gitPackOf(t, source, refs), refs))(t)
			must.Equal(t, "", reachable(t, source), reachable(t, dir))
			must.Equal(t, "", readRefs(t, dir), refs)
			notestest.Git(t, dir, "fsck", "--strict")
			notestest.Git(t, dir, "checkout", "-q", "--", ".")
			must.Equal(t, "the work tree differs", notestest.Git(t, dir, "status", "--porcelain"), "")
			again := gitobj.BuildFromGitPack(t.Context(), gitobj.Options{}, dir, gitPackOf(t, source, refs), refs)
			must.Kind(t, "over a repository", again, amber.KindConflict)
		})
	}
}

func TestBuiltFromGitPackFromAChangedFileIsNothing(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	notestest.Git(t, source, "init", "-q", "--initial-branch=main")
	notestest.Put(t, filepath.Join(source, "a"), "a\n")
	notestest.Git(t, source, "add", "-A")
	notestest.Git(t, source, "commit", "-q", "-m", "a")
	refs := readRefs(t, source)
	good := contentOf(t, gitPackOf(t, source, refs))
	file := filepath.Join(t.TempDir(), "x")
	for i := 0; i < len(good); i += 7 {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		notestest.Put(t, file, string(bad))
		dir, err := fromGitPack(t, file, refs)
		must.Hold(t, err != nil, "byte %d was flipped, and nobody minds", i)
		must.Equal(t, fmt.Sprintf("byte %d: files left behind", i), len(must.Get(os.ReadDir(dir))(t)), 0)
	}
	other := refs
	other.Refs = append([]gitobj.Ref{{Name: "refs/heads/other", OID: refs.OID}}, refs.Refs...)
	notestest.Put(t, file, string(good))
	must.Error(t, "refs that the git pack does not hold", must.Err(fromGitPack(t, file, other)))
}
