package dir

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Options say how a folder is opened. The zero value works.
type Options struct {
	Create bool   // make the folder, with mode 0700, if it is missing
	FS     fsx.FS // nil: the operating system's
}

// Dir is a folder that holds objects. Safe for concurrent use,
// also by several programs. There is nothing to close.
type Dir struct {
	root string
	fs   fsx.FS
}

var _ target.Target = (*Dir)(nil)

// Open returns the target in the folder path. The path itself may be a link,
// which is followed once, here. Errors: invalid for a relative path or
// something that is not a folder, not_found for a missing one that is not to
// be made, refused where it may not be made or reached.
func Open(path string, o Options) (*Dir, error) {
	const op = "open target"
	o.FS = cmp.Or(o.FS, fsx.OS())
	if !filepath.IsAbs(path) {
		return nil, amber.Errorf(amber.KindInvalid, op, path, "the path is not absolute")
	}
	root, err := settle(o.FS, filepath.Clean(path), o.Create)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &amber.Error{
			Op: op, Kind: amber.KindNotFound, ID: path, Err: errors.New("no such folder"),
			Hint: "connect the disk, or make the folder for a new repository",
		}
	case errors.Is(err, syscall.ENOTDIR):
		return nil, amber.Errorf(amber.KindInvalid, op, path, "not a folder")
	case err != nil:
		return nil, diskError(op, path, err)
	}
	return &Dir{root: root, fs: o.FS}, nil
}

// settle returns where the folder lies, after making it if it is to be made.
func settle(fsys fsx.FS, path string, create bool) (string, error) {
	info, err := fsys.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		// The user's own link to a bigger disk is fine.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", err
		}
		info, err = fsys.Lstat(path)
	}
	switch {
	case err != nil && !(create && errors.Is(err, fs.ErrNotExist)):
		return "", err
	case err == nil && !info.IsDir():
		return "", syscall.ENOTDIR
	}
	// Also when it exists: its maker may have died before its name was durable.
	return path, fsx.MkdirAll(fsys, path, 0o700)
}

// errBelow says that a file is where a folder would have to be.
var errBelow = errors.New("an object lies where a folder is needed")

// locate returns the path of a checked name. It looks at each folder on the
// way, so that no link is followed. Errors: unreachable when the target's
// folder is gone; fs.ErrNotExist when one below it is missing; errBelow.
func (d *Dir) locate(name string) (string, error) {
	path := d.root
	parts := strings.Split(name, "/")
	for i, part := range parts {
		info, err := d.fs.Lstat(path)
		switch {
		case i == 0 && (errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir()):
			return "", d.gone()
		case err != nil:
			return "", err
		case info.Mode().IsRegular():
			return "", errBelow
		case !info.IsDir():
			return "", &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
		}
		path = filepath.Join(path, part)
	}
	return path, nil
}

// prepare returns the path of a checked name and makes the folders on the way. All of them are
// durable then, also those that another process has made.
func (d *Dir) prepare(op, name string) (string, error) {
	_, err := d.locate(name)
	if errors.Is(err, errBelow) {
		return "", &amber.Error{Op: op, Kind: amber.KindInvalid, ID: name, Err: err}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", diskError(op, name, err)
	}
	path := d.root
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		path = filepath.Join(path, part)
		if err := fsx.MkdirAll(d.fs, path, 0o700); err != nil {
			return "", diskError(op, name, err)
		}
	}
	return filepath.Join(path, parts[len(parts)-1]), nil
}

// isAbsent reports whether an error of locate says that there is no object.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errBelow)
}

// gone is the answer of a target without its folder.
func (d *Dir) gone() error {
	return &amber.Error{
		Op: "open target", Kind: amber.KindUnreachable, ID: d.root,
		Err: errors.New("the folder is gone"), Hint: "connect the disk",
	}
}
