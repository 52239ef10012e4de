//go:build unix

package fsx

import (
	"errors"
	"os"
	"syscall"
)

// holdScratch locks a file for as long as it is open. Held is false when another process has it.
func holdScratch(f *os.File) (held bool, err error) {
	err = lockFile(f, Exclusive, false)
	if errors.Is(err, ErrLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return hasName(f, f.Name())
}

// removeScratch removes a file that is abandoned.
func removeScratch(path string) (removed bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !isMine(info) {
		return false, err
	}
	f, err := openNoFollow(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !isMine(info) {
		return false, err
	}
	if held, err := holdScratch(f); err != nil || !held {
		return false, err
	}
	err = os.Remove(path)
	return err == nil, err
}

// isMine reports whether a regular file belongs to this user and is open to no other.
func isMine(info os.FileInfo) bool { return isOf(info, 0o600, os.Geteuid()) }

// isMyFolder does the same for a folder.
func isMyFolder(info os.FileInfo) bool { return isOf(info, os.ModeDir|0o700, os.Geteuid()) }

func isOf(info os.FileInfo, mode os.FileMode, user int) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode() == mode && int(s.Uid) == user
}
