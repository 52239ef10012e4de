//go:build unix

package project

import (
	"os"
	"syscall"
)

// ownFile reports whether a file belongs to the user or to root: anybody may
// put a file into a folder that all share, as /tmp.
func ownFile(path string) bool {
	uid := owner(path)
	return uid == int64(os.Geteuid()) || uid == 0
}

// mine reports whether a file belongs to the user.
func mine(path string) bool { return owner(path) == int64(os.Geteuid()) }

// owner is the user id of the owner of a file or folder, -1 where it cannot be read.
func owner(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int64(s.Uid)
}
