//go:build unix

package fsx

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// lockFile locks f; unless it may wait it returns ErrLocked when the lock is busy.
func lockFile(f *os.File, mode LockMode, wait bool) error {
	how := unix.LOCK_SH
	if mode == Exclusive {
		how = unix.LOCK_EX
	}
	if !wait {
		how |= unix.LOCK_NB
	}
	err := flock(f, how)
	if err == unix.EWOULDBLOCK {
		return ErrLocked
	}
	return os.NewSyscallError("flock", err)
}

func unlockFile(f *os.File) error {
	return os.NewSyscallError("flock", flock(f, unix.LOCK_UN))
}

func flock(f *os.File, how int) error {
	defer runtime.KeepAlive(f)
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
