package targettest

import (
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/promise"
)

// caught runs f and returns the failure that ended it, or nil.
func caught(f func()) error { return promise.Caught(f) }

// fail ends the check.
func fail(err error) { promise.Fail(err) }

// must returns v; an error ends the check.
func must[T any](v T, err error) T { return promise.Must(v, err) }

// must0 is must for calls that return nothing but an error.
func must0(err error) { promise.Must0(err) }

// hold ends the check unless ok.
func hold(ok bool, format string, args ...any) { promise.Hold(ok, format, args...) }

// equal ends the check unless the names are the same.
func equal(got, want []string, what string) {
	hold(slices.Equal(got, want), "%s: got %q, want %q", what, got, want)
}

// refused ends the check unless err is of kind want.
func refused(err error, want amber.Kind, what string, args ...any) {
	promise.Refused(err, want, fmt.Sprintf(what, args...))
}

// together runs f n times at once, waits for all of them, and passes on every
// failure.
func together(n int, f func(i int)) { promise.Together(n, f) }
