package statedir

import (
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

func notFound(op, name string) error {
	return amber.Errorf(amber.KindNotFound, op, name, "the document does not exist").WithHint("amber state list")
}

// damaged says that a file is not the document that belongs there.
func damaged(op, name, why string) error {
	return amber.Errorf(amber.KindDamaged, op, name, "%s", why).
		WithHint("amber snapshot list, then amber snapshot restore ID --only state; or write the document anew with amber state set")
}

// disk gives an error of the file system its kind, and what is damaged the next step.
func disk(op, name string, err error) error {
	kinded := diskerr.Own(op, name, err)
	if amber.KindOf(kinded) == amber.KindDamaged && amber.HintOf(kinded) == "" {
		return damaged(op, name, err.Error())
	}
	return kinded
}

// reason is why an error is there, without operation and name.
func reason(err error) string {
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}
