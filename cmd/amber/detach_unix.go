//go:build unix

package main

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// detach gives a process a session of its own: what is sent to the host's
// group or terminal does not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// keepFiles keeps the files that this process has inherited from the host out of a process that this one starts
// and that lives on. That process would hold the locks on them, and a reader may wait for the end of a pipe.
func keepFiles() {
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
