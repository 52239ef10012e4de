// Package must is what tests of every package say most often: a call has to
// succeed, or to fail with an error of a kind, and two values have to be equal.
// It is for tests.
package must

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
)

// Do ends the test when err is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call, and ends the test when the call failed:
//
//	text := must.Get(os.ReadFile(path))(t)
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// NoError reports the error, if there is one, and goes on.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Error reports a call that did not fail. [Kind] and [Is] say more, where the error is known.
func Error(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%sgot no error", named(what, ": "))
	}
}

// Kind reports an error that is not of kind want, or whose text and hint lack one of the words. The
// kind of no error is "". The argument what names the call, "" where the test has one only.
func Kind(t testing.TB, what string, err error, want amber.Kind, words ...string) {
	t.Helper()
	if got := amber.KindOf(err); got != want {
		t.Errorf("%sgot kind %q (%v), want %q", named(what, ": "), got, err, want)
		return
	}
	if err != nil {
		Says(t, what, err.Error()+" "+amber.HintOf(err), words...)
	}
}

// Says reports each of the words that a text lacks.
func Says(t testing.TB, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s%.2000q does not say %q", named(what, ": "), text, w)
		}
	}
}

// Hides reports each of the words that a text holds.
func Hides(t testing.TB, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("%s%.2000q says %q", named(what, ": "), text, w)
		}
	}
}

// Is reports an error that is not target, nor wraps it.
func Is(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%sgot %v, want %v", named(what, ": "), err, target)
	}
}

// Err returns the error of a call whose value does not matter.
func Err[T any](_ T, err error) error { return err }

// Fail is Kind for a call that returns a value, too:
//
//	must.Fail(config.Parse("["))(t, "half a list", amber.KindInvalid)
func Fail[T any](_ T, err error) func(t testing.TB, what string, want amber.Kind) {
	return func(t testing.TB, what string, want amber.Kind) {
		t.Helper()
		Kind(t, what, err, want)
	}
}

// Hold reports the message unless ok:
//
//	must.Hold(t, r.OK() && r.Snapshots == 2, "the check says %+v", r)
func Hold(t testing.TB, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

// Equal reports where got differs from want.
func Equal[T any](t testing.TB, what string, got, want T, o ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, o...); diff != "" {
		t.Errorf("%s(-want +got):\n%s", named(what, " "), diff)
	}
}

func named(what, separator string) string {
	if what == "" {
		return ""
	}
	return what + separator
}
