//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// OwnGroup gives a command a process group of its own, so that the end of its context ends its
// children too.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
