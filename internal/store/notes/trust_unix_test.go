//go:build unix

package notes_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestHostileRepository(t *testing.T) {
	t.Parallel()
	config := func(lines string) func(t *testing.T, git, prog string) {
		return func(t *testing.T, git, prog string) {
			path := filepath.Join(git, "config")
			old := must.Get(os.ReadFile(path))(t)
			notestest.Put(t, path, string(old)+strings.ReplaceAll(lines, "PROGRAM", prog))
		}
	}
	file := func(name, content string) func(t *testing.T, git, prog string) {
		return func(t *testing.T, git, prog string) { notestest.Put(t, filepath.Join(git, name), content) }
	}
	link := func(name string) func(t *testing.T, git, prog string) {
		return func(t *testing.T, git, prog string) {
			away := filepath.Join(t.TempDir(), "away")
			must.Do(t, os.Rename(filepath.Join(git, name), away))
			must.Do(t, os.Symlink(away, filepath.Join(git, name)))
		}
	}
	tests := map[string]func(t *testing.T, git, prog string){
		"fsmonitor":          config("\tfsmonitor = PROGRAM\n"),
		"fsmonitor, spelled": config("\tFsMonitor = PROGRAM\n"),
		"fsmonitor, inline":  config("[core] fsmonitor = PROGRAM\n"),
		"fsmonitor, dotted":  config("[core \"\"]\n\tfsmonitor = PROGRAM\n"),
		"include":            config("[include]\n\tpath = /tmp/x\n"),
		"filter":             config("[filter \"x\"]\n\tclean = PROGRAM\n"),
		"alias":              config("[alias]\n\tstatus = !PROGRAM\n"),
		"other work tree":    config("\tworktree = /\n"),
		"bare":               config("\tbare = true\n"),
		"newer format":       config("\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"),
		"continued line":     config("\tfilemode = true\\\n\tfsmonitor = PROGRAM\n"),
		"no value":           config("\tignorecase\n"),
		"huge config":        config(strings.Repeat("\tfilemode = true\n", 10_000)),
		"worktree config":    file("config.worktree", "[core]\n"),
		"common folder":      file("commondir", "/tmp"),
		"shallow":            file("shallow", ""),
		"attributes":         file("info/attributes", "* filter=x\n"),
		"grafts":             file("info/grafts", ""),
		"alternates":         file("objects/info/alternates", "/tmp\n"),
		"http alternates":    file("objects/info/http-alternates", "http://localhost\n"),
		"hook": func(t *testing.T, git, prog string) {
			notestest.Script(t, filepath.Join(git, "hooks", "reference-transaction"), prog)
		},
		"linked objects": link("objects"),
		"linked refs":    link("refs/heads"),
		"linked config":  link("config"),
		"linked index":   link("index"),
		"linked repository": func(t *testing.T, git, prog string) {
			link(".git")(t, filepath.Dir(git), prog)
		},
		"repository file": func(t *testing.T, git, prog string) {
			away := filepath.Join(t.TempDir(), "away")
			must.Do(t, os.Rename(git, away))
			notestest.Put(t, git, "gitdir: "+away+"\n")
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			notestest.Write(t, d, "known", "text")
			mark := filepath.Join(t.TempDir(), "mark")
			spoil(t, filepath.Join(dir, ".git"), notestest.Program(t, mark))
			for what, err := range notestest.Each(t.Context(), d) {
				must.Kind(t, what, err, amber.KindDamaged)
				must.Hold(t, amber.HintOf(err) != "", "%s: no hint: %v", what, err)
			}
			must.Hold(t, !notestest.Exists(t, mark), "the program was run")
			must.Equal(t, "the file", string(must.Get(os.ReadFile(filepath.Join(dir, "known.md")))(t)), "text")
			must.Equal(t, "listed", len(must.Get(d.ListNotes(t.Context()))(t)), 1)
		})
	}
}

// Amber has not vetted a repository inside the folder: git must not go there, even where the branch tells it to.
func TestRepositoryInsideTheFolder(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "text")
	mark := filepath.Join(t.TempDir(), "mark")
	inner := filepath.Join(dir, "inner")
	notestest.Git(t, dir, "init", "-q", inner)
	notestest.Put(t, filepath.Join(inner, "x.md"), "old")
	notestest.Git(t, inner, "add", "x.md")
	notestest.Git(t, inner, "commit", "-q", "-m", "x")
	head := strings.TrimSpace(notestest.Git(t, inner, "rev-parse", "HEAD"))
	notestest.Git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+head+",inner")
	notestest.Git(t, dir, "commit", "-q", "-m", "take it in")
	notestest.Git(t, inner, "config", "filter.x.clean", notestest.Program(t, mark))
	notestest.Put(t, filepath.Join(inner, ".git", "info", "attributes"), "* filter=x\n")
	notestest.Put(t, filepath.Join(inner, "x.md"), "new")

	notestest.Git(t, dir, "status")
	if !notestest.Exists(t, mark) {
		t.Fatal("the trap does not work: plain git did not run the program")
	}
	notestest.Remove(t, mark)
	for what, err := range notestest.Each(t.Context(), d) {
		must.Hold(t, err == nil || what == "read" || what == "log", "%s: %v", what, err)
	}
	must.Hold(t, !notestest.Exists(t, mark), "the program was run")
}

func TestUnusableBranch(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(t *testing.T, dir string)
		want  amber.Kind
	}{
		"lost":    {func(t *testing.T, dir string) { notestest.Remove(t, filepath.Join(dir, ".git/refs/heads/main")) }, amber.KindDamaged},
		"empty":   {func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, ".git/refs/heads/main"), "") }, amber.KindDamaged},
		"garbage": {func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, ".git/refs/heads/main"), "x\n") }, amber.KindDamaged},
		"missing": {func(t *testing.T, dir string) {
			notestest.Put(t, filepath.Join(dir, ".git/refs/heads/main"), strings.Repeat("1", 40))
		}, amber.KindDamaged},
		"nowhere": {func(t *testing.T, dir string) {
			notestest.Put(t, filepath.Join(dir, ".git/refs/heads/main"), "ref: refs/heads/x\n")
		}, amber.KindDamaged},
		"no objects":    {func(t *testing.T, dir string) { emptyObjects(t, dir) }, amber.KindDamaged},
		"other branch":  {func(t *testing.T, dir string) { notestest.Git(t, dir, "checkout", "-q", "-b", "x") }, amber.KindConflict},
		"detached head": {func(t *testing.T, dir string) { notestest.Git(t, dir, "checkout", "-q", "--detach") }, amber.KindConflict},
		"merge": {func(t *testing.T, dir string) {
			blob := strings.TrimSpace(notestest.Git(t, dir, "hash-object", "-w", "known.md"))
			notestest.Put(t, filepath.Join(dir, "info"), "100644 "+blob+" 2\tknown.md\n")
			notestest.Git(t, dir, "rm", "-q", "--cached", "known.md")
			notestest.Git(t, dir, "-c", "alias.x=!git update-index --index-info < info", "x")
		}, amber.KindConflict},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			notestest.Write(t, d, "known", "text")
			notestest.Write(t, d, "other", "text")
			tt.spoil(t, dir)
			must.Fail(d.WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: "new text"}))(t, "write", tt.want)
			must.Kind(t, "delete", d.DeleteNote(t.Context(), "known", amber.NoteBy{}), tt.want)
			must.Equal(t, "the file", string(must.Get(os.ReadFile(filepath.Join(dir, "known.md")))(t)), "text")
		})
	}
}

func emptyObjects(t *testing.T, dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "??", "*"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, f := range found {
		notestest.Remove(t, f)
	}
}

func TestCheckFindsMissingObjects(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "text")
	must.Do(t, d.Check(t.Context()))
	blob := strings.TrimSpace(notestest.Git(t, dir, "rev-parse", "HEAD:known.md"))
	notestest.Remove(t, filepath.Join(dir, ".git", "objects", blob[:2], blob[2:]))
	must.Kind(t, "check", d.Check(t.Context()), amber.KindDamaged)
}

func TestWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(t *testing.T, dir string)
		name    string
		read    amber.Kind
		remove  amber.Kind // conflict unless set
	}{
		"linked folder": {
			prepare: func(t *testing.T, dir string) {
				away := t.TempDir()
				notestest.Put(t, filepath.Join(away, "x.md"), "elsewhere")
				notestest.Symlink(t, away, filepath.Join(dir, "folder"))
			},
			name: "folder/x", read: amber.KindConflict,
		},
		"linked inner folder": {
			prepare: func(t *testing.T, dir string) {
				notestest.Put(t, filepath.Join(dir, "a", "y.md"), "text")
				notestest.Symlink(t, t.TempDir(), filepath.Join(dir, "a", "b"))
			},
			name: "a/b/x", read: amber.KindConflict,
		},
		"linked note": {
			prepare: func(t *testing.T, dir string) {
				away := filepath.Join(t.TempDir(), "away")
				notestest.Put(t, away, "elsewhere")
				notestest.Symlink(t, away, filepath.Join(dir, "x.md"))
			},
			name: "x", read: amber.KindConflict,
		},
		"folder for note": {
			prepare: func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, "x.md", "y.md"), "text") },
			name:    "x", read: amber.KindConflict,
		},
		"note for folder": {
			prepare: func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, "x.md"), "text") },
			name:    "x.md/y", read: amber.KindConflict,
		},
		"other case": {
			prepare: func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, "Note.md"), "text") },
			name:    "note", read: amber.KindNotFound, remove: amber.KindNotFound,
		},
		"folder in other case": {
			prepare: func(t *testing.T, dir string) { notestest.Put(t, filepath.Join(dir, "Folder", "x.md"), "text") },
			name:    "folder/y", read: amber.KindNotFound, remove: amber.KindNotFound,
		},
		"too large": {
			prepare: func(t *testing.T, dir string) {
				notestest.Put(t, filepath.Join(dir, "x.md"), strings.Repeat("x", amber.MaxContentBytes+1))
			},
			name: "x", read: amber.KindDamaged,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			notestest.Write(t, d, "known", "text")
			tt.prepare(t, dir)
			before := notestest.Git(t, dir, "rev-parse", "HEAD")
			must.Fail(d.WriteNote(t.Context(), amber.NoteWrite{Name: tt.name, Content: "new text"}))(t, "write", amber.KindConflict)
			must.Kind(t, "delete", d.DeleteNote(t.Context(), tt.name, amber.NoteBy{}), cmp.Or(tt.remove, amber.KindConflict))
			must.Fail(d.ReadNote(t.Context(), tt.name))(t, "read", tt.read)
			must.Equal(t, "head", notestest.Git(t, dir, "rev-parse", "HEAD"), before)
			notestest.Write(t, d, "known", "the rest goes on")
		})
	}
}

func TestReadRefusesWhatIsNoText(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Put(t, filepath.Join(dir, "x.md"), "secret \xff\xfe")
	_, err := d.ReadNote(t.Context(), "x")
	must.Kind(t, "read", err, amber.KindDamaged)
	must.Hold(t, err == nil || !strings.Contains(err.Error(), "secret"), "the error quotes the note: %v", err)
}
