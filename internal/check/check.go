// Package check has what tests ask most often: that nothing failed, that a call
// failed as it should, and that two values are equal. It is for tests.
package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
)

// OK ends the test with the error, if there is one.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal reports how got differs from want. What names the compared thing in the
// report; "" where the test compares one thing only.
func Equal(t testing.TB, what string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s(-want +got):\n%s", named(what, " "), diff)
	}
}

// NoError reports the error, if there is one, and goes on.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Kind reports an error that is not of a kind, or whose text and hint lack one of
// the words. What names the call that returned the error, "" where the test has
// one only.
func Kind(t testing.TB, what string, err error, want amber.Kind, words ...string) {
	t.Helper()
	if got := amber.KindOf(err); got != want {
		t.Errorf("%sgot error %v of kind %q, want %q", named(what, ": "), err, got, want)
		return
	}
	for _, w := range words {
		if text := err.Error() + " " + amber.HintOf(err); !strings.Contains(text, w) {
			t.Errorf("%sthe error %q does not say %q", named(what, ": "), text, w)
		}
	}
}

// Must returns what takes the test and gives the value of a call, or ends the test
// with its error: check.Must(os.ReadFile(path))(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// Err returns the error of a call whose value does not matter.
func Err[T any](_ T, err error) error { return err }

func named(what, separator string) string {
	if what == "" {
		return ""
	}
	return what + separator
}
