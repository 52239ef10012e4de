package shelf

import (
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

// Causes that a door reports differently although their kinds are the same.
var (
	// ErrName is returned, as invalid, for a name that no file can have.
	ErrName = errors.New("the name is not valid")
	// ErrExtension is returned, as invalid, for a name whose ending is not allowed.
	ErrExtension = errors.New("files with this extension are not accepted")
	// ErrExists is returned, as conflict, when the destination of a move or a copy is there.
	ErrExists = errors.New("the file exists already")
	// ErrChanged is returned, as conflict, when the condition of a write does not hold.
	ErrChanged = errors.New("the file has changed since it was read")
	// ErrTooMany is returned, as quota, when there are as many files as there may be. Every
	// other error of kind quota is about bytes.
	ErrTooMany = errors.New("the vault has its maximum number of files")
)

// bad is an error about a file of the vault.
func bad(k amber.Kind, op, name string, err error) error {
	return &amber.Error{Op: op, Kind: k, ID: name, Err: err}
}

func notFound(op, name string) error {
	return amber.Errorf(amber.KindNotFound, op, name, "the file does not exist")
}

// damaged says that what lies at a place below the generation is not what
// belongs there. The operator of the server can move it away.
func damaged(op, rel, why string) error {
	return amber.Errorf(amber.KindDamaged, op, rel, "%s", why).WithHint("restore a snapshot, or move the file out of the agent's folder")
}

// disk gives an error of the file system its kind, and what is damaged the next step.
func disk(op, rel string, err error) error {
	kinded := diskerr.Own(op, rel, err)
	if amber.KindOf(kinded) == amber.KindDamaged && amber.HintOf(kinded) == "" {
		return damaged(op, rel, err.Error())
	}
	return kinded
}
