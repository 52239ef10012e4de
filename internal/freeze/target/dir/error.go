package dir

import (
	"errors"
	"os"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

// diskError is [diskerr.Own] that knows file systems without hard links.
func diskError(op, name string, err error) error {
	if lacksLinks(err) {
		return &amber.Error{Op: op, Kind: amber.KindUnsupported, ID: name, Err: err, Hint: "choose a folder on a file system with hard links; FAT and exFAT have none"}
	}
	return diskerr.Own(op, name, err)
}

// lacksLinks recognises the answer of a file system without hard links.
func lacksLinks(err error) bool {
	link, ok := errors.AsType[*os.LinkError](err)
	return ok && link.Op == "link" &&
		(errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported))
}
