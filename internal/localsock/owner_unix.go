//go:build unix

package localsock

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user who owns a file, -1 where it is not known.
func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
