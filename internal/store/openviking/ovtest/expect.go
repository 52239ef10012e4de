package ovtest

import (
	"encoding/json"
	"slices"

	"github.com/amber-memory/amber/internal/test/promise"
)

// caught runs f and returns the failure that ended it, or nil.
func caught(f func()) error { return promise.Caught(f) }

// stop ends the check with an error.
func stop(err error) { panic(promise.Failure(err)) }

// must returns v; an error ends the check.
func must[T any](v T, err error) T { return promise.Must(v, err) }

// must0 is must for calls that return nothing but an error.
func must0(err error) { promise.Must0(err) }

// hold ends the check unless ok.
func hold(ok bool, format string, args ...any) { promise.Hold(ok, format, args...) }

// same ends the check unless the values are equal.
func same[T comparable](got, want T, what string) {
	hold(got == want, "%s: got %v, want %v", what, got, want)
}

// equal ends the check unless the lists are equal.
func equal(got, want []string, what string) {
	hold(slices.Equal(got, want), "%s: got %q, want %q", what, got, want)
}

// ok ends the check unless the request succeeded.
func (a answer) ok() answer {
	hold(a.Status == 200, "%s: got %d %s, want 200", a.request, a.Status, short(a.raw))
	return a
}

// refused ends the check unless the request failed with this status and code.
func (a answer) refused(status int, code string) answer {
	hold(a.Status == status && a.Error.Code == code, "%s: got %d %s, want %d %s", a.request, a.Status, short(a.raw), status, code)
	return a
}

// into reads the result.
func (a answer) into(v any) {
	a.ok()
	if err := json.Unmarshal(a.Result, v); err != nil {
		hold(false, "%s: result %s: %v", a.request, short(a.Result), err)
	}
}

// short cuts a body for a message.
func short(b []byte) string {
	if len(b) <= 400 {
		return string(b)
	}
	return string(b[:400]) + "…"
}
