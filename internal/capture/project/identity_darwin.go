package project

import (
	"fmt"
	"os"
	"syscall"
)

// identity is what stays with a folder that is moved and is not given again: its inode and when that was
// made. "" where the file system does not tell.
func identity(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Birthtimespec.Sec == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", s.Ino, s.Birthtimespec.Sec, s.Birthtimespec.Nsec)
}
