package target

import (
	"context"

	"github.com/amber-memory/amber"
)

// Alive returns an error of kind unreachable once the context is over.
func Alive(ctx context.Context, op, name string) error {
	if ctx.Err() == nil {
		return nil
	}
	return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: name, Err: context.Cause(ctx)}
}

// Admit is what a call about one object begins with: the context is not over,
// and the name is that of an object. Errors: unreachable, invalid.
func Admit(ctx context.Context, op, name string) error {
	if err := Alive(ctx, op, name); err != nil {
		return err
	}
	return CheckObjectName(name)
}

// Within returns the length of a range that lies in an object of size bytes; a
// negative length means to the end. Errors: invalid.
func Within(op, name string, size, offset, length int64) (int64, error) {
	switch {
	case offset < 0 || offset > size || length > size-offset:
		return 0, amber.Errorf(amber.KindInvalid, op, name, "offset %d and length %d are outside the object, which has %d bytes", offset, length, size)
	case length < 0:
		return size - offset, nil
	}
	return length, nil
}
