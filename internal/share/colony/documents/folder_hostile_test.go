package documents

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// folderOf opens a folder to restore to.
func folderOf(t *testing.T, dir, home string) *FolderTarget {
	t.Helper()
	to := must.Get(OpenFolder(dir, home, nil))(t)
	t.Cleanup(func() { to.Close() })
	return to
}

func put(t *testing.T, text string, path ...string) string {
	t.Helper()
	at := filepath.Join(path...)
	must.Do(t, os.MkdirAll(filepath.Dir(at), 0o700))
	must.Do(t, os.WriteFile(at, []byte(text), 0o600))
	return at
}

func link(t *testing.T, to string, at ...string) {
	t.Helper()
	err := os.Symlink(to, filepath.Join(at...))
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("on Windows only some users may make links: %v", err)
	}
	must.Do(t, err)
}

// TestLinksSwappedInLeadNowhere puts links in the way after the program has looked at everything, as an attacker may
// while the question stands on the screen.
func TestLinksSwappedInLeadNowhere(t *testing.T) {
	t.Parallel()
	for name, swap := range map[string]func(t *testing.T, dir, outside string){
		"the folder": func(t *testing.T, dir, outside string) {
			link(t, filepath.Join(outside, "b"), dir, "new")
		},
		"one above it": func(t *testing.T, dir, outside string) {
			must.Do(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "was")))
			link(t, outside, dir, "a")
		},
		"one that stays inside": func(t *testing.T, dir, _ string) {
			must.Do(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "was")))
			link(t, "was", dir, "a")
		},
		"all of it": func(t *testing.T, dir, outside string) {
			must.Do(t, os.Rename(dir, dir+"-was"))
			link(t, outside, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside := filepath.Join(t.TempDir(), "dir"), t.TempDir()
			put(t, "there", dir, "a", "b", "old.md")
			put(t, "theirs", outside, "b", "theirs.md")
			to := folderOf(t, dir, "")
			r, err := NewPlan(t.Context(), to, colony.Documents{"a/b/x.md": "1", "new/x.md": "2"})
			must.Do(t, err)
			swap(t, dir, outside)
			err = r.Write(t.Context(), to)
			if kind := amber.KindOf(err); name != "all of it" && kind != amber.KindRefused {
				t.Errorf("it was written: %v", err)
			}
			must.Equal(t, "entries outside", len(must.Get(os.ReadDir(filepath.Join(outside, "b")))(t)), 1)
			must.Is(t, "what is behind a link", must.Err(os.Lstat(filepath.Join(dir, "was", "b", "x.md"))), os.ErrNotExist)
		})
	}
}

// TestOnlyWhatWasSeenIsReplaced edits, removes and adds files between the plan
// and its execution.
func TestOnlyWhatWasSeenIsReplaced(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"edited":  func(path string) error { return os.WriteFile(path, []byte("edited"), 0o600) },
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := put(t, "old", dir, "x.md")
			to := folderOf(t, dir, "")
			r := must.Get(NewPlan(t.Context(), to, colony.Documents{"x.md": "vault", "y.md": "v"}))(t)
			must.Do(t, change(path))
			must.Kind(t, "write", r.Write(t.Context(), to), amber.KindConflict)
			if b, _ := os.ReadFile(path); string(b) == "vault" {
				t.Error("it is lost")
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) > 1 {
				t.Errorf("more was written: %v, %v", entries, err)
			}
		})
	}
}

// TestNothingBecomesARepository keeps documents from being what git runs
// commands from.
func TestNothingBecomesARepository(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		there, docs []string
		refused     []string
	}{
		"the folder itself":    {docs: []string{"HEAD", "config", "objects/a", "refs/a"}, refused: []string{"HEAD", "config", "objects/a", "refs/a"}},
		"one below":            {docs: []string{"a/x/HEAD", "a/x/config", "a/x/Objects/a", "a/x/refs/a", "a/b"}, refused: []string{"a/x/HEAD", "a/x/Objects/a", "a/x/config", "a/x/refs/a"}},
		"objects elsewhere":    {docs: []string{"x/HEAD", "x/commondir", "x/config"}, refused: []string{"x/HEAD", "x/commondir", "x/config"}},
		"in two steps":         {there: []string{"x/objects/a", "x/refs/a"}, docs: []string{"x/HEAD", "y"}, refused: []string{"x/HEAD"}},
		"into one":             {there: []string{"x/HEAD", "x/objects/a", "x/refs/a"}, docs: []string{"x/hooks/post-checkout"}, refused: []string{"x/hooks/post-checkout"}},
		"not all of it":        {docs: []string{"HEAD", "config", "refs/a"}},
		"in different folders": {docs: []string{"a/HEAD", "b/objects/a", "c/refs/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range c.there {
				put(t, "x", dir, filepath.FromSlash(name))
			}
			docs := colony.Documents{}
			for _, name := range c.docs {
				docs[name] = "x"
			}
			got := folderOf(t, dir, "").Refuses(docs)
			for _, name := range c.refused {
				must.Says(t, name, got[name], "git")
			}
			must.Equal(t, "refused", len(got), len(c.refused))
		})
	}
}

// TestNothingIsWrittenIntoTheHome has the home of Amber below the folder.
func TestNothingIsWrittenIntoTheHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, ".amber")
	put(t, "{}", home, "keys", "trusted.json")
	to := folderOf(t, dir, home)
	_, err := NewPlan(t.Context(), to, colony.Documents{".amber/keys/trusted.json": "evil", "ok.md": "1"})
	must.Kind(t, "planned", err, amber.KindRefused, "home of Amber")
	must.Kind(t, "write into the home", to.Write(t.Context(), ".amber/new", "x", Found{}), amber.KindRefused)
}

// foldingFS takes names for the same that differ in case, or in how an e with
// an accent is written.
type foldingFS struct{ fsx.FS }

func folded(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "e\u0301", "\u00e9")
}

func (f foldingFS) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	return f.FS.OpenFile(folded(name), flag, perm)
}

func (f foldingFS) Mkdir(name string, perm fs.FileMode) error { return f.FS.Mkdir(folded(name), perm) }
func (f foldingFS) Remove(name string) error                  { return f.FS.Remove(folded(name)) }
func (f foldingFS) Lstat(name string) (fs.FileInfo, error)    { return f.FS.Lstat(folded(name)) }
func (f foldingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return f.FS.ReadDir(folded(name))
}

// TestTwinsAreFoundBeforeTheFirstWrite asks file systems that see them and one
// that does not.
func TestTwinsAreFoundBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	const twin = "is the same file or folder as another document on this file system"
	for name, c := range map[string]struct {
		docs []string
		want map[string]string
	}{
		"case":           {[]string{"A.md", "a.md", "b.md"}, map[string]string{"a.md": twin}},
		"case of folder": {[]string{"D/x", "d/x", "d/y"}, map[string]string{"d/x": twin}},
		"file, folder":   {[]string{"A", "a/b"}, map[string]string{"a/b": twin}},
		"folder, file":   {[]string{"A/b", "a"}, map[string]string{"a": twin}},
		"accents":        {[]string{"cafe\u0301.md", "caf\u00e9.md"}, map[string]string{"caf\u00e9.md": twin}},
		"no twins":       {[]string{"A/b", "a/c", "日本.md", "中国.md"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs := colony.Documents{}
			for _, name := range c.docs {
				docs[name] = "x"
			}
			parent := t.TempDir()
			put(t, "x", parent, "there", "x.txt")
			for _, dir := range []string{"there", "missing"} {
				to := folderOf(t, filepath.Join(parent, dir), "")
				if got := to.Refuses(docs); len(got) > 0 && exact(t) {
					t.Errorf("an exact file system: %v", got)
				}
				to.in = func(r *os.Root) fsx.FS { return foldingFS{fsx.In(r)} }
				must.Equal(t, dir+": refused", to.Refuses(docs), c.want)
			}
			// Nothing is left of what was tried.
			for dir, n := range map[string]int{"": 1, "there": 1} {
				must.Equal(t, "entries left", len(must.Get(os.ReadDir(filepath.Join(parent, dir)))(t)), n)
			}
		})
	}
}

// exact reports whether the file system of tests tells names apart by case and
// spelling.
func exact(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	put(t, "", dir, "caf\u00e9")
	_, upper := os.Lstat(filepath.Join(dir, "CAF\u00c9"))
	_, apart := os.Lstat(filepath.Join(dir, "cafe\u0301"))
	return upper != nil && apart != nil
}
