package home_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// everyDoor runs all that opens an agent and returns their errors by name.
func everyDoor(t *testing.T, a *home.Agent) map[string]error {
	t.Helper()
	enter := func(home.Current) error {
		t.Error("somebody was let in")
		return nil
	}
	_, current := a.Current()
	_, created, create := a.Create(t.Context(), func(string, home.Current) error {
		t.Error("something was built")
		return nil
	})
	must.Hold(t, !created, "Create says the agent was made now")
	return map[string]error{
		"current":   current,
		"create":    create,
		"write":     a.Write(t.Context(), "memory", enter),
		"exclusive": a.Exclusive(t.Context(), enter),
	}
}

// makeLocks makes the lock files, as the first write does.
func makeLocks(t *testing.T, a *home.Agent) {
	t.Helper()
	must.Do(t, a.Write(t.Context(), "memory", func(home.Current) error { return nil }))
}

// TestBrokenCurrent puts something else in the place of CURRENT.
func TestBrokenCurrent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		mangle func(t *testing.T, path string, good []byte)
		want   amber.Kind
		hint   string
	}{
		{"empty", replaceWith(nil), amber.KindDamaged, "CURRENT"},
		{"half", func(t *testing.T, path string, good []byte) {
			replaceWith(good[:len(good)/2])(t, path, nil)
		}, amber.KindDamaged, "CURRENT"},
		{"oversized", func(t *testing.T, path string, good []byte) {
			replaceWith(append(good, bytes.Repeat([]byte(" "), 1<<16)...))(t, path, nil)
		}, amber.KindDamaged, "CURRENT"},
		{"a directory", func(t *testing.T, path string, _ []byte) {
			must.Do(t, os.Mkdir(path, 0o700))
		}, amber.KindDamaged, "CURRENT"},
		{"version 2", replaceWith([]byte("amber-current 2\nwho knows\n")), amber.KindTooNew, "newer amber"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkBroken(t, tt.mangle, tt.want, tt.hint)
		})
	}
}

func replaceWith(data []byte) func(*testing.T, string, []byte) {
	return func(t *testing.T, path string, _ []byte) {
		t.Helper()
		must.Do(t, os.WriteFile(path, data, 0o600))
	}
}

// checkBroken makes an agent, removes CURRENT and has mangle put something in its place. Every door then
// gives the wanted error, and nothing in the folder changes.
func checkBroken(t *testing.T, mangle func(t *testing.T, path string, good []byte), want amber.Kind, hint string) {
	t.Helper()
	dir, _ := madeHome(t)
	a := handle(t, dir, options(nil))
	makeLocks(t, a)
	path := filepath.Join(a.Dir(), "CURRENT")
	good := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.Remove(path))
	mangle(t, path, good)
	before := listing(t, dir)
	for door, err := range everyDoor(t, a) {
		must.Kind(t, door, err, want, hint)
	}
	must.Equal(t, "home", listing(t, dir), before)
}

func TestMissingCurrentIsDamage(t *testing.T) {
	t.Parallel()
	checkBroken(t, func(*testing.T, string, []byte) {}, amber.KindDamaged, "backup")
}

// TestUnreadableFiles tells a disk that does not answer from a file that is broken, and from one that is missing: without
// CURRENT, the disk does not say what else there is.
func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		current bool
		rule    errfs.Rule
		want    amber.Kind
	}{
		{"open", true, errfs.Rule{Op: errfs.OpOpen, Glob: "CURRENT", Err: syscall.EIO}, amber.KindInternal},
		{"read", true, errfs.Rule{Op: errfs.OpRead, Glob: "CURRENT", Err: syscall.EIO}, amber.KindInternal},
		{"stat", true, errfs.Rule{Op: errfs.OpStat, Glob: "CURRENT", Err: syscall.EIO}, amber.KindInternal},
		{"forbidden", true, errfs.Rule{Op: errfs.OpOpen, Glob: "CURRENT", Err: syscall.EACCES}, amber.KindRefused},
		{"generations", false, errfs.Rule{Op: errfs.OpReadDir, Glob: "gen", Err: syscall.EIO}, amber.KindInternal},
		{"a generation", false, errfs.Rule{Op: errfs.OpReadDir, Glob: "1", Err: syscall.EIO}, amber.KindInternal},
		{"note", false, errfs.Rule{Op: errfs.OpLstat, Glob: "CREATING", Err: syscall.EIO}, amber.KindInternal},
		{"note, forbidden", false, errfs.Rule{Op: errfs.OpLstat, Glob: "CREATING", Err: syscall.EACCES}, amber.KindRefused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, _ := madeHome(t)
			if !tt.current {
				must.Do(t, os.Remove(filepath.Join(agentDir(dir), "CURRENT")))
			}
			a := handle(t, dir, options(errfs.Wrap(fsx.OS(), tt.rule)))
			for door, err := range everyDoor(t, a) {
				must.Kind(t, door, err, tt.want)
			}
		})
	}
}

func TestNoAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := handle(t, dir, options(nil))
	enter := func(home.Current) error {
		t.Error("somebody was let in")
		return nil
	}
	must.Fail(a.Current())(t, "current", amber.KindNotFound)
	must.Kind(t, "write", a.Write(t.Context(), "memory", enter), amber.KindNotFound)
	must.Kind(t, "exclusive", a.Exclusive(t.Context(), enter), amber.KindNotFound)
	must.Equal(t, "names that looking for an agent left", len(must.Get(os.ReadDir(dir))(t)), 0)
}

// TestFolderWithoutCurrent says which folders may become an agent: those that hold nothing anybody was
// ever told is safe.
func TestFolderWithoutCurrent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		paths []string // below the agent's folder; a folder ends with a slash
		want  amber.Kind
	}{
		{"nothing", nil, amber.KindNotFound},
		{"no generation", []string{"gen/"}, amber.KindNotFound},
		{"empty generation", []string{"gen/1/"}, amber.KindNotFound},
		{"empty folders in a generation", []string{"gen/1/memdir/", "gen/1/state/"}, amber.KindNotFound},
		{"locks", []string{"gate", "lock", "turn-memory"}, amber.KindNotFound},
		{"spool", []string{"spool/frame"}, amber.KindNotFound},
		{"temporary file", []string{".amber-tmp-LEFT"}, amber.KindNotFound},
		{"creation that had just begun", []string{"CREATING"}, amber.KindNotFound},
		{"creation half done", []string{"CREATING", "gen/1/memory.db", "gen/1/memdir/.git/objects/00/x"}, amber.KindNotFound},
		{"data", []string{"gen/1/memory.db"}, amber.KindDamaged},
		{"data of a later generation", []string{"gen/1/", "gen/7/memory.db"}, amber.KindDamaged},
		{"data beside the generations", []string{"gen/file"}, amber.KindDamaged},
		{"data further down", []string{"gen/1/memdir/note.md"}, amber.KindDamaged},
		{"folders deeper than anybody looks", []string{"gen/1/memdir/.git/objects/"}, amber.KindDamaged},
		{"a file in the place of the generations", []string{"gen"}, amber.KindDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, agentDir(dir), tt.paths...)
			a := handle(t, dir, options(nil))
			before := listing(t, dir)
			must.Fail(a.Current())(t, "current", tt.want)
			if tt.want == amber.KindDamaged {
				_, _, err := a.Create(t.Context(), build(fsx.OS()))
				must.Kind(t, "create", err, amber.KindDamaged)
				must.Equal(t, "home", listing(t, dir), before)
				return
			}
			makeAgent(t, fsx.OS(), a)
			checkClean(t, fsx.OS(), a)
			checkKept(t, a.Dir(), "spool/frame", tt.paths)
		})
	}
}

// put makes empty files and, for names that end with a slash, folders below dir, and dir itself.
func put(t *testing.T, dir string, names ...string) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o700))
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		parent := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			parent = path
		}
		must.Do(t, os.MkdirAll(parent, 0o700))
		if parent == path {
			continue
		}
		must.Do(t, os.WriteFile(path, nil, 0o600))
	}
}

// checkClean checks that a creation left nothing but what belongs to an agent: no note, no temporary
// file, and one generation with the files of build and no other.
func checkClean(t *testing.T, fsys fsx.FS, a *home.Agent) {
	t.Helper()
	want := map[string][]string{
		"":             {"CURRENT", "gate", "gen", "lock", "spool", "turn-memory"},
		"gen":          {"1"},
		"gen/1":        {"memdir", "memory.db"},
		"gen/1/memdir": {"note.md"},
	}
	for dir, allowed := range want {
		entries := must.Get(fsys.ReadDir(filepath.Join(a.Dir(), filepath.FromSlash(dir))))(t)
		for _, e := range entries {
			must.Hold(t, slices.Contains(allowed, e.Name()), "%q holds %s", dir, e.Name())
		}
	}
}

// checkKept checks that the file is still there if it was.
func checkKept(t *testing.T, dir, name string, before []string) {
	t.Helper()
	if !slices.Contains(before, name) {
		return
	}
	must.NoError(t, must.Err(os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))))
}
