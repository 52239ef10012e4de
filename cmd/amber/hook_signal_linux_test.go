package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// start starts a hook with pipes to everything.
func (u *user) start(args ...string) (*exec.Cmd, io.WriteCloser) {
	u.t.Helper()
	cmd := exec.Command("amber", append([]string{"hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m", "--home", u.home}, args...)...)
	in := must.Get(cmd.StdinPipe())(u.t)
	return cmd, in
}

// TestASignalDoesNotCostAnEvent: Ctrl-C reaches the hooks of a host, too, just
// when there is something to keep.
func TestASignalDoesNotCostAnEvent(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		u := newUser(t)
		cmd, in := u.start()
		must.Do(t, cmd.Start())
		// More than a pipe holds: when it is written the process reads, and has
		// said what it does with signals long before.
		must.Get(io.WriteString(in, `{"session_id":"s1","padding":"`+strings.Repeat("x", 1<<20)+`","hook_event_name":`))(t)
		must.Do(t, cmd.Process.Signal(sig))
		must.Get(io.WriteString(in, `"UserPromptSubmit","prompt":"hello"}`))(t)
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
		if got := u.entries()["s1"]; len(got) != 1 || got[0].Prompt != "hello" {
			t.Errorf("%v: kept %v", sig, got)
		}
	}
}

// TestAHostThatDoesNotListen has closed its ends of both pipes.
func TestAHostThatDoesNotListen(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "config.yaml")
	must.Do(t, os.WriteFile(broken, []byte("memory: [no"), 0o600))
	for _, args := range [][]string{nil, {"--config", broken}} {
		u := newUser(t)
		u.must("", "remember", "--scope", "global", "The build needs Go 1.26")
		cmd, in := u.start(args...)
		r, w, err := os.Pipe()
		must.Do(t, err)
		r.Close()
		cmd.Stdout, cmd.Stderr = w, w
		must.Do(t, cmd.Start())
		w.Close()
		must.Get(io.WriteString(in, `{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}`))(t)
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: %v", strings.Join(args, " "), err)
		}
		if got := u.entries()["s1"]; len(got) != 1 {
			t.Errorf("%q: kept %v", strings.Join(args, " "), got)
		}
	}
}
