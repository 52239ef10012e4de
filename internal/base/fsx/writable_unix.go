//go:build unix

package fsx

import "golang.org/x/sys/unix"

// ReadOnly reports whether this process cannot make or change files in a folder
// that is there: the file system is mounted read-only, or the folder belongs to
// another user.
func ReadOnly(dir string) bool {
	switch unix.Access(dir, unix.W_OK|unix.X_OK) {
	case unix.EROFS, unix.EACCES, unix.EPERM:
		return true
	}
	return false
}
