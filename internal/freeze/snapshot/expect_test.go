package snapshot_test

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/promise"
)

// fail ends the check.
func fail(err error) { promise.Fail(err) }

// get returns v; an error ends the check.
func get[T any](v T, err error) T { return promise.Must(v, err) }

// do is get for calls that return nothing but an error.
func do(err error) { promise.Must0(err) }

// hold ends the check unless ok.
func hold(ok bool, format string, args ...any) { promise.Hold(ok, format, args...) }

// refused ends the check unless err is of kind want.
func refused(err error, want amber.Kind, what string, args ...any) {
	promise.Refused(err, want, fmt.Sprintf(what, args...))
}

// same ends the check unless got is want.
func same[T comparable](got, want T, what string, args ...any) {
	hold(got == want, "%s: got %v, want %v", fmt.Sprintf(what, args...), got, want)
}

// equal ends the check unless both models are the same.
func equal(got, want Model, what string, args ...any) {
	d := cmp.Diff(want, got, cmpopts.EquateEmpty())
	hold(d == "", "%s differs (-want +got):\n%s", fmt.Sprintf(what, args...), d)
}

// together runs f n times at once, waits for all of them, and passes on every
// failure.
func together(n int, f func(i int)) { promise.Together(n, f) }
