//go:build unix

package gitrun

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives cmd a process group of its own, so that ending it ends its children too.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
