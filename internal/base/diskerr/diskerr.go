// Package diskerr gives what a file system said its kind and, where one helps, the next step, from one table.
//
// The same cause means two things. In the place of a file that Amber keeps, a folder or a file that is too large is
// damage, and a missing file is a defect or the disk: that is [Own]. In the place of a file that a person named, they
// are answers to the request: that is [Given].
package diskerr

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// cause is what a file system says, and what it means.
type cause struct {
	is         []error
	own, given amber.Kind
	hint       string
}

// causes is in order of precedence: a write that may be undone can have another cause below it.
func causes() []cause {
	return []cause{
		{is: []error{fs.ErrPermission, syscall.EROFS}, own: amber.KindRefused, given: amber.KindRefused, hint: "check who owns it and whether its disk is read-only"},
		{is: []error{fsx.ErrNotRegular, syscall.ENOTDIR, syscall.EISDIR}, own: amber.KindDamaged, given: amber.KindInvalid},
		{is: []error{fsx.ErrTooLarge}, own: amber.KindDamaged, given: amber.KindQuota},
		{
			is:  []error{context.Canceled, context.DeadlineExceeded, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.ENOTCONN},
			own: amber.KindUnreachable, given: amber.KindUnreachable,
		},
		{
			is: []error{fsx.ErrInPlace}, own: amber.KindInternal, given: amber.KindInternal,
			hint: "check the disk and try again; what was written is whole, but a power cut may undo it",
		},
		{
			is: []error{syscall.ENOSPC, syscall.EDQUOT}, own: amber.KindInternal, given: amber.KindInternal,
			hint: "free some disk space and try again; nothing was changed",
		},
		{is: []error{fs.ErrNotExist}, own: amber.KindInternal, given: amber.KindNotFound},
		{is: []error{fs.ErrExist}, own: amber.KindInternal, given: amber.KindConflict},
	}
}

// Own is an error about a file or a folder that Amber keeps. An error that has a kind stays as it is.
func Own(op, id string, err error) error {
	return explain(op, id, err, func(c cause) amber.Kind { return c.own })
}

// Given is an error about a file or a folder that a person named, or that another program keeps. An error that has a
// kind stays as it is.
func Given(op, id string, err error) error {
	return explain(op, id, err, func(c cause) amber.Kind { return c.given })
}

func explain(op, id string, err error, kind func(cause) amber.Kind) error {
	if _, known := errors.AsType[*amber.Error](err); err == nil || known {
		return err
	}
	e := &amber.Error{Op: op, Kind: amber.KindInternal, ID: id, Err: err}
	for _, c := range causes() {
		if slices.ContainsFunc(c.is, func(is error) bool { return errors.Is(err, is) }) {
			e.Kind, e.Hint = kind(c), c.hint
			break
		}
	}
	return e
}
