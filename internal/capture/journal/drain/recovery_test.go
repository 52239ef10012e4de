package drain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/must"
)

// Each test of this file protects against a mistake of the buffer that this
// package replaces.

// TestNothingIsFoldedIntoCounts: what was said, run, planned and
// decided comes out as it went in.
func TestNothingIsFoldedIntoCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, busy()[:13]...) // the process died before the end
	w.once(drain.Options{})
	w.wantSaid("user: fix the build\nplease", "assistant: The build works.")
	for kind, want := range map[amber.ActivityKind]string{
		amber.ActivityCommand: "go test ./...", amber.ActivityTask: "ship it", amber.ActivityFile: "main.go",
		amber.ActivityError: "rate limited", amber.ActivitySubagent: "reviewer a1", amber.ActivityOther: "MoonPhase",
	} {
		list := must.Get(w.store.ListActivity(context.Background(), one.ID, kind))(t)
		var names []string
		for _, a := range list {
			names = append(names, a.Name)
		}
		if !strings.Contains(strings.Join(names, "|"), want) {
			t.Errorf("%s: %q, want %q among them", kind, names, want)
		}
	}
}

// TestRecoveryStoresAndClears: recovery also says what it did.
func TestRecoveryStoresAndClears(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), answer(2, "two"))
	report := w.once(drain.Options{ClearEvery: 1})
	if report.Applied != 2 || report.Cleared == 0 {
		t.Errorf("%+v", report)
	}
	frames := 0
	if _, err := w.journal.Read(context.Background(), one.Key(), 2, func(journal.Frame) error { frames++; return nil }); err != nil || frames > 0 {
		t.Errorf("%d entries are still there, %v", frames, err)
	}
	w.wantSaid("user: one", "assistant: two")
}

// TestAnEndIsStoredNotCounted: an end that is told and one that is
// noticed both end the session and leave a digest.
func TestAnEndIsStoredNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), event(2, journal.HostSessionEnd))
	w.once(drain.Options{})
	if s := w.session(); s.EndedAt.IsZero() || s.EndReason != amber.EndEnded || s.Summary == "" {
		t.Errorf("%+v", s)
	}
	must.Equal(t, "digests", len(w.memories(amber.SessionSummary)), 1)
}

// TestAFailedRoundIsNotTheLast: the loop goes on after an error.
func TestAFailedRoundIsNotTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	ctx, cancel := context.WithCancel(context.Background())
	failures := 3
	flaky := &stubborn{Store: w.store, fail: func(amber.Ingestion) error {
		if failures--; failures >= 0 {
			return amber.Errorf(amber.KindBusy, "ingest", "", "not now")
		}
		return nil
	}}
	var failed, applied int
	d := w.worker(drain.Options{Store: flaky})
	err := d.Run(ctx, func(r drain.Report, err error) {
		if r.Err() != nil || err != nil {
			failed++
		}
		if applied += int(r.Applied); applied > 0 {
			cancel()
		}
	})
	if err != nil || failed == 0 || applied != 1 {
		t.Errorf("%v, %d rounds failed, %d applied", err, failed, applied)
	}
	w.wantSaid("user: one")
}
