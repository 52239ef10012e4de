package documents

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/colony"
)

// FolderTarget restores documents as files below a folder and nowhere else. It
// follows no link, also none that appears while it works, and replaces only
// regular files that have not changed since the plan was made.
type FolderTarget struct {
	dir  string
	root *os.Root                // nil while the folder does not exist
	home fs.FileInfo             // of Amber, where nothing is written; nil when there is none
	in   func(r *os.Root) fsx.FS // fsx.In

	rules *redact.Redactor // by which secrets were taken out
}

var _ Target = (*FolderTarget)(nil)

// OpenFolder returns a folder as a target. The folder need not exist; Write makes
// it. Nothing is written below home, where Amber keeps its own files. The rules
// are those by which secrets were taken out; nil: the built-in ones. Errors:
// invalid when dir is a file; refused.
func OpenFolder(dir, home string, rules *redact.Redactor) (*FolderTarget, error) {
	const op = "restore documents"
	t := &FolderTarget{dir: dir, in: fsx.In, rules: rules}
	if rules == nil {
		t.rules = redact.New()
	}
	t.home, _ = os.Stat(home)               // without a home there is nothing to protect
	real, err := filepath.EvalSymlinks(dir) // the folder itself may be a link
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		t.dir = real
		t.root, err = os.OpenRoot(real)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		err = errNotFolder
	}
	return t, folderError(op, dir, err)
}

// errOwnHome keeps documents out of the home of Amber, which holds keys.
var errOwnHome = errors.New("lies in the home of Amber")

// down opens the folder of a document and returns the name of the file in it. With
// make it makes the folders on the way. Errors: fs.ErrNotExist; ENOTDIR for a link
// or a file on the way.
func (t *FolderTarget) down(name string, make bool) (*os.Root, string, error) {
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

// Look implements [Target].
func (t *FolderTarget) Look(_ context.Context, name, text string) (Found, error) {
	if t.root == nil {
		return Found{}, nil
	}
	folder, base, err := t.down(name, false)
	if err == nil {
		defer folder.Close()
		var f Found
		if f.Digest, err = digestFile(t.in(folder), base); err == nil {
			f.Exists, f.Same = true, f.Digest == amber.ContentDigest(text)
			if !f.Same && isMarked(text) {
				b, err := fsx.ReadFile(t.in(folder), base, colony.DefaultMaxBytes)
				f.Same = err == nil && saysSame(t.rules, name, string(b), text)
			}
			return f, nil
		}
	}
	why := "cannot be read: "
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Found{}, nil
	case errors.Is(err, syscall.ENOTDIR):
		err, why = errors.New("lies below a link or a file"), ""
	case errors.Is(err, fsx.ErrNotRegular):
		err, why = errors.New("is a link or a folder in the target"), ""
	case errors.Is(err, errOwnHome):
		why = ""
	}
	return Found{}, amber.Errorf(amber.KindRefused, "restore documents", name, "%s", why+err.Error())
}

// Write implements [Target].
func (t *FolderTarget) Write(_ context.Context, name, text string, before Found) error {
	err := t.make()
	var folder *os.Root
	var base string
	if err == nil {
		folder, base, err = t.down(name, true)
	}
	if err == nil {
		err = write(t.in(folder), base, text, before)
		folder.Close() // it was only read through
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

// make makes the folder if it does not exist.
func (t *FolderTarget) make() (err error) {
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

// Close implements [Target].
func (t *FolderTarget) Close() error {
	if t.root == nil {
		return nil
	}
	return t.root.Close()
}
