// Package check has what tests ask most often: that nothing failed, and that two
// values are equal. It is for tests.
package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// NoError reports the error, if there is one, and goes on.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
