package shelf

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
)

// First returns nil when a file may be the first one of a vault. Errors: those of
// [Shelf.Put] for a name, a text and a size that is not taken.
func (l Limits) First(name, content string) error {
	const op = "put file"
	l, err := l.withDefaults()
	if err != nil {
		return err
	}
	if err := l.mayBeNew(op, name); err != nil {
		return err
	}
	return l.takes(op, name, content, 0)
}

// Damage is a file of a vault that cannot be read, and keeps others from being
// listed.
type Damage struct {
	Path string // of this machine, or of the database
	Name string // in the vault; "" if it cannot be read
	Err  error  // of kind damaged or too_new
}

// Check reads every file whole and returns how many there are, and those that
// are damaged. A file that was removed meanwhile is not damaged.
func (s *Shelf) Check(ctx context.Context) (files int, found []Damage, err error) {
	const op = "check vault"
	err = s.read(ctx, func(v volume) error {
		found = nil
		rels, _, err := v.names(ctx, op, false)
		if err != nil {
			return err
		}
		files = len(rels)
		for _, rel := range rels {
			if err := ended(ctx); err != nil {
				return err
			}
			err := check(v, op, rel)
			switch amber.KindOf(err) {
			case "", amber.KindNotFound:
			case amber.KindDamaged, amber.KindTooNew:
				found = append(found, Damage{Path: v.path(rel), Name: FileName(err), Err: err})
			default:
				return err
			}
		}
		return nil
	})
	return files, found, err
}

// check reads the file at a place.
func check(v volume, op, rel string) error {
	if !belongs(rel) {
		return damaged(op, rel, "this file does not belong in a vault")
	}
	h, err := v.head(op, rel)
	if err != nil {
		return err
	}
	_, _, err = get(v, op, h.Name)
	return err
}

// FileName returns the name of the file that an error is about, where what is
// damaged still tells it; "" where it does not.
func FileName(err error) string {
	if n, ok := errors.AsType[*named](err); ok {
		return n.name
	}
	return ""
}

// named is the reason of an error about a file whose name is known.
type named struct {
	name string
	err  error
}

func (n *named) Error() string { return n.err.Error() }
func (n *named) Unwrap() error { return n.err }

// FileName is for those who do not know this package, and use [errors.As].
func (n *named) FileName() string { return n.name }

// about notes the name of the file that an error is about.
func about(err error, name string) error {
	if e, ok := errors.AsType[*amber.Error](err); ok {
		e.Err = &named{name, e.Err}
	}
	return err
}
