package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// treeRemover is an optional ability of an [FS]: to remove a whole tree in a safer way than by path.
type treeRemover interface {
	RemoveAll(path string) error
}

// Remove removes a file or an empty folder; one that does not exist is no error. Nothing is synced.
func Remove(fsys FS, path string) error { return ignoreMissing(fsys.Remove(path)) }

// RemoveAll removes path and everything below it, and returns once its name is durably gone. It never
// follows a symbolic link: a link is removed, what it points to stays. A missing path is not an error.
// After an error, or a power cut before it returns, any part of the tree may be left; RemoveAll may be repeated.
func RemoveAll(fsys FS, path string) error {
	if err := removeTree(fsys, path); err != nil {
		return fmt.Errorf("remove all %s: %w", path, err)
	}
	// A missing path is no proof that its removal is durable: the remover may have died before the sync.
	err := fsys.SyncDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove all %s: %w", path, err)
	}
	return nil
}

func removeTree(fsys FS, path string) error {
	if r, ok := fsys.(treeRemover); ok {
		return r.RemoveAll(path)
	}
	info, err := fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := removeChildren(fsys, path); err != nil {
			return err
		}
	}
	return ignoreMissing(fsys.Remove(path))
}

func removeChildren(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if err := removeTree(fsys, filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// SweepTemp removes the temporary files that crashed writers left in dir, durably, and returns the
// names it removed, sorted. The caller holds the exclusive lock of the writers there: a temporary file of a
// live writer would be taken away too. It goes on after an error and returns all of them.
func SweepTemp(fsys FS, dir string) ([]string, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("sweep %s: %w", dir, err)
	}
	var removed []string
	var errs []error
	for _, e := range entries {
		if e.IsDir() || !strings.HasPrefix(e.Name(), TempPrefix) {
			continue
		}
		if err := fsys.Remove(filepath.Join(dir, e.Name())); err != nil {
			errs = append(errs, ignoreMissing(err))
			continue
		}
		removed = append(removed, e.Name())
	}
	if len(removed) > 0 {
		errs = append(errs, fsys.SyncDir(dir))
	}
	if err := errors.Join(errs...); err != nil {
		return removed, fmt.Errorf("sweep %s: %w", dir, err)
	}
	return removed, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
