//go:build unix

package notes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
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
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if notestest.Exists(t, mark) {
		t.Error("a program of the user was run")
	}
	if notestest.Exists(t, trace) {
		t.Error("a trace was written")
	}
	if notestest.Exists(t, filepath.Join(dir, ".git", "hooks")) {
		t.Error("there are hooks in the repository")
	}
	got := notestest.Git(t, dir, "log", "--format=%an <%ae> %cn <%ce> %G?", "-1")
	must.Equal(t, "author and committer", got, "Amber <amber@localhost> Amber <amber@localhost> N\n")
}

func TestEnvironmentOfGit(t *testing.T) {
	t.Setenv("LD_SOMETHING", "x")
	t.Setenv("GIT_SOMETHING", "x")
	log := filepath.Join(t.TempDir(), "log")
	d := notestest.At(t, t.TempDir(), notes.Options{Git: notestest.FakeGit(t, "env | cut -d= -f1 >> "+log+"; echo \"$@\" >> "+log+".args")})
	notestest.Write(t, d, "known", "text")
	must.Get(d.LogNote(t.Context(), "known", 1))(t)
	raw := must.Get(os.ReadFile(log))(t)
	names := strings.Fields(string(raw))
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(s string) bool {
		return slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, s) // of the shell
	})
	want := []string{
		"GIT_ATTR_NOSYSTEM", "GIT_AUTHOR_DATE", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME", "GIT_COMMITTER_DATE", "GIT_COMMITTER_EMAIL",
		"GIT_COMMITTER_NAME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT",
		"GIT_DIR", "GIT_LITERAL_PATHSPECS", "GIT_NO_REPLACE_OBJECTS", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_WORK_TREE",
		"HOME", "LC_ALL", "PATH", "TZ", "XDG_CONFIG_HOME",
	}
	must.Equal(t, "names", names, want)
	args := must.Get(os.ReadFile(log + ".args"))(t)
	for line := range strings.Lines(string(args)) {
		if !strings.Contains(line, "-c core.fsync=all ") || !strings.Contains(line, "-c core.hooksPath=/dev/null ") {
			t.Errorf("git is run with %s", line)
		}
	}
}

// When git gives up or is killed at any step, the note is the old one or the new one, and the next write mends
// what is left.
func TestGitFailsAtEachStep(t *testing.T) {
	t.Parallel()
	const secret = "the text of the note"
	for _, step := range []string{"version", "init", "status", "fast-import", "update-ref", "update-index"} {
		for _, how := range []string{"exit 1", "echo fatal: broken >&2; exit 128", "kill -9 $$"} {
			t.Run(step+" "+how, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				good := notestest.At(t, dir, notes.Options{})
				if step != "version" && step != "init" {
					notestest.Write(t, good, "known", "old")
				}
				broken := notestest.FakeGit(t, fmt.Sprintf("for a do if [ \"$a\" = %s ]; then %s; fi; done", step, how))
				bad := notestest.At(t, dir, notes.Options{Git: broken})
				_, err := bad.WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: secret})
				if (err == nil) != (step == "update-index") {
					t.Errorf("write: %v", err)
				}
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the error quotes the note: %v", err)
				}
				notestest.Write(t, good, "other", "text")
				if note, err := good.ReadNote(t.Context(), "known"); err == nil && note.Commit == "" {
					t.Errorf("read %+v: it is not committed", note)
				} else if err != nil && amber.KindOf(err) != amber.KindNotFound {
					t.Error(err)
				}
				must.NoError(t, good.Check(t.Context()))
				must.Equal(t, "git sees changes", notestest.Git(t, dir, "status", "--porcelain"), "")
			})
		}
	}
}

// A person may commit by hand while Amber does.
func TestBranchMovedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := notestest.At(t, dir, notes.Options{})
	notestest.Write(t, good, "known", "old")
	meanwhile := "for a do if [ \"$a\" = update-ref ]; then git commit -q --allow-empty -m meanwhile; fi; done"
	_, err := notestest.At(t, dir, notes.Options{Git: notestest.FakeGit(t, meanwhile)}).WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: "new"})
	must.Kind(t, "write", err, amber.KindConflict)
	notestest.Write(t, good, "known", "new")
	must.Equal(t, "history", notestest.Ops(t, good, "known"), "recover write")
	must.Equal(t, "the branch", notestest.Git(t, dir, "log", "--format=%s"), "recover known\nmeanwhile\nwrite known\n")
}

func TestHungGitIsEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := notestest.At(t, dir, notes.Options{})
	notestest.Write(t, good, "known", "text")
	hung := notestest.At(t, dir, notes.Options{Git: notestest.FakeGit(t, "sleep 3600 & wait"), Timeout: 50 * time.Millisecond})
	_, err := hung.WriteNote(t.Context(), amber.NoteWrite{Name: "known", Content: "new text"})
	must.Kind(t, "write", err, amber.KindUnreachable)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "git status") {
		t.Errorf("the error does not say what was running: %v", err)
	}
	must.Fail(hung.ReadNote(t.Context(), "known"))(t, "read", amber.KindUnreachable)
	notestest.Write(t, good, "known", "new text")
}

// A git that is broken off is ended together with its children, the last of which holds the fifo open.
func TestCancelEndsGitAndItsChildren(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	dir := t.TempDir()
	good := notestest.At(t, dir, notes.Options{})
	notestest.Write(t, good, "known", "text")
	hung := notestest.At(t, dir, notes.Options{Git: notestest.FakeGit(t, "exec 3>'"+fifo+"'; echo started >&3; sleep 3600 & wait")})
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan error, 1)
	go func() { closed <- untilClosed(fifo, cancel) }()

	_, err := hung.WriteNote(ctx, amber.NoteWrite{Name: "known", Content: "new text"})
	must.Kind(t, "write", err, amber.KindUnreachable)
	must.Is(t, "write", err, context.Canceled)
	must.NoError(t, <-closed)
	notestest.Write(t, good, "known", "new text")
}

// untilClosed reads the fifo until no process holds its other end; it calls started once a process has written to it.
func untilClosed(fifo string, started func()) error {
	defer started()
	f, err := os.Open(fifo)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); err != nil {
		return err
	}
	started()
	return must.Err(io.Copy(io.Discard, f))
}

func TestMissingGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notestest.Write(t, notestest.At(t, dir, notes.Options{}), "known", "text")
	denied := filepath.Join(t.TempDir(), "git")
	notestest.Put(t, denied, "not executable")
	for _, git := range []string{"no-such-git-program", filepath.Join(dir, "nowhere"), denied} {
		d := notestest.At(t, dir, notes.Options{Git: git})
		ctx := t.Context()
		_, err := d.WriteNote(ctx, amber.NoteWrite{Name: "known", Content: "new text"})
		must.Kind(t, "write", err, amber.KindUnsupported)
		must.Equal(t, "hint", amber.HintOf(err), "install git")
		must.Fail(d.LogNote(ctx, "known", 1))(t, "log", amber.KindUnsupported)
		must.Kind(t, "delete", d.DeleteNote(ctx, "known", amber.NoteBy{}), amber.KindUnsupported)
		must.Kind(t, "check", d.Check(ctx), amber.KindUnsupported)
		must.Fail(gitrun.Version(ctx, git))(t, "version", amber.KindUnsupported)
		must.Equal(t, "read", must.Get(d.ReadNote(ctx, "known"))(t).Content, "text")
		must.Equal(t, "listed", len(must.Get(d.ListNotes(ctx))(t)), 1)
		_, err = notestest.At(t, filepath.Join(t.TempDir(), "new"), notes.Options{Git: git}).WriteNote(ctx, amber.NoteWrite{Name: "a", Content: "b"})
		must.Kind(t, "first write", err, amber.KindUnsupported)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"git version 2.30.0":                 "2.30.0",
		"git version 2.39.5 (Apple Git-154)": "2.39.5",
		"git version 2.45.1.windows.1":       "2.45.1.windows.1",
		"git version 3.0.rc1":                "3.0.rc1",
		"git version 2.29.9":                 "",
		"git version 1.99":                   "",
		"git version two":                    "",
		"hello":                              "",
		"":                                   "",
	} {
		git := filepath.Join(t.TempDir(), "git")
		notestest.Script(t, git, "echo '"+answer+"'")
		got, err := gitrun.Version(t.Context(), git)
		if got != want || (want == "") != (amber.KindOf(err) == amber.KindUnsupported) {
			t.Errorf("%q: version %q, %v; want %q", answer, got, err, want)
		}
	}
	must.NoError(t, must.Err(gitrun.Version(t.Context(), "")))
}

func TestOldGitMakesNoRepository(t *testing.T) {
	t.Parallel()
	git := filepath.Join(t.TempDir(), "git")
	notestest.Script(t, git, "echo git version 2.20.1")
	dir := filepath.Join(t.TempDir(), "memdir")
	must.Fail(notestest.At(t, dir, notes.Options{Git: git}).WriteNote(t.Context(), amber.NoteWrite{Name: "a", Content: "b"}))(t, "write", amber.KindUnsupported)
	if notestest.Exists(t, dir) {
		t.Error("the folder was made")
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
