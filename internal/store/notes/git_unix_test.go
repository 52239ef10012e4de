//go:build unix

package notes_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestUserSettingsAreNotInherited(t *testing.T) {
	user := t.TempDir()
	mark := filepath.Join(user, "mark")
	prog := notestest.Program(t, mark)
	for _, hook := range []string{"pre-commit", "post-commit", "post-index-change", "reference-transaction"} {
		notestest.Script(t, filepath.Join(user, "hooks", hook), prog+" </dev/null")
		notestest.Script(t, filepath.Join(user, "template", "hooks", hook), prog+" </dev/null")
	}
	notestest.Put(t, filepath.Join(user, "attributes"), "* filter=x diff=x\n")
	notestest.Put(t, filepath.Join(user, ".gitconfig"), strings.ReplaceAll(strings.ReplaceAll(`
[core]
	hooksPath = USER/hooks
	attributesFile = USER/attributes
	fsmonitor = PROGRAM
	autocrlf = true
[init]
	templateDir = USER/template
	defaultBranch = trunk
[commit]
	gpgSign = true
[gpg]
	program = PROGRAM
[filter "x"]
	clean = PROGRAM
	required = true
[diff]
	external = PROGRAM
[alias]
	fast-import = !PROGRAM
[log]
	showSignature = true
[user]
	name = Somebody
	email = somebody@localhost
`, "USER", user), "PROGRAM", prog))
	t.Setenv("HOME", user)
	t.Setenv("XDG_CONFIG_HOME", user)

	// The trap works: plain git in a plain folder falls into it.
	plain := filepath.Join(user, "plain")
	if out, err := exec.Command("git", "init", "-q", plain).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_ = exec.Command("git", "-C", plain, "commit", "-q", "--allow-empty", "-m", "x").Run()
	if !notestest.Exists(t, mark) {
		t.Fatal("the trap does not work")
	}
	notestest.Remove(t, mark)

	trace := filepath.Join(user, "trace")
	for name, value := range map[string]string{
		"GIT_DIR": "/nonsense", "GIT_WORK_TREE": "/nonsense", "GIT_INDEX_FILE": "/nonsense", "GIT_OBJECT_DIRECTORY": "/nonsense",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nonsense", "GIT_COMMON_DIR": "/nonsense", "GIT_NAMESPACE": "nonsense",
		"GIT_TEMPLATE_DIR": filepath.Join(user, "template"), "GIT_EXTERNAL_DIFF": prog, "GIT_TRACE": trace, "GIT_TRACE2": trace,
		"GIT_CONFIG_GLOBAL": filepath.Join(user, ".gitconfig"), "GIT_CONFIG_SYSTEM": filepath.Join(user, ".gitconfig"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": prog,
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=" + prog + "'", "GIT_PAGER": prog, "GIT_EXEC_PATH": "/nonsense",
		"GIT_AUTHOR_NAME": "Somebody", "GIT_COMMITTER_DATE": "nonsense", "GIT_DEFAULT_HASH": "sha256",
	} {
		t.Setenv(name, value)
	}
	d, dir := notestest.New(t)
	notestest.Write(t, d, "known", "a\r\n")
	notestest.Write(t, d, "known", "b\r\n")
	for what, err := range notestest.Each(t.Context(), d) {
		must.Hold(t, err == nil, "%s: %v", what, err)
	}
	must.Hold(t, !notestest.Exists(t, mark), "a program of the user was run")
	must.Hold(t, !notestest.Exists(t, trace), "a trace was written")
	must.Hold(t, !notestest.Exists(t, filepath.Join(dir, ".git", "hooks")), "there are hooks in the repository")
	got := notestest.Git(t, dir, "log", "--format=%an <%ae> %cn <%ce> %G?", "-1")
	must.Equal(t, "author and committer", got, "Amber <amber@localhost> Amber <amber@localhost> N\n")
}

// before is a file system that calls a function before a file of a name is made.
type before struct {
	fsx.FS
	name string
	fn   func()
}

func (b before) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	if flag&os.O_CREATE != 0 && strings.HasSuffix(filepath.ToSlash(name), b.name) {
		b.fn()
	}
	return b.FS.OpenFile(name, flag, perm)
}

// A person may commit by hand while Amber does.
func TestBranchMovedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := notestest.At(t, dir, notes.Options{})
	notestest.Write(t, good, "known", "old")
	meanwhile := before{fsx.OS(), "refs/heads/main.lock", func() { notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "meanwhile") }}
	_, err := notestest.At(t, dir, notes.Options{FS: meanwhile}).WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: "new"})
	must.Kind(t, "write", err, amber.KindConflict)
	notestest.Write(t, good, "known", "new")
	must.Equal(t, "history", notestest.Ops(t, good, "known"), "recover write")
	must.Equal(t, "the branch", notestest.Git(t, dir, "log", "--format=%s"), "recover known\nmeanwhile\nwrite known\n")
	// A git that moves the branch at this very moment has its lock.
	locked := before{fsx.OS(), "refs/heads/main.lock", func() { notestest.Put(t, filepath.Join(dir, ".git/refs/heads/main.lock"), "") }}
	_, err = notestest.At(t, dir, notes.Options{FS: locked}).WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: "newer"})
	must.Kind(t, "write beside a lock", err, amber.KindConflict)
	must.Equal(t, "the lock of the other one is there", notestest.Exists(t, filepath.Join(dir, ".git/refs/heads/main.lock")), true)
}

// When the disk fails at any call, the note is the old one or the new one, and the next write mends
// what is left.
func TestEveryCallOfAWriteMayFail(t *testing.T) {
	t.Parallel()
	const secret = "the text of the note"
	for n, failed := 1, true; failed; n++ {
		disk := newDisk(t)
		good := notestest.At(t, memdir, notes.Options{FS: disk})
		notestest.Write(t, good, "known", "old")
		broken := errfs.Wrap(disk, errfs.Rule{Nth: n, Err: syscall.EIO})
		_, err := notestest.At(t, memdir, notes.Options{FS: broken}).WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: secret})
		failed = len(broken.Injected()) > 0
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("call %d: the error quotes the note: %v", n, err)
		}
		if err == nil && must.Get(good.ReadNote(t.Context(), "known"))(t).Content != secret {
			t.Errorf("call %d: the note that was acknowledged is gone", n)
		}
		notestest.Write(t, good, "other", "text")
		note := must.Get(good.ReadNote(t.Context(), "known"))(t)
		if note.Commit == "" || note.Content != "old" && note.Content != secret {
			t.Errorf("call %d: read %+v: it is not committed", n, note)
		}
		must.NoError(t, good.Check(t.Context()))
		if n%8 == 0 || !failed {
			gitReads(t, disk)
		}
	}
}

// A power cut at any call of a first write, a change and a delete leaves the old note or the new one, and a repository that git reads.
func TestEveryCallOfAWriteMayBeTheLast(t *testing.T) {
	t.Parallel()
	steps := map[string]struct {
		begin func(*testing.T, *notes.Dir)
		run   func(context.Context, *notes.Dir) error
		left  []string // what the note may say afterwards; "" where it is gone
		done  string   // what it says once run has returned nil
	}{
		"first write": {
			begin: func(*testing.T, *notes.Dir) {},
			run: func(ctx context.Context, d *notes.Dir) error {
				return must.Err(d.WriteNote(ctx, amber.NoteWrite{Name: "a/known", Content: "new"}))
			},
			left: []string{"", "new"}, done: "new",
		},
		"change": {
			begin: func(t *testing.T, d *notes.Dir) { notestest.Write(t, d, "a/known", "old") },
			run: func(ctx context.Context, d *notes.Dir) error {
				return must.Err(d.WriteNote(ctx, amber.NoteWrite{Name: "a/known", Content: "new"}))
			},
			left: []string{"old", "new"}, done: "new",
		},
		"delete": {
			begin: func(t *testing.T, d *notes.Dir) { notestest.Write(t, d, "a/known", "old") },
			run:   func(ctx context.Context, d *notes.Dir) error { return d.DeleteNote(ctx, "a/known", amber.NoteBy{}) },
			left:  []string{"old", ""}, done: "",
		},
	}
	for what, step := range steps {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for n, stopped := 1, true; stopped; n++ {
				disk := newDisk(t)
				step.begin(t, notestest.At(t, memdir, notes.Options{FS: disk}))
				begun := disk.Calls()
				disk.StopAt(begun + n)
				err := step.run(t.Context(), notestest.At(t, memdir, notes.Options{FS: disk}))
				stopped = disk.Calls() >= begun+n
				after := disk.CrashClone(rand.New(rand.NewPCG(uint64(n), 1)))
				d := notestest.At(t, memdir, notes.Options{FS: after})
				notestest.Write(t, d, "other", "text")
				note, rerr := d.ReadNote(t.Context(), "a/known")
				if rerr != nil && amber.KindOf(rerr) != amber.KindNotFound {
					t.Fatalf("call %d: %v", n, rerr)
				}
				if !slices.Contains(step.left, note.Content) || err == nil && note.Content != step.done || note.Content != "" && note.Commit == "" {
					t.Errorf("call %d, which answered %v: the note is %+v", n, err, note)
				}
				must.NoError(t, d.Check(t.Context()))
				if n%5 == 0 || !stopped {
					gitReads(t, after)
				}
			}
		})
	}
}

const memdir = "/home/memdir"

// newDisk is a file system in memory with a home.
func newDisk(t *testing.T) *crashfs.FS {
	t.Helper()
	disk := crashfs.New()
	must.Do(t, disk.Mkdir("/home", 0o700))
	must.Do(t, disk.SyncDir("/"))
	return disk
}

// gitReads checks that git finds the notes of a disk whole, and sees no changes.
func gitReads(t *testing.T, disk *crashfs.FS) {
	t.Helper()
	dir := t.TempDir()
	copied(t, disk, memdir, dir)
	must.Equal(t, "git sees damage", notestest.Git(t, dir, "fsck", "--full", "--strict", "--no-progress", "--no-dangling"), "")
	must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain"), "")
}

// copied copies a folder to the real disk.
func copied(t *testing.T, from fsx.FS, dir, to string) {
	t.Helper()
	for _, e := range must.Get(from.ReadDir(dir))(t) {
		source, target := dir+"/"+e.Name(), filepath.Join(to, e.Name())
		if e.IsDir() {
			must.Do(t, os.MkdirAll(target, 0o700))
			copied(t, from, source, target)
			continue
		}
		must.Do(t, os.WriteFile(target, must.Get(fsx.ReadFile(from, source, 1<<30))(t), 0o600))
	}
}

// Nothing that is done to notes needs the git program.
func TestNotesNeedNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	d, dir := notestest.New(t)
	first := notestest.Write(t, d, "known", "text")
	must.Do(t, os.WriteFile(filepath.Join(dir, "by hand.md"), []byte("x"), 0o600))
	must.Do(t, d.CommitAll(t.Context()))
	for what, err := range notestest.Each(t.Context(), d) {
		if err != nil && (what != "read" && what != "log" || amber.KindOf(err) != amber.KindNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must.Equal(t, "text", must.Get(d.NoteAt(t.Context(), "known", first.Commit))(t).Content, "text")
	must.Equal(t, "since the first commit", told(must.Get(d.Since(t.Context(), first.Commit))(t)), "by hand=x -known")
}

// Git reads, checks and clones what Amber wrote, and sees no changes.
func TestGitReadsTheRepository(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	for _, name := range []string{"b", "b/c", "b.x/y", "a/b/c", "ünïcode/ß", strings.Repeat("long/", 20) + strings.Repeat("x", 100)} {
		notestest.Write(t, d, name, "text of "+name)
		notestest.Write(t, d, name, "more text of "+name)
	}
	must.Do(t, d.DeleteNote(t.Context(), "a/b/c", amber.NoteBy{}))
	must.Equal(t, "git sees damage", notestest.Git(t, dir, "fsck", "--full", "--strict", "--no-progress"), "")
	must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain", "--ignored"), "")
	must.Equal(t, "git sees others staged", notestest.Git(t, dir, "diff", "--cached", "--name-only"), "")
	clone := filepath.Join(t.TempDir(), "clone")
	notestest.Git(t, dir, "clone", "-q", "--no-local", dir, clone)
	must.Equal(t, "commits of the clone", strings.TrimSpace(notestest.Git(t, clone, "rev-list", "--count", "HEAD")), "13")
	for _, n := range must.Get(d.ListNotes(t.Context()))(t) {
		must.Equal(t, n.Name, string(must.Get(os.ReadFile(filepath.Join(clone, n.Name+".md")))(t)), "more text of "+n.Name)
	}
}

// A person may have git pack the repository, and take it to other forms.
func TestWhatGitPacked(t *testing.T) {
	t.Parallel()
	packs := map[string][]string{
		"gc":             {"gc -q --aggressive --prune=now"},
		"ids for places": {"-c repack.useDeltaBaseOffset=false repack -q -a -d -f --depth=50"},
		"two packs":      {"repack -q -d", "-c user.name=u -c user.email=e commit -q --allow-empty -m x", "repack -q -d", "pack-refs --all --prune"},
	}
	for what, commands := range packs {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			text := ""
			for i := range 30 {
				text += fmt.Sprintf("line %d of a text that grows\n", i*i)
				notestest.Write(t, d, "known", text)
			}
			first := must.Get(d.LogNote(t.Context(), "known", 100))(t)[29].Commit
			for _, c := range commands {
				notestest.Git(t, dir, strings.Fields(c)...)
			}
			loose := must.Get(filepath.Glob(filepath.Join(dir, ".git/objects/??/*")))(t)
			must.Equal(t, "loose objects", len(loose), 0)
			must.NoError(t, d.Check(t.Context()))
			must.Equal(t, "read", must.Get(d.ReadNote(t.Context(), "known"))(t).Content, text)
			must.Equal(t, "the first text", must.Get(d.NoteAt(t.Context(), "known", first))(t).Content, "line 0 of a text that grows\n")
			notestest.Write(t, d, "known", "short")
			must.Equal(t, "changes", len(must.Get(d.LogNote(t.Context(), "known", 100))(t)), 31)
			must.Equal(t, "git sees damage", notestest.Git(t, dir, "fsck", "--full", "--strict", "--no-progress"), "")
			must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain"), "")
		})
	}
}

// A pack that was changed is damaged, wherever the change is; it is never read as something else.
func TestDamagedPacks(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	text := strings.Repeat("some text that packs well\n", 30)
	for i := range 4 {
		notestest.Write(t, d, "known", text+fmt.Sprint(i))
	}
	notestest.Git(t, dir, "gc", "-q", "--prune=now")
	log := must.Get(d.LogNote(t.Context(), "known", 9))(t)
	for _, end := range []string{"pack", "idx"} {
		file := must.Get(filepath.Glob(filepath.Join(dir, ".git/objects/pack/*."+end)))(t)[0]
		whole := must.Get(os.ReadFile(file))(t)
		must.Do(t, os.Chmod(file, 0o600))
		for at := range whole {
			spoiled := slices.Clone(whole)
			spoiled[at] ^= 0x55
			must.Do(t, os.WriteFile(file, spoiled, 0o600))
			note, err := d.NoteAt(t.Context(), "known", log[at%len(log)].Commit)
			if err == nil && note.Content != text+fmt.Sprint(3-at%len(log)) {
				t.Fatalf("%s, byte %d: another text", end, at)
			}
			if kind := amber.KindOf(err); err != nil && kind != amber.KindDamaged && kind != amber.KindQuota {
				t.Fatalf("%s, byte %d: %v", end, at, err)
			}
		}
		must.Do(t, os.WriteFile(file, whole[:len(whole)/2], 0o600))
		must.Kind(t, "half of a "+end, must.Err(d.NoteAt(t.Context(), "known", log[0].Commit)), amber.KindDamaged)
		must.Do(t, os.WriteFile(file, whole, 0o600))
	}
	must.NoError(t, d.Check(t.Context()))
}

// Git has indexes of several forms. Entries of files that are no notes stay in them.
func TestIndexesOfGit(t *testing.T) {
	t.Parallel()
	for what, command := range map[string]string{
		"version 4":   "update-index --index-version 4",
		"version 3":   "update-index --skip-worktree staged.png",
		"split":       "update-index --split-index",
		"a cache":     "update-index --untracked-cache",
		"no checksum": "-c index.skipHash=true update-index --force-write-index",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d, dir := notestest.New(t)
			for _, name := range []string{"a", "folder/b", "folder/c", "known"} {
				notestest.Write(t, d, name, "text")
			}
			notestest.Put(t, filepath.Join(dir, "staged.png"), "x")
			notestest.Git(t, dir, "add", "staged.png")
			notestest.Git(t, dir, strings.Fields(command)...)
			config := filepath.Join(dir, ".git", "config")
			text := strings.ReplaceAll(string(must.Get(os.ReadFile(config))(t)), "\tuntrackedCache = true\n", "")
			must.Do(t, os.WriteFile(config, []byte(text), 0o600))
			notestest.Write(t, d, "known", "more")
			want := "A  staged.png\n"
			if what == "split" { // it is lost, as an index that cannot be read
				want = "?? staged.png\n"
			}
			must.Equal(t, "git sees", notestest.Git(t, dir, "status", "--porcelain"), want)
			must.Equal(t, "files of the branch", notestest.Git(t, dir, "ls-tree", "-r", "--name-only", "HEAD"), "a.md\nfolder/b.md\nfolder/c.md\nknown.md\n")
		})
	}
}

// An edit that leaves size and time of a file as they were, at the moment of Amber's own write, is seen.
func TestEditsAtTheSameMoment(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	for i := range 20 {
		notestest.Write(t, d, "known", fmt.Sprintf("text %04d", i))
		notestest.Put(t, filepath.Join(dir, "known.md"), fmt.Sprintf("hand %04d", i))
		notestest.Write(t, d, "other", fmt.Sprint(i))
		must.Equal(t, "the branch", notestest.Git(t, dir, "cat-file", "blob", "HEAD:known.md"), fmt.Sprintf("hand %04d", i))
	}
}

func TestNobodyElseMayRead(t *testing.T) {
	t.Parallel()
	d, dir := notestest.New(t)
	notestest.Write(t, d, "a/b/known", "text")
	notestest.Write(t, d, "a/b/known", "more")
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", strings.TrimPrefix(path, dir), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
