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

// Identity returns the numbers of the device and of the file, which no other file has while
// this one is there. Ok is false where the system has none.
func Identity(info fs.FileInfo) (device, number uint64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(s.Dev), s.Ino, true //nolint:unconvert // the type differs between systems
}
