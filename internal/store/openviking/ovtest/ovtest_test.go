package ovtest_test

import (
	"errors"
	"testing"

	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// fake starts a fake server.
func fake(t *testing.T) (*ovfake.Server, ovtest.Target) {
	s := ovfake.New(ovfake.Options{})
	t.Cleanup(s.Close)
	return s, ovtest.Target{URL: s.Start(), RootKey: s.RootKey(), EmbedderDown: s.EmbedderDown, EmbedderHold: s.Hold}
}

func TestFakeKeepsThePromises(t *testing.T) {
	t.Parallel()
	_, target := fake(t)
	ask(t, target)
}

// ask runs every check as a subtest.
func ask(t *testing.T, target ovtest.Target) {
	for _, c := range ovtest.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			must.NoError(t, c.Run(t.Context(), target))
		})
	}
}

func TestChecksThatNeedTheEmbedderAreNotRunWithoutIt(t *testing.T) {
	t.Parallel()
	_, target := fake(t)
	target.EmbedderDown, target.EmbedderHold = nil, nil
	report, err := ovtest.Run(t.Context(), target)
	must.Do(t, err)
	must.Equal(t, "not run", len(report.NotRun), 6)
	must.Hold(t, len(report.Passed) > 60, "%d checks passed", len(report.Passed))
	target.URL = "http://127.0.0.1:1"
	err = ovtest.Checks()[0].Run(t.Context(), target)
	must.Hold(t, err != nil && !errors.Is(err, ovtest.ErrNotRun), "a server that is not there: %v", err)
}
