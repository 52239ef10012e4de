package gitobj

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
)

// Contains reports whether everything that have names is part of the history of want. It is not when a branch was
// rewritten or removed, or when the repository does not know a ref of have any more. An answer of false may be wrong
// for refs that do not name a commit. Errors: invalid for refs that contradict each
// other; unsupported as those of [Objects]; unreachable when ctx ends.
func Contains(ctx context.Context, o Options, want, have Refs) (bool, error) {
	const op = "compare histories"
	if err := want.Check(); err != nil {
		return false, amber.Errorf(amber.KindInvalid, op, "", "%w", err)
	}
	tips := want.tips()
	left := slices.DeleteFunc(have.tips(), func(oid string) bool {
		_, found := slices.BinarySearch(tips, oid)
		return found
	})
	if len(left) == 0 {
		return true, nil
	}
	if len(tips) == 0 || slices.ContainsFunc(left, func(oid string) bool { return len(oid) != len(tips[0]) }) {
		return false, nil
	}
	o, _, err := o.withDefaults()
	if err == nil {
		err = checkWhole(o.FS, o.GitDir)
	}
	if err != nil {
		return false, wrap(op, err)
	}
	folder := OpenFolder(o.FS, o.GitDir)
	defer folder.Close()
	err = folder.walk(ctx, func(string, []byte) error { return errOutside }).run(left, tips)
	switch _, outside := errors.AsType[*callbackError](err); {
	case err == nil:
		return true, nil
	case outside, amber.KindOf(err) == amber.KindDamaged: // the repository does not know one of them
		return false, nil
	}
	return false, wrap(op, err)
}

// errOutside says that a history holds something that another one does not.
var errOutside = errors.New("the history has other objects")

// parents returns the parents of a commit, none of anything else.
func parents(raw []byte) (oids []string) {
	_, body, _ := bytes.Cut(raw, []byte{0})
	if !bytes.HasPrefix(raw, []byte("commit ")) {
		return nil
	}
	_, body, _ = bytes.Cut(body, []byte("\n")) // the tree
	for {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		oid, ok := bytes.CutPrefix(line, []byte("parent "))
		if !ok || !isOID(string(oid)) {
			return oids
		}
		oids, body = append(oids, string(oid)), rest
	}
}
