package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

// plan returns a schedule that can be changed while it is used.
func plan(s snapshot.Taker, clock *storetest.Clock, p snapshot.Roster, when string) *snapshot.Schedule {
	return &snapshot.Schedule{Taker: s, Roster: p, Clock: clock.Now, When: func() string { return when }}
}

// tick takes one step and returns whose snapshots were taken.
func tick(t *testing.T, s *snapshot.Schedule) []amber.AgentID {
	t.Helper()
	report, err := s.Tick(t.Context())
	if err != nil || len(report.Errors) > 0 {
		t.Fatalf("%v, %v", report.Errors, err)
	}
	var out []amber.AgentID
	for _, m := range report.Taken {
		must.Equal(t, "the label", m.Label, "auto:scheduled")
		out = append(out, m.Agent)
	}
	return out
}

// takenWithin lets time go by, a minute at a time, and returns when snapshots were
// taken.
func takenWithin(t *testing.T, s *snapshot.Schedule, clock *storetest.Clock, d time.Duration) []string {
	t.Helper()
	var out []string
	for range d / time.Minute {
		clock.Advance(time.Minute)
		for range tick(t, s) {
			out = append(out, clock.Now().Format("02 15:04"))
		}
	}
	return out
}

func TestScheduledSnapshotsAreTakenInTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		when string
		want []string // after the one at the start, at 02 03:04
	}{
		{"15m", []string{"02 03:19", "02 03:34", "02 03:49", "02 04:04"}},
		{"6h", []string{"02 09:04", "02 15:04", "02 21:04", "03 03:04"}},
		{"0 3 * * *", []string{"03 03:00", "04 03:00", "05 03:00"}},
		{"30 */8 * * *", []string{"02 08:30", "02 16:30", "03 00:30"}},
	} {
		clock, everybody := newWorkClock(), people{"acme": {"ada"}}
		s := plan(newAlbum(clock, everybody), clock, everybody, tt.when)
		must.Equal(t, fmt.Sprintf("%q: taken of an agent without a snapshot", tt.when), len(tick(t, s)), 1)
		must.Equal(t, fmt.Sprintf("%q: taken at once again", tt.when), len(tick(t, s)), 0)
		got := takenWithin(t, s, clock, 4*24*time.Hour)
		mustEqual(t, tt.when, got[:len(tt.want)], tt.want)
	}
}

// A process that was not running takes one snapshot for all the times it missed. A snapshot that
// another process took counts.
func TestMissedTimesAreMadeUpOnce(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada", "bob"}}
	s := newAlbum(clock, everybody)
	take(t, s, "acme", "ada")
	take(t, s, "acme", "bob")
	clock.Advance(72 * time.Hour)
	take(t, s, "acme", "bob")
	for _, when := range []string{"6h", "0 3 * * *"} {
		want := []amber.AgentID{"ada"}
		if when != "6h" {
			want = nil // ada has a new one by now
		}
		mustEqual(t, when, tick(t, plan(s, clock, everybody, when)), want)
		mustEqual(t, when+" again", tick(t, plan(s, clock, everybody, when)), []amber.AgentID(nil))
	}
}

func TestAScheduleThatIsOffTakesNothing(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada"}}
	s := plan(newAlbum(clock, everybody), clock, lost{everybody}, "off")
	mustEqual(t, "taken", takenWithin(t, s, clock, time.Hour), []string(nil))
}

func TestAnotherScheduleCountsAtOnce(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada"}}
	s := plan(newAlbum(clock, everybody), clock, everybody, "off")
	when := "24h"
	s.When = func() string { return when }
	tick(t, s)
	clock.Advance(time.Hour)
	mustEqual(t, "daily", tick(t, s), []amber.AgentID(nil))
	when = "30m"
	mustEqual(t, "every half an hour", tick(t, s), []amber.AgentID{"ada"})

	// A schedule that cannot be read is reported once, and the last schedule stays.
	when = "sometimes"
	must.Equal(t, "errors", len(must.Get(s.Tick(t.Context()))(t).Errors), 1)
	clock.Advance(30 * time.Minute)
	mustEqual(t, "after a mistake", tick(t, s), []amber.AgentID{"ada"})
}

// stubborn fails for one agent.
type stubborn struct {
	snapshot.Taker
	agent amber.AgentID
	err   error
	tries int
}

func (s *stubborn) Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	if r.Agent == s.agent && s.err != nil {
		s.tries++
		return wire.SnapshotMeta{}, s.err
	}
	return s.Taker.Snapshot(ctx, r)
}

func TestAFailedSnapshotIsTriedAgainLaterAndStopsNoOther(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada", "bob"}, "broken": {"x"}}
	bad := &stubborn{Taker: newAlbum(clock, people{"acme": {"ada", "bob"}}), agent: "ada", err: errors.New("the disk is full")}
	s := plan(bad, clock, everybody, "6h")
	report, err := s.Tick(t.Context())
	if err != nil || len(report.Taken) != 1 || report.Taken[0].Agent != "bob" {
		t.Fatalf("%+v, %v", report, err)
	}
	mustEqual(t, "errors", report.Errors, []string{"broken: the folder cannot be read", "acme/ada: the disk is full"})
	for range 14 {
		clock.Advance(time.Minute)
		must.Get(s.Tick(t.Context()))(t)
	}
	must.Equal(t, "tries within a quarter of an hour", bad.tries, 1)
	bad.err = nil
	clock.Advance(time.Minute)
	if report, err = s.Tick(t.Context()); err != nil || len(report.Taken) != 1 || report.Taken[0].Agent != "ada" {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestAFolderThatIsNoAgentIsNoError(t *testing.T) {
	t.Parallel()
	clock := newWorkClock()
	s := plan(newAlbum(clock, nil), clock, people{"acme": {"ghost"}}, "1h")
	mustEqual(t, "taken", tick(t, s), []amber.AgentID(nil))
}

func TestAnAgentThatDidNotChangeIsLeftOut(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada", "bob"}}
	s := plan(newAlbum(clock, everybody), clock, everybody, "1h")
	marks := map[amber.AgentID]string{"ada": "1", "bob": ""}
	var markErr error
	s.Mark = func(_ context.Context, _ amber.TenantID, a amber.AgentID) (string, error) { return marks[a], markErr }
	both := []amber.AgentID{"ada", "bob"}
	mustEqual(t, "first", tick(t, s), both)
	clock.Advance(time.Hour)
	if report := must.Get(s.Tick(t.Context()))(t); len(report.Taken) != 1 || report.Taken[0].Agent != "bob" || report.Unchanged != 1 {
		t.Errorf("unchanged: %+v", report)
	}
	clock.Advance(time.Hour)
	marks["ada"] = "2"
	mustEqual(t, "changed", tick(t, s), both)
	clock.Advance(time.Hour)
	markErr = errors.New("nobody knows")
	mustEqual(t, "not known", tick(t, s), both)
}

// dated is a snapshotter whose newest snapshots are not to be counted on.
type dated struct {
	snapshot.Taker
	first []wire.SnapshotMeta
}

func (d dated) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	page, err := d.Taker.ListSnapshots(ctx, q)
	page.Items = append(append([]wire.SnapshotMeta{}, d.first...), page.Items...)
	return page, err
}

func TestDamagedSnapshotsAndThoseOfTheFutureDoNotCount(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada"}}
	now := amber.At(clock.Now())
	s := plan(dated{newAlbum(clock, everybody), []wire.SnapshotMeta{
		{ID: "future", CreatedAt: now.Add(1000 * time.Hour)}, {ID: "damaged", CreatedAt: now, Damage: "it is torn"},
	}}, clock, everybody, "1h")
	mustEqual(t, "taken", tick(t, s), []amber.AgentID{"ada"})
	mustEqual(t, "then", takenWithin(t, s, clock, 2*time.Hour), []string{"02 04:04", "02 05:04"})
}

func TestAScheduleRunsUntilItIsStopped(t *testing.T) {
	t.Parallel()
	clock, everybody, pace := newWorkClock(), people{"acme": {"ada"}}, newPacer()
	s := plan(newAlbum(clock, everybody), clock, everybody, "1m")
	reports := make(chan snapshot.ScheduleReport, 9)
	s.After, s.Report = pace.after, func(r snapshot.ScheduleReport) { reports <- r }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	for range 3 {
		must.Equal(t, "wait", <-pace.waits, time.Minute)
		clock.Advance(time.Minute)
		pace.wake <- time.Time{}
	}
	<-pace.waits
	cancel()
	if err := <-done; err != nil || len(reports) != 4 {
		t.Errorf("Run ends with %v after %d reports", err, len(reports))
	}
	must.Fail(s.Tick(ctx))(t, "a step after the end", amber.KindUnreachable)
}
