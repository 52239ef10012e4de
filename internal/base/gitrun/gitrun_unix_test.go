//go:build unix

package gitrun_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// run runs git status with a program that runs body.
func run(ctx context.Context, t *testing.T, body string, timeout time.Duration) error {
	t.Helper()
	git := filepath.Join(t.TempDir(), "git")
	notestest.Script(t, git, body)
	return must.Err(must.Get(gitrun.Find(git, timeout))(t).Run(ctx, gitrun.Call{Args: []string{"status"}, Env: gitrun.BareEnv()}))
}

// Git gets an environment of its own, and settings that no file overrides: no hooks, and a sync of all that it writes.
func TestEnvironmentOfGit(t *testing.T) {
	t.Setenv("LD_SOMETHING", "x")
	t.Setenv("GIT_SOMETHING", "x")
	log := filepath.Join(t.TempDir(), "log")
	must.Do(t, run(t.Context(), t, "env | cut -d= -f1 >> "+log+"; echo \"$@\" >> "+log+".args", gitrun.DefaultTimeout))
	names := strings.Fields(string(must.Get(os.ReadFile(log))(t)))
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(s string) bool {
		return slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, s) // of the shell
	})
	must.Equal(t, "names", names, []string{
		"GIT_ATTR_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_TERMINAL_PROMPT",
		"HOME", "LC_ALL", "PATH", "TZ", "XDG_CONFIG_HOME",
	})
	args := string(must.Get(os.ReadFile(log + ".args"))(t))
	if !strings.Contains(args, "-c core.fsync=all ") || !strings.Contains(args, "-c core.hooksPath=/dev/null ") {
		t.Errorf("git is run with %s", args)
	}
}

func TestHungGitIsEnded(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), t, "sleep 3600 & wait", 50*time.Millisecond)
	must.Kind(t, "run", err, amber.KindUnreachable)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "git status") {
		t.Errorf("the error does not say what was running: %v", err)
	}
}

// A git that is broken off is ended together with its children, the last of which holds the fifo open.
func TestCancelEndsGitAndItsChildren(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan error, 1)
	go func() { closed <- untilClosed(fifo, cancel) }()
	err := run(ctx, t, "exec 3>'"+fifo+"'; echo started >&3; sleep 3600 & wait", gitrun.DefaultTimeout)
	must.Kind(t, "run", err, amber.KindUnreachable)
	must.Is(t, "run", err, context.Canceled)
	must.NoError(t, <-closed)
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
	denied := filepath.Join(t.TempDir(), "git")
	notestest.Put(t, denied, "not executable")
	for _, git := range []string{"no-such-git-program", filepath.Join(t.TempDir(), "nowhere"), denied} {
		_, err := gitrun.Version(t.Context(), git)
		must.Kind(t, "version", err, amber.KindUnsupported)
		must.Equal(t, "hint", amber.HintOf(err), "install git")
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
