package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// start starts a hook with pipes to everything.
func (u *user) start(args ...string) (*exec.Cmd, io.WriteCloser) {
	u.t.Helper()
	cmd := exec.Command("amber", append([]string{"hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m", "--home", u.home}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	return cmd, in
}

// TestASignalDoesNotCostAnEvent: Ctrl-C reaches the hooks of a host, too, just
// when there is something to keep.
func TestASignalDoesNotCostAnEvent(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		u := newUser(t)
		cmd, in := u.start()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// More than a pipe holds: when it is written the process reads, and has
		// said what it does with signals long before.
		if _, err := io.WriteString(in, `{"session_id":"s1","padding":"`+strings.Repeat("x", 1<<20)+`","hook_event_name":`); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, `"UserPromptSubmit","prompt":"hello"}`); err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(broken, []byte("memory: [no"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--config", broken}} {
		u := newUser(t)
		u.must("", "remember", "--scope", "global", "The build needs Go 1.26")
		cmd, in := u.start(args...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, err := io.WriteString(in, `{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}`); err != nil {
			t.Fatal(err)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: %v", strings.Join(args, " "), err)
		}
		if got := u.entries()["s1"]; len(got) != 1 {
			t.Errorf("%q: kept %v", strings.Join(args, " "), got)
		}
	}
}
