package storetest

import (
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
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

// refused ends the check unless err is of kind want.
func refused(err error, want amber.Kind, what string, args ...any) {
	promise.Refused(err, want, fmt.Sprintf(what, args...))
}

// only returns the error of a call whose value does not matter.
func only[T any](_ T, err error) error { return err }

// equal ends the check unless got and want are equal as JSON, where absent,
// null and empty are the same.
func equal(got, want any, what string, args ...any) {
	if d := diff(tree(got), tree(want)); d != "" {
		fail(fmt.Errorf("%s:\n%s", fmt.Sprintf(what, args...), d))
	}
}

// together runs f n times at once, waits for all of them, and passes on every
// failure.
func together(n int, f func(i int)) { promise.Together(n, f) }

// clipped shortens long input for a message.
func clipped(s string) string {
	return clip.Marked(s, 60)
}
