package statedir

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

func notFound(op, name string) error {
	return amber.Errorf(amber.KindNotFound, op, name, "the document does not exist").WithHint("amber state list")
}

// damaged says that a file is not the document that belongs there.
func damaged(op, name, why string) error {
	return amber.Errorf(amber.KindDamaged, op, name, "%s", why).
		WithHint("amber snapshot list, then amber snapshot restore ID --only state; or write the document anew with amber state set")
}

// disk gives an error of the file system its kind; nil stays nil.
func disk(op, name string, err error) error {
	if err == nil {
		return nil
	}
	e := &amber.Error{Op: op, Kind: amber.KindInternal, ID: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Kind, e.Hint = amber.KindRefused, "amber doctor shows who may use the agent's folder"
	case errors.Is(err, fsx.ErrNotRegular), errors.Is(err, fsx.ErrTooLarge), errors.Is(err, syscall.ENOTDIR):
		return damaged(op, name, err.Error())
	case errors.Is(err, fsx.ErrInPlace):
		e.Hint = "check the disk and try again; the document is whole, but a power cut may undo the write"
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "free some disk space and try again; the document that was stored is unchanged"
	}
	return e
}

// reason is why an error is there, without operation and name.
func reason(err error) string {
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}
