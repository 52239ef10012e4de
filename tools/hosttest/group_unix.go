//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// inGroup makes a program that is given up take along what it started.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
