package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// maxFile bounds a file that holds a name: the longest one and its line end.
const maxFile = amber.MaxIDBytes + 56

// readShared reads .amber/project below a folder. Symbolic links are not
// followed: a repository may hold one that leads anywhere.
func (p *Project) readShared(top string) string {
	folder := filepath.Join(top, folderName)
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return p.read(filepath.Join(folder, fileName))
}

// read returns the name that a file holds, "" where there is no file. What is
// there and is not a name is remembered as ignored.
func (p *Project) read(path string) string {
	data, err := fsx.ReadFile(fsx.OS(), path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	name := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	if err == nil {
		err = amber.CheckID("project id", name)
	}
	if err != nil {
		p.Ignored = path + ": " + whyIgnored(err)
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

// Set names the project of a directory, for this machine and in .amber/project,
// and returns the project as it is now. Errors: invalid for what is not a name;
// refused where .amber is not a folder or the file is not a regular file.
func Set(dir, name string) (Project, error) {
	if err := amber.CheckID("project id", name); err != nil {
		return Project{}, err
	}
	top, ok := WorkTree(dir)
	if !ok {
		top = dir
	}
	folder := filepath.Join(top, folderName)
	if err := fsx.MkdirAll(fsx.OS(), folder, 0o755); err != nil {
		return Project{}, refused(folder, err)
	}
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return Project{}, refused(folder, errors.New("is not a directory"))
	}
	if err := put(filepath.Join(folder, fileName), 0o644, name); err != nil {
		return Project{}, err
	}
	if ok {
		if err := put(filepath.Join(commonDir(filepath.Join(top, ".git")), choiceName), 0o600, name); err != nil {
			return Project{}, err
		}
	}
	return Of(dir), nil
}

// put replaces a file that holds a name. What is not a file stays.
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

// commonDir follows the .git file of a work tree or submodule to the folder
// that holds the configuration.
func commonDir(git string) string {
	link, err := readSmall(git)
	target, ok := strings.CutPrefix(strings.TrimSpace(link), "gitdir: ")
	if err != nil || !ok {
		return git
	}
	target = from(filepath.Dir(git), target)
	common, err := readSmall(filepath.Join(target, "commondir"))
	if err != nil || strings.TrimSpace(common) == "" {
		return target
	}
	return from(target, strings.TrimSpace(common))
}

// from is a path as a file in dir means it.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
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
