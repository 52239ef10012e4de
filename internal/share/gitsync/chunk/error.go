package chunk

import (
	"fmt"

	"github.com/amber-memory/amber"
)

// because is an error with a kind, without a step and a subject: at returns it
// with both.
func because(kind amber.Kind, format string, args ...any) error {
	return &amber.Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

func damaged(format string, args ...any) error { return because(amber.KindDamaged, format, args...) }

func invalid(format string, args ...any) error { return because(amber.KindInvalid, format, args...) }

func untrusted(why string) error { return because(amber.KindUntrusted, "%s", why) }

func overQuota(what string, n, most int) error {
	return because(amber.KindQuota, "%s is %d, the limit is %d", what, n, most)
}

func tooNew(format string, args ...any) error {
	return &amber.Error{Kind: amber.KindTooNew, Err: fmt.Errorf(format, args...), Hint: "update amber"}
}

// at names the step and the subject of an error.
func at(op string, id ID, err error) error {
	if err == nil {
		return nil
	}
	return &amber.Error{Op: op, Kind: amber.KindOf(err), ID: string(id), Err: err, Hint: amber.HintOf(err)}
}
