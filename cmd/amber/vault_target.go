package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/internal/fsx"
)

// dirTarget writes documents as files below a folder, and nowhere else: through
// no link, and over nothing but regular files.
type dirTarget struct{ dir string }

var _ documentTarget = dirTarget{}

// newDirTarget returns the folder, which need not be there. Errors: invalid when
// it is something else.
func newDirTarget(dir string) (dirTarget, error) {
	real, err := filepath.EvalSymlinks(dir) // the folder itself may be a link
	if errors.Is(err, fs.ErrNotExist) {
		return dirTarget{dir}, nil
	}
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(real); err == nil && !info.IsDir() {
			err = errors.New("it is no folder")
		}
	}
	return dirTarget{real}, dirError("restore documents", dir, err)
}

// Bounds of names, as common file systems have them.
const (
	maxElement = 255
	maxPath    = 4095
)

func (t dirTarget) Refuses(d colony.Documents) map[string]string {
	refused := map[string]string{}
	names := slices.Sorted(maps.Keys(d))
	folded := map[string]string{}
	for _, name := range names {
		why := unwritable(runtime.GOOS, name)
		if why == "" && len(t.path(name)) > maxPath {
			why = "is too long"
		}
		key := foldName(runtime.GOOS, name)
		if other, twice := folded[key]; why == "" && twice {
			why = fmt.Sprintf("is the same file as %q here", oneLine(other, 80))
		}
		for dir := path.Dir(name); why == "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if _, isFile := d[dir]; isFile {
				why = fmt.Sprintf("lies below %q, which is a document, too", oneLine(dir, 80))
			}
		}
		if why != "" {
			refused[name] = why
		}
		folded[key] = name
	}
	return refused
}

// foldName is what a name is to a file system that ignores case.
func foldName(goos, name string) string {
	if goos == "windows" || goos == "darwin" {
		return strings.ToLower(name)
	}
	return name
}

// unwritable says why a name cannot be a file below a folder, "" when it can.
func unwritable(goos, name string) string {
	switch {
	case name == "":
		return "is empty"
	case strings.ContainsRune(name, 0):
		return "holds a zero byte"
	case strings.HasPrefix(name, "/"):
		return "is absolute"
	}
	elements := strings.Split(name, "/")
	for _, e := range elements {
		switch {
		case e == "" || e == ".":
			return "is no plain path"
		case e == "..":
			return "leaves the folder"
		case len(e) > maxElement:
			return fmt.Sprintf("is longer than %d bytes", maxElement)
		case len(elements) > 1 && strings.EqualFold(e, gitFolder):
			return "is git's own"
		case goos == "windows" && illegalOnWindows(e):
			return "is not legal on this file system"
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "means something else on this system"
	}
	return ""
}

func illegalOnWindows(element string) bool {
	last := element[len(element)-1]
	return last == '.' || last == ' ' || strings.ContainsAny(element, `<>:"\|?*`) ||
		strings.ContainsFunc(element, func(r rune) bool { return r < ' ' })
}

func (t dirTarget) path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

func (t dirTarget) Look(_ context.Context, name, text string) (there, same bool, err error) {
	const op = "restore documents"
	refuse := func(why string) (bool, bool, error) {
		return false, false, amber.Errorf(amber.KindRefused, op, name, why)
	}
	at := t.dir
	elements := strings.Split(name, "/")
	for i, e := range elements {
		at = filepath.Join(at, e)
		info, err := os.Lstat(at)
		switch isLast := i == len(elements)-1; {
		case errors.Is(err, fs.ErrNotExist):
			return false, false, nil
		case err != nil:
			return refuse("cannot be reached: " + err.Error())
		case !isLast && !info.IsDir():
			return refuse("lies below a link or a file")
		case isLast && !info.Mode().IsRegular():
			return refuse("is a link or a folder here")
		}
	}
	b, err := fsx.ReadFile(fsx.OS(), at, int64(len(text)))
	if errors.Is(err, fsx.ErrTooLarge) {
		return true, false, nil
	}
	if err != nil {
		return refuse("cannot be read: " + err.Error())
	}
	return true, string(b) == text, nil
}

func (t dirTarget) Write(_ context.Context, name, text string, replace bool) error {
	path := t.path(name)
	err := fsx.MkdirAll(fsx.OS(), filepath.Dir(path), 0o700)
	if err == nil && !replace {
		err = fsx.CreateNew(fsx.OS(), path, 0o600, []byte(text))
	}
	if err == nil && replace {
		mode := fs.FileMode(0o600)
		if info, err := os.Lstat(path); err == nil {
			mode = info.Mode().Perm() // whoever could read it still can, and nobody else
		}
		err = fsx.Replace(fsx.OS(), path, mode, []byte(text))
	}
	kind := amber.KindInternal
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		kind = amber.KindConflict
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fsx.ErrNotRegular):
		kind = amber.KindRefused
	}
	return &amber.Error{Op: "write document", Kind: kind, ID: name, Err: err}
}

func (dirTarget) Close() error { return nil }
