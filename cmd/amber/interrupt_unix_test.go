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

	"github.com/amber-memory/amber/internal/test/must"
)

// A process that reads a pipe, or opens a fifo that has no writer, ends with a signal, and says so with its
// exit code.
func TestASignalEndsWhoWaitsForInput(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		u := newUser(t)
		fifo := filepath.Join(t.TempDir(), "fifo")
		must.Do(t, syscall.Mkfifo(fifo, 0o600))
		for name, args := range map[string][]string{
			"stdin": {"remember", "-"}, "lines": {"remember", "--jsonl", "-"}, "fifo": {"journal", "import", fifo}, "config": {"--config", fifo, "remember", "-"},
		} {
			cmd := exec.Command("amber", args...)
			cmd.Env, cmd.Dir = append(os.Environ(), "AMBER_HOME="+u.home), filepath.Dir(u.home)
			in := must.Get(cmd.StdinPipe())(t)
			var complaint strings.Builder
			cmd.Stderr = &complaint
			must.Do(t, cmd.Start())
			switch name {
			case "fifo", "config": // a writer is let in once the process has opened it, and says nothing
				w := must.Get(os.OpenFile(fifo, os.O_WRONLY, 0))(t)
				defer w.Close()
			default: // more than a pipe holds: the process reads
				must.Get(io.WriteString(in, `{"content":"`+strings.Repeat("x", 300<<10)))(t)
			}
			must.Do(t, cmd.Process.Signal(sig))
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 || !strings.Contains(complaint.String(), "interrupted") {
				t.Errorf("%s, %v: %v\n%s", name, sig, err, complaint.String())
			}
			in.Close()
		}
	}
}
