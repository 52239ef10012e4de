package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// syncTree syncs every regular file below dir and every directory, the inner ones first, and dir itself.
func syncTree(dir string) error {
	return walkTree(dir, func(path string) error {
		f, err := openNoFollow(path, syncAccess, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	}, syncDir)
}

// walkTree calls file for every regular file below dir, and folder for every directory behind what lies in it. It
// leaves out everything else: a link has no content of its own, and its name belongs to its directory. A file that
// vanishes meanwhile needs no sync.
func walkTree(dir string, file, folder func(path string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = walkTree(path, file, folder)
		case e.Type().IsRegular():
			err = file(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return folder(dir)
}

// needDirectory refuses anything but a directory.
func needDirectory(name string) error {
	info, err := os.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "syncall", Path: name, Err: syscall.ENOTDIR}
	}
	return err
}
