package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// maxFile bounds a file that holds a name: the longest one and its line end.
const maxFile = amber.MaxIDBytes + 56

// readShared reads .amber/project below a folder. Symbolic links are not
// followed: a repository may hold one that leads anywhere.
func (c *claim) readShared(top string) string {
	folder := filepath.Join(top, folderName)
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return c.read(filepath.Join(folder, fileName))
}

// read returns the name that a file holds, "" where there is no file. A file
// that holds no name is remembered as ignored.
func (c *claim) read(path string) string {
	data, err := fsx.ReadFile(fsx.OS(), path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	name := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	if err == nil {
		err = amber.CheckID("project id", name)
	}
	if err == nil && !usable(name) {
		err = amber.Errorf(amber.KindInvalid, "read project name", path, "the name is not free")
	}
	if err != nil {
		c.ignored = path + ": " + whyIgnored(err)
		return ""
	}
	return name
}

// whyIgnored says what is wrong with a file without its text.
func whyIgnored(err error) string {
	switch {
	case errors.Is(err, fsx.ErrTooLarge):
		return "is larger than a name, want one line of at most 200 bytes"
	case errors.Is(err, fsx.ErrNotRegular):
		return "is not a regular file"
	case amber.KindOf(err) == amber.KindInvalid:
		return "does not hold a name, want one line of printable characters, at most 200 bytes"
	}
	return "cannot be read"
}

// write names the project of a directory in its files.
func write(dir, name string) error {
	if err := amber.CheckID("project id", name); err != nil {
		return err
	}
	if !usable(name) {
		return amber.Errorf(amber.KindInvalid, "name project", name, "names that begin with %s are given to folders that no user has confirmed", ownPrefix)
	}
	dir = real(dir)
	top, ok := WorkTree(dir)
	if !ok {
		top = dir
	}
	folder := filepath.Join(top, folderName)
	if err := fsx.MkdirAll(fsx.OS(), folder, 0o755); err != nil {
		return refused(folder, err)
	}
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return refused(folder, errors.New("is not a directory"))
	}
	if err := put(filepath.Join(folder, fileName), 0o644, name); err != nil || !ok {
		return err
	}
	common, why := gitFolder(top)
	if why != "" { // it belongs to another repository
		return nil
	}
	return put(filepath.Join(common, choiceName), 0o600, name)
}

// put replaces a file that holds a name. It leaves anything that is not a file.
func put(path string, mode fs.FileMode, name string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return refused(path, errors.New("is not a regular file"))
	}
	if err := fsx.Replace(fsx.OS(), path, mode, []byte(name+"\n")); err != nil {
		return refused(path, err)
	}
	return nil
}

func refused(path string, err error) error {
	kind := amber.KindRefused
	if errors.Is(err, fs.ErrPermission) {
		return &amber.Error{Op: "write project name to", Kind: kind, ID: path, Err: fs.ErrPermission, Hint: "give the name where a command needs it: --project NAME"}
	}
	return &amber.Error{Op: "write project name to", Kind: kind, ID: path, Err: err}
}

// readSmall reads the beginning of a regular file, also through a symbolic
// link. It never waits, as it would for a fifo.
func readSmall(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	return string(b), err
}

func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fsx.ErrNotRegular
	}
	return os.Open(path)
}
