//go:build unix

package cli

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Detach gives a process a session of its own: what is sent to the host's
// group or terminal does not reach it.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// KeepFiles keeps the files that this process has inherited from the host out of a process that this one starts
// and that lives on. That process would hold the locks on them, and a reader may wait for the end of a pipe.
func KeepFiles() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
