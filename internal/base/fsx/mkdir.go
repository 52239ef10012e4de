package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// MkdirAll makes the directory path and every missing parent, each with perm (the umask applies), and
// returns once all their names are durable. A symbolic link or a non-directory at path is refused with
// an error satisfying errors.Is for [syscall.ENOTDIR]; parents may be reached through symbolic links.
// It is safe for concurrent use, also from several processes.
//
// When path exists already its parent is still synced, because the maker may have died before
// doing so; what is then written below path is only as durable as path itself. This costs one
// directory sync, so MkdirAll belongs where something is opened, not where it is written.
func MkdirAll(fsys FS, path string, perm fs.FileMode) error {
	if err := mkdirAll(fsys, filepath.Clean(path), perm, false); err != nil {
		return fmt.Errorf("make directory %s: %w", path, err)
	}
	return nil
}

func mkdirAll(fsys FS, path string, perm fs.FileMode, isParent bool) error {
	parent := filepath.Dir(path)
	info, err := fsys.Lstat(path)
	switch {
	case err == nil && isParent && info.Mode().Type() == fs.ModeSymlink:
		// Left to the operating system to follow: where a user keeps the home folder is the user's choice.
		return nil
	case err == nil && !info.IsDir():
		return notDirectory(path)
	case err == nil && parent != path:
		return syncFound(fsys, parent)
	case parent == path || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := mkdirAll(fsys, parent, perm, true); err != nil {
		return err
	}
	if err := mkdir(fsys, path, perm); err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}

// mkdir makes one directory, or finds that another process has made it in the meantime.
func mkdir(fsys FS, path string, perm fs.FileMode) error {
	err := fsys.Mkdir(path, perm)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := fsys.Lstat(path)
	if err == nil && !info.IsDir() {
		err = notDirectory(path)
	}
	return err
}

func notDirectory(path string) error {
	return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
}

// syncFound syncs the parent of a directory that was found, not made. A process that may not read the
// parent did not make a directory in it, and could do nothing about it anyway.
func syncFound(fsys FS, parent string) error {
	err := fsys.SyncDir(parent)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
