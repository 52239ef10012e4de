package gitobj

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
)

// Contains reports whether everything that have names is part of the history of want. It is not when a branch was
// rewritten or removed, or when the repository does not know a ref of have any more. An answer of false may be wrong
// for refs that do not name a commit. Usually no program is started. Errors: invalid for refs that contradict each
// other; unsupported as those of [Objects]; unreachable when ctx ends or git hangs.
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
	o, git, err := o.withDefaults()
	if err != nil {
		return false, wrap(op, "", err)
	}
	loose := looseReader{fsys: o.FS, dir: filepath.Join(o.GitDir, "objects")}
	if left = loose.behind(tips, left); len(left) == 0 {
		return true, nil
	}
	v, err := newView(o, git, len(tips[0]))
	if err != nil {
		return false, wrap(op, "", err)
	}
	defer v.close()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	w := &objectWalk{view: v}
	list := v.command("rev-list", "--objects", "--no-object-names", "--stdin")
	err = w.pipe(ctx, list, revisions(left, tips), func(r *bufio.Reader) error {
		return lines(r, func(string) error { return errOutside })
	})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, errOutside), amber.KindOf(err) == amber.KindDamaged: // git does not know one of them
		return false, nil
	}
	return false, wrap(op, "", err)
}

// errOutside says that a history holds something that another one does not.
var errOutside = errors.New("the history has other objects")

// maxBehind is how many commits Amber itself looks at before it asks git.
const maxBehind = 256

// behind returns those of find that are not met on the way back from tips, as far as commits lie in files of their own.
func (l *looseReader) behind(tips, find []string) []string {
	seen := map[string]bool{}
	queue := slices.Clone(tips)
	for n := 0; n < len(queue) && n < maxBehind && len(find) > 0; n++ {
		raw, ok := l.read(queue[n])
		if !ok {
			continue
		}
		for _, oid := range parents(raw) {
			if seen[oid] {
				continue
			}
			seen[oid] = true
			queue = append(queue, oid)
			find = slices.DeleteFunc(find, func(f string) bool { return f == oid })
		}
	}
	return find
}

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
