package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// In returns the file system below a folder that is open. Paths are relative to it, and none leads out of it, whatever
// is put in their way meanwhile. A link between the folder and the last element of a path is followed where it stays
// inside; to follow none, go down with [Below], folder by folder.
func In(root *os.Root) FS { return rootFS{root} }

type rootFS struct{ root *os.Root }

var _ FS = rootFS{}

func (r rootFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	// O_TRUNC is left to a second step, so that what a link leads to is not touched.
	f, err := r.root.OpenFile(name, flag&^os.O_TRUNC|rootFlags, perm)
	if err != nil {
		return nil, err
	}
	if err = r.itself(name, f); err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return rootFile{f, name}, nil
}

// rootFile is called as it was opened.
type rootFile struct {
	*os.File
	name string
}

func (f rootFile) Name() string { return f.name }

// itself refuses a file that was reached through a link at the last element.
func (r rootFS) itself(name string, f *os.File) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := r.root.Lstat(name)
	if err == nil && !os.SameFile(opened, named) {
		err = fmt.Errorf("open %s: %w: symbolic link", name, ErrNotRegular)
	}
	return err
}

func (r rootFS) Mkdir(name string, perm fs.FileMode) error { return r.root.Mkdir(name, perm) }
func (r rootFS) Link(oldname, newname string) error        { return r.root.Link(oldname, newname) }
func (r rootFS) Rename(oldname, newname string) error      { return r.root.Rename(oldname, newname) }
func (r rootFS) Remove(name string) error                  { return r.root.Remove(name) }
func (r rootFS) RemoveAll(name string) error               { return r.root.RemoveAll(name) }
func (r rootFS) Lstat(name string) (fs.FileInfo, error)    { return r.root.Lstat(name) }

func (r rootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(r.root.FS(), filepath.ToSlash(name))
}

func (r rootFS) SyncDir(name string) error {
	d, err := r.root.OpenFile(name, os.O_RDONLY|rootFlags, 0)
	if err != nil {
		return err
	}
	info, err := d.Stat()
	switch {
	case err == nil && !info.IsDir():
		err = notDirectory(name)
	case err == nil:
		err = syncOpenDir(d)
	}
	return errors.Join(err, d.Close())
}

// SyncAll syncs file after file.
func (r rootFS) SyncAll(name string) error {
	entries, err := r.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(name, e.Name())
		switch {
		case e.IsDir():
			err = r.SyncAll(path)
		case e.Type().IsRegular():
			err = r.syncFile(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return r.SyncDir(name)
}

func (r rootFS) syncFile(name string) error {
	f, err := r.OpenFile(name, syncAccess, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Below opens the folder name, one element, that lies in root. It refuses a file and a link to a folder with an error
// satisfying errors.Is for [syscall.ENOTDIR].
func Below(root *os.Root, name string) (*os.Root, error) {
	named, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !named.IsDir() {
		return nil, notDirectory(name)
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// A link may have come in between: then another folder is open.
	opened, err := dir.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = notDirectory(name)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// MakeBelow is Below for a folder that is made with perm (the umask applies) when it is missing. Its name is durable then.
func MakeBelow(root *os.Root, name string, perm fs.FileMode) (*os.Root, error) {
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if err := mkdir(In(root), name, perm); err != nil {
			return nil, err
		}
	}
	// Also of one that was found: its maker may have died before.
	if err := syncFound(In(root), "."); err != nil {
		return nil, err
	}
	return Below(root, name)
}
