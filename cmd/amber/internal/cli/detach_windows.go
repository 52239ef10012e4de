package cli

import (
	"os/exec"
	"syscall"
)

// Detach gives a process a group of its own and no console.
func Detach(cmd *exec.Cmd) {
	const DetachedProcess = 0x00000008
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | DetachedProcess}
}

// KeepFiles has nothing to keep: only files that are named are inherited.
func KeepFiles() {}
