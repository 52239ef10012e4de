package colony

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// otherHint is the hint of an error about a snapshot that is not what it says: an
// earlier one may be. That a tolerant reader would take it is for the help to say,
// and for a person to decide.
const otherHint = "amber vault list shows earlier snapshots; amber vault restore --snapshot ID restores one"

// damaged returns an error about a file of a vault or a snapshot.
func damaged(id, format string, args ...any) error {
	return &amber.Error{Op: "read snapshot", Kind: amber.KindDamaged, ID: id, Err: fmt.Errorf(format, args...)}
}

// untrusted returns an error about a signature.
func untrusted(id, why string) error {
	return &amber.Error{Op: "check signature", Kind: amber.KindUntrusted, ID: id, Err: errors.New(why)}
}

// quote returns a text that another client wrote, in a form that is safe to show.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.QuoteToASCII(clip.Bytes(s, most)) + "…"
	}
	return strconv.QuoteToASCII(s)
}
