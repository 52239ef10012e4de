//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach gives a process a session of its own: what is sent to the host's
// group or terminal does not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
