package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/redact"
)

// dirTarget writes documents as files below a folder, and nowhere else: through
// no link, also none that is put there meanwhile, and over nothing but regular
// files that are as they were when they were looked at.
type dirTarget struct {
	dir  string
	root *os.Root                // nil while there is no such folder
	home fs.FileInfo             // of Amber itself, where nothing is written; nil when there is none
	in   func(r *os.Root) fsx.FS // fsx.In

	rules *redact.Redactor // by which secrets were taken out of documents
}

var _ documentTarget = (*dirTarget)(nil)

// newDirTarget returns the folder, which need not be there; home is where Amber
// keeps its own. Errors: invalid when it is something else; refused.
func newDirTarget(dir, home string) (*dirTarget, error) {
	const op = "restore documents"
	t := &dirTarget{dir: dir, in: fsx.In, rules: redact.New()}
	t.home, _ = os.Stat(home)               // without one there is nothing to keep out of
	real, err := filepath.EvalSymlinks(dir) // the folder itself may be a link
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		t.dir = real
		t.root, err = os.OpenRoot(real)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		err = errors.New("it is no folder")
	}
	return t, dirError(op, dir, err)
}

// errOwnHome keeps documents out of where Amber keeps its own, keys among it.
var errOwnHome = errors.New("lies in the home of Amber")

// down opens the folder that the document is in, and returns its name there. The
// folders above it are made if make says so. Errors: fs.ErrNotExist; ENOTDIR for
// a link or a file on the way.
func (t *dirTarget) down(name string, make bool) (*os.Root, string, error) {
	at, err := t.root.OpenRoot(".")
	if err != nil {
		return nil, "", err
	}
	elements := strings.Split(name, "/")
	last := len(elements) - 1
	for i := 0; err == nil; i++ {
		var info fs.FileInfo
		if info, err = at.Stat("."); err == nil && t.home != nil && os.SameFile(info, t.home) {
			err = errOwnHome
		}
		if i == last || err != nil {
			break
		}
		var next *os.Root
		if make {
			next, err = fsx.MakeBelow(at, elements[i], 0o700)
		} else {
			next, err = fsx.Below(at, elements[i])
		}
		if err == nil {
			at.Close()
			at = next
		}
	}
	if err != nil {
		at.Close()
		return nil, "", err
	}
	return at, elements[last], nil
}

func (t *dirTarget) Look(_ context.Context, name, text string) (found, error) {
	if t.root == nil {
		return found{}, nil
	}
	folder, base, err := t.down(name, false)
	if err == nil {
		defer folder.Close()
		var f found
		if f.digest, err = digestFile(t.in(folder), base); err == nil {
			f.there, f.same = true, f.digest == digestText(text)
			if !f.same && redact.IsMarked(text) {
				b, err := fsx.ReadFile(t.in(folder), base, colony.DefaultMaxBytes)
				f.same = err == nil && saysSame(t.rules, name, string(b), text)
			}
			return f, nil
		}
	}
	why := "cannot be read: "
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found{}, nil
	case errors.Is(err, syscall.ENOTDIR):
		err, why = errors.New("lies below a link or a file"), ""
	case errors.Is(err, fsx.ErrNotRegular):
		err, why = errors.New("is a link or a folder here"), ""
	case errors.Is(err, errOwnHome):
		why = ""
	}
	return found{}, amber.Errorf(amber.KindRefused, "restore documents", name, "%s", why+err.Error())
}

func (t *dirTarget) Write(_ context.Context, name, text string, before found) error {
	err := t.make()
	var folder *os.Root
	var base string
	if err == nil {
		folder, base, err = t.down(name, true)
	}
	if err == nil {
		err = write(t.in(folder), base, text, before)
		folder.Close() // nothing is left in it that could fail
	}
	kind := amber.KindInternal
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist), errors.Is(err, errChanged):
		kind = amber.KindConflict
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fsx.ErrNotRegular), errors.Is(err, syscall.ENOTDIR), errors.Is(err, errOwnHome):
		kind = amber.KindRefused
	}
	return &amber.Error{Op: "write document", Kind: kind, ID: name, Err: err}
}

// make makes the folder where there was none.
func (t *dirTarget) make() (err error) {
	if t.root != nil {
		return nil
	}
	if err := fsx.MkdirAll(fsx.OS(), t.dir, 0o700); err != nil {
		return err
	}
	above, err := os.OpenRoot(filepath.Dir(t.dir))
	if err != nil {
		return err
	}
	defer above.Close()
	t.root, err = fsx.Below(above, filepath.Base(t.dir))
	return err
}

func (t *dirTarget) Close() error {
	if t.root == nil {
		return nil
	}
	return t.root.Close()
}
