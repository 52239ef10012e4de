//go:build unix

package agent

import (
	"io/fs"
	"os"
	"syscall"
)

// fromRoot reports whether a file belongs to root, and this process is not root's.
func fromRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && os.Geteuid() != 0
}
