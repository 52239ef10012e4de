package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// start starts a process that waits until its input is closed.
func start(t *testing.T) (*exec.Cmd, amber.HostProcess) {
	t.Helper()
	cmd := exec.Command("cat")
	in := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	h := host(procfs, cmd.Process.Pid)
	if h.PID != cmd.Process.Pid || h.Boot == "" || h.Namespace == "" || h.Start == 0 {
		t.Fatalf("a running process is identified as %+v", h)
	}
	return cmd, h
}

// TestASleepingAgentIsAlive and is not taken for another whose name is
// similar: names do not count at all.
func TestASleepingAgentIsAlive(t *testing.T) {
	cmd, h := start(t)
	must.Equal(t, "a process that sleeps", Check(h), Alive)
	must.Do(t, cmd.Process.Signal(syscall.SIGSTOP))
	must.Equal(t, "a process that was stopped", Check(h), Alive)
	must.Do(t, cmd.Process.Signal(syscall.SIGCONT))
}

func TestAKilledProcessIsDead(t *testing.T) {
	cmd, h := start(t)
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait()
	must.Equal(t, "a killed process", Check(h), Dead)
}

func TestWhatCannotBeComparedIsUnknown(t *testing.T) {
	_, h := start(t)
	for name, change := range map[string]func(*amber.HostProcess){
		"no process":        func(h *amber.HostProcess) { *h = amber.HostProcess{} },
		"no boot":           func(h *amber.HostProcess) { h.Boot = "" },
		"another container": func(h *amber.HostProcess) { h.Namespace = "pid:[1]" },
	} {
		then := h
		change(&then)
		must.Equal(t, name, Check(then), Unknown)
	}
	reborn := h
	reborn.Boot = "x"
	must.Equal(t, "a process from before the machine was started again", Check(reborn), Dead)
	h.Start++
	must.Equal(t, "a number that another process has now", Check(h), Dead)
}

// TestHostIsBehindTheShell reads a process table of our own.
func TestHostIsBehindTheShell(t *testing.T) {
	root := t.TempDir()
	row := func(pid, parent int, name, state string) {
		dir := filepath.Join(root, strconv.Itoa(pid))
		must.Do(t, os.MkdirAll(dir, 0o755))
		stat := strconv.Itoa(pid) + " (" + name + ") " + state + " " + strconv.Itoa(parent) + " 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n"
		must.Do(t, os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o644))
	}
	row(1, 0, "init", "S")
	row(10, 1, "node) S 1 (", "S")
	row(11, 10, "sh", "S")
	row(12, 11, "timeout", "S")
	if got := host(root, 12); got.PID != 10 || got.Start != 4711 {
		t.Errorf("the host is %+v", got)
	}
	row(20, 20, "bash", "S") // a loop
	for _, pid := range []int{20, 99, 1, 0, -1} {
		must.Equal(t, fmt.Sprintf("host above %d", pid), host(root, pid).PID, 0)
	}
	row(30, 1, "claude", "Z")
	if p, ok := look(root, 30); !ok || !p.gone {
		t.Errorf("a process that waits to be reaped is %+v", p)
	}
}
