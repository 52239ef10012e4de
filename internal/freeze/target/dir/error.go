package dir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// diskError gives a file system error its kind: what permissions forbid is
// refused, something else in the place of a file or a folder is damaged, a
// server behind the folder that does not answer is unreachable, everything else
// is internal.
func diskError(op, name string, err error) error {
	if _, ok := errors.AsType[*amber.Error](err); ok {
		return err
	}
	e := &amber.Error{Op: op, Kind: amber.KindInternal, ID: name, Err: err}
	switch {
	case lacksLinks(err):
		e.Kind, e.Hint = amber.KindUnsupported, "choose a folder on a file system with hard links; FAT and exFAT have none"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Kind, e.Hint = amber.KindRefused, "check who owns the folder and whether its disk is read-only"
	case errors.Is(err, fsx.ErrNotRegular), errors.Is(err, fsx.ErrTooLarge), errors.Is(err, syscall.ENOTDIR):
		e.Kind = amber.KindDamaged
	case isAway(err):
		e.Kind = amber.KindUnreachable
	case errors.Is(err, fsx.ErrInPlace):
		e.Hint = "check the disk and try again; what was written is whole, but a power cut may undo it"
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "free some space on the disk of the target and try again; nothing was changed"
	}
	return e
}

// lacksLinks recognises the answer of a file system without hard links.
func lacksLinks(err error) bool {
	link, ok := errors.AsType[*os.LinkError](err)
	return ok && link.Op == "link" &&
		(errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported))
}

// isAway recognises a network file system whose server does not answer, and a
// context that ended during a wait.
func isAway(err error) bool {
	return slices.ContainsFunc([]error{
		context.Canceled, context.DeadlineExceeded,
		syscall.ESTALE, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.ENOTCONN,
	}, func(away error) bool { return errors.Is(err, away) })
}
