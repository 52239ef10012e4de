//go:build unix

package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// syncAccess is the access a file must be opened with to be read and synced.
const syncAccess = os.O_RDONLY

// openNoFollow opens without following a symbolic link at the last element. O_NONBLOCK keeps the
// open of a fifo from waiting for its other end; it has no effect on regular files.
func openNoFollow(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("open %s: %w: symbolic link", name, ErrNotRegular)
	}
	return f, err
}

func syncDir(name string) error {
	d, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	return syncOpenDir(d)
}

// rootFlags keep the open of a fifo from waiting; that no link is followed is seen to otherwise.
const rootFlags = unix.O_NONBLOCK

func syncOpenDir(d *os.File) error {
	err := d.Sync()
	// Some file systems have no directory sync and answer with these. Nothing more can be done there.
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
