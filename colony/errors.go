package colony

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
)

// tolerantHint is the hint of an error that a tolerant reader would not return.
const tolerantHint = "amber vault restore --tolerant"

// damaged returns an error about a file of a vault or a snapshot.
func damaged(id, format string, args ...any) error {
	return &amber.Error{Op: "read snapshot", Kind: amber.KindDamaged, ID: id, Err: fmt.Errorf(format, args...)}
}

// untrusted returns an error about a signature.
func untrusted(id, why string) error {
	return &amber.Error{Op: "check signature", Kind: amber.KindUntrusted, ID: id, Err: errors.New(why)}
}

// quote returns what somebody else wrote so that it can be shown.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
