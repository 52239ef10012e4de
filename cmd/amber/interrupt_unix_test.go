//go:build unix

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

// A process that reads a pipe or opens a fifo nobody writes to ends with a
// signal, and says so with its exit code.
func TestASignalEndsWhoWaitsForInput(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		u := newUser(t)
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, args := range map[string][]string{
			"stdin": {"remember", "-"}, "lines": {"remember", "--jsonl", "-"}, "fifo": {"journal", "import", fifo}, "config": {"--config", fifo, "remember", "-"},
		} {
			cmd := exec.Command("amber", args...)
			cmd.Env, cmd.Dir = append(os.Environ(), "AMBER_HOME="+u.home), filepath.Dir(u.home)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var complaint strings.Builder
			cmd.Stderr = &complaint
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			switch name {
			case "fifo", "config": // a writer is let in once the process has opened it, and says nothing
				w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
			default: // more than a pipe holds: the process reads
				if _, err := io.WriteString(in, `{"content":"`+strings.Repeat("x", 300<<10)); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 || !strings.Contains(complaint.String(), "interrupted") {
				t.Errorf("%s, %v: %v\n%s", name, sig, err, complaint.String())
			}
			in.Close()
		}
	}
}
