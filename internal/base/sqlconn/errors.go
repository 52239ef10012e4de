package sqlconn

import (
	"context"
	"errors"

	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
)

// Wrap gives an error of the database its kind. Errors that have one keep it.
// Arguments of statements are never part of it.
func Wrap(op, id string, err error) error {
	var e *amber.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	out := &amber.Error{Op: op, Kind: amber.KindInternal, ID: id, Err: err}
	var s interface { // the driver's errors, and others like it
		error
		Code() int
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		out.Kind = amber.KindUnreachable
	case errors.As(err, &s):
		out.Kind, out.Hint = kindOf(s.Code())
	}
	return out
}

// kindOf maps SQLite's result codes.
func kindOf(code int) (amber.Kind, string) {
	switch code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return amber.KindBusy, "another program holds the database; close it or try again"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return amber.KindDamaged, "amber doctor; Amber does not change the file"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_AUTH:
		return amber.KindRefused, "check who owns the folder, or choose another with --home"
	case lib.SQLITE_FULL:
		return amber.KindInternal, "free some disk space and try again; nothing was changed"
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN: // also where there is no room for the shared-memory file
		return amber.KindInternal, "check that the disk works and has room"
	case lib.SQLITE_TOOBIG:
		return amber.KindInvalid, ""
	case lib.SQLITE_INTERRUPT:
		return amber.KindUnreachable, ""
	}
	return amber.KindInternal, ""
}

// LeftAsItIs is the hint where a file is not what it should be.
const LeftAsItIs = "put the right file back; Amber does not change this one"
