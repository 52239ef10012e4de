//go:build unix

package project

import (
	"os"
	"syscall"
)

// ownFile reports whether a file belongs to the user or to root: anybody may
// put a file into a folder that all share, as /tmp.
func ownFile(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}
