package main

import (
	"errors"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestFailureEndsTheAttemptAndCleansUp checks that an error comes out of attempt as it
// is, named, and that what was deferred runs on the way.
func TestFailureEndsTheAttemptAndCleansUp(t *testing.T) {
	t.Parallel()
	cause := errors.New("the disk is full")
	var steps []string
	err := attempt(func() {
		defer func() { steps = append(steps, "removed") }()
		within("store", func() { steps = append(steps, get("written", nil), get("synced", cause)) })
	})
	if !errors.Is(err, cause) || err.Error() != "store: the disk is full" {
		t.Errorf("got %v, want the cause and where it happened", err)
	}
	must.Equal(t, "steps", steps, []string{"removed"})
	must.Do(t, attempt(func() { check(nil) }))
}
