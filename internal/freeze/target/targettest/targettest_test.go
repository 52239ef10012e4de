package targettest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/targettest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFaithfulTargetPasses(t *testing.T) {
	t.Parallel()
	m := newMem()
	report := must.Get(targettest.Run(t.Context(), func() (target.Target, error) { return m, nil }))(t)
	if len(report.Passed) != len(targettest.Checks()) || len(report.NotRun) != 0 {
		t.Errorf("%d of %d checks passed, %q were not run", len(report.Passed), len(targettest.Checks()), report.NotRun)
	}
}

func TestTargetWithoutPointersIsNotAsked(t *testing.T) {
	t.Parallel()
	m := struct{ target.Target }{newMem()}
	report := must.Get(targettest.Run(t.Context(), func() (target.Target, error) { return m, nil }))(t)
	if len(report.NotRun) == 0 || len(report.Passed)+len(report.NotRun) != len(targettest.Checks()) {
		t.Errorf("%d checks passed, %q were not run", len(report.Passed), report.NotRun)
	}
	for _, name := range report.NotRun {
		must.Hold(t, strings.HasPrefix(name, "pointer/"), "check %s was not run", name)
	}
}

func TestTargetThatDoesNotOpenFails(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	report, err := targettest.Run(t.Context(), func() (target.Target, error) { return nil, away })
	must.Hold(t, errors.Is(err, away) && len(report.Passed)+len(report.NotRun) == 0, "got %+v, %v", report, err)
}

func TestRunEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := targettest.Run(ctx, func() (target.Target, error) { return newMem(), nil })
	must.Hold(t, errors.Is(err, context.Canceled) && len(report.Passed) == 0, "got %+v, %v", report, err)
}
