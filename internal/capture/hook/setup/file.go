package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/settings"
)

// file is a file as it was found.
type file struct {
	path   string // as the host names it
	target string // where symbolic links lead to
	exists bool
	mode   fs.FileMode
	text   []byte // nil when it does not exist
}

// read reads a file of a host. A missing file is no error.
func (o Options) read(path string) (file, error) {
	f := file{path: path, mode: 0o644}
	var err error
	if f.target, err = resolve(path); err != nil {
		return f, err
	}
	info, err := o.FS.Lstat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, diskerr.Given("look at", path, err)
	}
	f.exists, f.mode = true, info.Mode().Perm()
	if f.text, err = fsx.ReadFile(o.FS, f.target, settings.MaxBytes); err != nil {
		return f, diskerr.Given("read", path, err)
	}
	if f.text == nil {
		f.text = []byte{}
	}
	return f, nil
}

// resolve returns where a path leads to. The file, and folders above it, need
// not exist.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		return target, nil
	}
	if known := (*fs.PathError)(nil); !errors.As(err, &known) || errors.Is(err, syscall.ELOOP) {
		return "", amber.Errorf(amber.KindInvalid, "look at", path, "symbolic links in this path lead in a circle")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", diskerr.Given("look at", path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", amber.Errorf(amber.KindInvalid, "look at", path, "a symbolic link to a path that does not exist")
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	if dir, err = resolve(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// exists reports whether there is something at path.
func (o Options) exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (o Options) readTOML(path string) (*settings.TOML, error) {
	f, err := o.read(path)
	if err != nil {
		return nil, err
	}
	doc, err := settings.ParseTOML(f.text)
	if err != nil {
		return nil, broken(path, err)
	}
	return doc, nil
}

// broken is the error about a file that cannot be edited as it is.
func broken(path string, err error) error {
	if e, ok := errors.AsType[*amber.Error](err); ok {
		if e.ID == "" || e.ID == serverName {
			return &amber.Error{Op: "edit", Kind: e.Kind, ID: path, Err: err, Hint: e.Hint}
		}
		return err
	}
	return &amber.Error{Op: "edit", Kind: amber.KindInvalid, ID: path, Err: err, Hint: "correct the file, which was not changed"}
}

// writable returns an error for a file that its owner does not want changed.
func (o Options) writable(f file) error {
	if !f.exists {
		return nil
	}
	if f.mode&0o200 == 0 {
		return amber.Errorf(amber.KindRefused, "edit", f.path, "the file is read-only")
	}
	w, err := o.FS.OpenFile(f.target, os.O_WRONLY, 0)
	if err != nil {
		return diskerr.Given("edit", f.path, err)
	}
	return w.Close()
}

// missing returns the folders above a file that do not exist, the outermost
// first.
func missing(target string) (dirs []string) {
	for dir := filepath.Dir(target); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// digest names a text; "" is no text.
func digest(text []byte) string {
	if text == nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
