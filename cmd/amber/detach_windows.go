package main

import (
	"os/exec"
	"syscall"
)

// detach gives a process a group of its own and no console.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x00000008
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// keepFiles has nothing to keep: only files that are named are inherited.
func keepFiles() {}
