package diskerr_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestACauseHasAKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cause      error
		own, given amber.Kind
		hint       string
	}{
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, amber.KindRefused, amber.KindRefused, "who owns"},
		{syscall.EROFS, amber.KindRefused, amber.KindRefused, "read-only"},
		{fmt.Errorf("%w: fifo", fsx.ErrNotRegular), amber.KindDamaged, amber.KindInvalid, ""},
		{syscall.ENOTDIR, amber.KindDamaged, amber.KindInvalid, ""},
		{fsx.ErrTooLarge, amber.KindDamaged, amber.KindQuota, ""},
		{context.Canceled, amber.KindUnreachable, amber.KindUnreachable, ""},
		{syscall.ESTALE, amber.KindUnreachable, amber.KindUnreachable, ""},
		{errors.Join(fsx.ErrInPlace, syscall.ENOSPC), amber.KindInternal, amber.KindInternal, "power cut"},
		{syscall.ENOSPC, amber.KindInternal, amber.KindInternal, "disk space"},
		{syscall.EDQUOT, amber.KindInternal, amber.KindInternal, "disk space"},
		{fs.ErrNotExist, amber.KindInternal, amber.KindNotFound, ""},
		{syscall.EEXIST, amber.KindInternal, amber.KindConflict, ""},
		{syscall.EIO, amber.KindInternal, amber.KindInternal, ""},
	} {
		check := func(what string, err error, kind amber.Kind) {
			must.Kind(t, what, err, kind)
			must.Is(t, what, err, c.cause)
			hint := amber.HintOf(err)
			must.Hold(t, strings.Contains(hint, c.hint) && (hint == "") == (c.hint == ""), "%s: the hint is %q, want %q in it", what, hint, c.hint)
		}
		check("own: "+c.cause.Error(), diskerr.Own("read", "x", c.cause), c.own)
		check("given: "+c.cause.Error(), diskerr.Given("read", "x", c.cause), c.given)
	}
}

func TestWhatHasAKindKeepsIt(t *testing.T) {
	t.Parallel()
	known := fmt.Errorf("read: %w", amber.Errorf(amber.KindTooNew, "read", "", "of a newer Amber"))
	must.Hold(t, diskerr.Own("open", "x", known) == known, "an error that has a kind was changed")
	must.Hold(t, diskerr.Given("open", "x", known) == known, "an error that has a kind was changed")
	must.NoError(t, diskerr.Own("open", "x", nil))
	must.NoError(t, diskerr.Given("open", "x", nil))
}
