package snapshottest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
)

func TestFaithfulSnapshotterKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	snapshottest.Run(t, faithful)
}

func TestChecksHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range snapshottest.Checks() {
		if seen[c.Name] || !strings.Contains(c.Name, "/") {
			t.Errorf("name %q", c.Name)
		}
		seen[c.Name] = true
	}
}

// Nothing is said against a snapshotter that cannot check repositories.
func TestWithoutACheckerItsPromisesAreNotAsked(t *testing.T) {
	t.Parallel()
	for _, c := range snapshottest.Checks() {
		w := worldOf(t, func(_ *inmem.Snapshotter, _ *snapshottest.Clock, h *snapshottest.Handle) { h.Checker = nil })
		err := c.Run(t.Context(), w)
		if asked := !strings.HasPrefix(c.Name, "check/"); asked && err != nil || !asked && !errors.Is(err, snapshottest.ErrNotRun) {
			t.Errorf("%s: got %v", c.Name, err)
		}
	}
}

func TestWorldThatDoesNotOpenFails(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	w := snapshottest.World{Clock: snapshottest.NewClock(), Open: func(context.Context) (snapshottest.Handle, error) {
		return snapshottest.Handle{}, away
	}}
	for _, c := range snapshottest.Checks() {
		if err := c.Run(t.Context(), w); !errors.Is(err, away) {
			t.Errorf("%s: got %v, want its error", c.Name, err)
		}
		if err := c.Run(t.Context(), snapshottest.World{}); err == nil {
			t.Errorf("%s passes a world without anything", c.Name)
		}
	}
}

func TestFaithfulSnapshotterLivesThroughHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		if err := snapshottest.History(t.Context(), faithful(t), seed, snapshottest.HistoryOptions{Snapshots: 50}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHistoryNamesSeedAndOperation(t *testing.T) {
	t.Parallel()
	run := func() error {
		return snapshottest.History(t.Context(), mutants()[0].world(t), 7, snapshottest.HistoryOptions{})
	}
	err := run()
	if err == nil {
		t.Fatal("history 7 does not notice the mutant")
	}
	for _, part := range []string{"seed 7", "operation ", "is there and should not be", "the last operations", "snapshot 0"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	if again := run(); again == nil || again.Error() != err.Error() {
		t.Errorf("the same seed gives another error: %v", again)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	c := snapshottest.NewClock()
	was := c.Now()
	c.Advance(time.Hour)
	if got, want := c.Now(), was.Add(time.Hour); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
