package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestTheBackgroundDrainIsOnItsOwn: a session of its own and nothing but the
// null device, so that the host never waits for it; and it drains.
func TestTheBackgroundDrainIsOnItsOwn(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	if _, errs, code := u.asProcess(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hello"}`, "hook", "claude-code"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	pid := drainOf(t, u.home)
	for fd := range 3 {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err != nil || to != os.DevNull {
			t.Errorf("descriptor %d is %q, %v", fd, to, err)
		}
	}
	stat := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if fields[3] != strconv.Itoa(pid) {
		t.Errorf("process %d is in session %s", pid, fields[3])
	}
	await(t, func() bool {
		out, _, _ := u.amber("", "turn", "list", "--session", "s1")
		return strings.Contains(out, "hello")
	})
	await(t, func() bool { // it writes into the home as long as it is there
		_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
		return err != nil
	})
}

// drainOf returns the process that drains a home in the background. It stays
// for seconds, so it is there when its hook has returned.
func drainOf(t *testing.T, home string) int {
	t.Helper()
	entries := must.Get(os.ReadDir("/proc"))(t)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Contains(line, []byte("--detached")) && bytes.Contains(line, []byte(home)) {
			return pid
		}
	}
	t.Fatal("nobody drains")
	return 0
}

// TestACrashedHostIsNoticed kills the process that hooks were started by.
func TestACrashedHostIsNoticed(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := t.TempDir()
	binary := must.Get(exec.LookPath("amber"))(t)
	// perl, python and the like may be missing, so the host is a copy of a shell
	// under another name.
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err) // git needs one, too
	}
	b := must.Get(os.ReadFile(shell))(t)
	agent := filepath.Join(dir, "someagent")
	must.Do(t, os.WriteFile(agent, b, 0o700))
	run := exec.Command(agent, "-c", `echo '{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"work"}' | "$0" hook claude-code --no-drain; read line`, binary)
	run.Env = append(os.Environ(), "AMBER_HOME="+u.home)
	in := must.Get(run.StdinPipe())(t)
	defer in.Close()
	must.Do(t, run.Start())
	await(t, func() bool { return len(u.entries()["s1"]) == 1 })
	if out := u.must("", "journal", "drain"); strings.Contains(out, "ended") {
		t.Errorf("the host is alive: %s", out)
	}
	must.Do(t, run.Process.Kill())
	_ = run.Wait()
	if out := u.must("", "journal", "drain"); !strings.Contains(out, "ended without a word: s1") {
		t.Errorf("the host is dead: %s", out)
	}
	if out := u.must("", "session", "show", "s1"); !strings.Contains(out, "(crashed)") {
		t.Errorf("session: %s", out)
	}
}

// await waits until something is so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for !so() {
		select {
		case <-deadline.C:
			t.Fatal("it does not happen")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
