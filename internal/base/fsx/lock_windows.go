package fsx

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/windows"
)

// allBytes, as both halves of a length, covers the whole file however long it is.
const allBytes = ^uint32(0)

// lockFile locks f; unless it may wait it returns ErrLocked when the lock is busy.
func lockFile(f *os.File, mode LockMode, wait bool) error {
	defer runtime.KeepAlive(f)
	var flags uint32
	if mode == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, allBytes, allBytes, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return os.NewSyscallError("LockFileEx", err)
}

func unlockFile(f *os.File) error {
	defer runtime.KeepAlive(f)
	err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, allBytes, allBytes, new(windows.Overlapped))
	return os.NewSyscallError("UnlockFileEx", err)
}
