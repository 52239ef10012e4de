package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// damaged returns err as damage of an object, unless it has a kind already
// that says something else about it.
func damaged(op, name string, err error) error {
	if e, ok := errors.AsType[*amber.Error](err); ok {
		return &amber.Error{Op: op, Kind: e.Kind, ID: name, Err: err, Hint: e.Hint}
	}
	return &amber.Error{Op: op, Kind: amber.KindDamaged, ID: name, Err: err}
}

// fetch reads n bytes of an object into buf, which may be nil. An object that
// is shorter is damaged. Errors: damaged, not_found; those of the target.
func fetch(ctx context.Context, t target.Target, name string, offset, n int64, buf []byte) ([]byte, error) {
	r, err := openRange(ctx, t, name, offset, n)
	if err != nil {
		return nil, err
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	_, err = io.ReadFull(r, buf)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, readError(name, err)
	}
	return buf, nil
}

// openRange opens a range of an object. The caller closes it and passes
// errors of reading through readError.
func openRange(ctx context.Context, t target.Target, name string, offset, n int64) (io.ReadCloser, error) {
	r, err := t.Get(ctx, name, offset, n)
	if amber.KindOf(err) == amber.KindInvalid {
		return nil, damaged("read object", name, fmt.Errorf("the object is shorter than %d bytes", offset+n))
	}
	return r, err
}

// readError makes damage of an object that ends too early.
func readError(name string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("read object", name, errors.New("the object is cut off"))
	}
	return fmt.Errorf("read object %s: %w", name, err)
}

// isProblem reports whether an error is about an object and not about the way
// to it.
func isProblem(err error) bool {
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindNotFound, amber.KindTooNew:
		return true
	}
	return false
}

// readWhole reads an object of at most so many bytes, and one byte more of a
// longer one. Errors: those of the target.
func readWhole(ctx context.Context, t target.Target, name string, most int64) ([]byte, error) {
	r, err := t.Get(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, readError(name, err)
	}
	return b, nil
}
