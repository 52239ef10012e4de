package targettest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/targettest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFaithfulTargetPasses(t *testing.T) {
	t.Parallel()
	m := newMem()
	passed := must.Get(targettest.Run(t.Context(), func() (target.Target, error) { return m, nil }))(t)
	must.Equal(t, "checks that passed", len(passed), len(targettest.Checks()))
}

func TestTargetThatDoesNotOpenFails(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	passed, err := targettest.Run(t.Context(), func() (target.Target, error) { return nil, away })
	must.Hold(t, errors.Is(err, away) && len(passed) == 0, "got %q, %v", passed, err)
}

func TestRunEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	passed, err := targettest.Run(ctx, func() (target.Target, error) { return newMem(), nil })
	must.Hold(t, errors.Is(err, context.Canceled) && len(passed) == 0, "got %q, %v", passed, err)
}
