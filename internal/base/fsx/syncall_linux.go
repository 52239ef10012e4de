package fsx

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncAll has the file system write out everything, where that is a promise, and syncs file after file elsewhere.
func syncAll(name string) error {
	if err := needDirectory(name); err != nil {
		return err
	}
	info, err := statFS(name)
	if err != nil || !wholeSync(info.Type) {
		return syncTree(name)
	}
	if err := syncFS(name); err != nil {
		return err
	}
	return walkTree(name, writtenBack, func(dir string) error {
		if dir != name {
			return nil
		}
		// Before Linux 5.17 syncfs hid that the journal of the file system had been given up. A sync of
		// one directory does not, and has nothing left to do otherwise.
		return syncDir(dir)
	})
}

// wholeSync reports whether syncfs makes the files of such a file system durable and leaves their errors for
// writtenBack. One in user space or over a network is not asked to by it, and an overlay keeps the errors of
// the file system below it to itself.
func wholeSync(fsType string) bool {
	switch fsType {
	case "ext4", "xfs", "btrfs", "f2fs", "tmpfs":
		return true
	}
	return false
}

func syncFS(name string) error {
	d, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		if err := unix.Syncfs(int(d.Fd())); err != unix.EINTR {
			return os.NewSyscallError("syncfs", err)
		}
	}
}

// writtenBack returns the error with which the kernel wrote the file out, if it did. Syncfs itself says nothing about
// that before Linux 5.8, and later not if another process asked first; the file remembers the error until a process
// asks for it.
func writtenBack(path string) error {
	f, err := openNoFollow(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WAIT_BEFORE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // forbidden in some sandboxes
		return f.Sync()
	}
	return os.NewSyscallError("sync_file_range", err)
}
