package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// keepLast is a policy that can be changed while it is used.
func keepLast(n *int) func() (wire.PruneRequest, error) {
	return func() (wire.PruneRequest, error) { return wire.PruneRequest{KeepLast: *n}, nil }
}

func TestRetentionVisitsEveryAgentOfEveryTenant(t *testing.T) {
	t.Parallel()
	clock, h := newWorkClock(), &heard{}
	everybody := people{"acme": {"ada", "bob"}, "umbrella": {"cat"}}
	s := newAlbum(clock, everybody)
	for range 5 {
		clock.Advance(time.Hour)
		for tenant, agents := range everybody {
			for _, agent := range agents {
				take(t, s, tenant, agent)
			}
		}
	}
	keep := 3
	r := &snapshot.Retention{Keeper: s, Roster: everybody, Clock: clock.Now, Policy: keepLast(&keep), Publisher: h}
	report, err := r.Tick(t.Context())
	must.Do(t, err)
	now := amber.At(clock.Now())
	mustEqual(t, "report", report, events.RetentionReport{Deleted: 6, Kept: 9, AgentsVisited: 3, OrphansRemoved: report.OrphansRemoved, Errors: []string{}, At: now})
	must.Equal(t, "snapshots that are left", len(list(t, s, "acme", "ada")), 3)
	var subjects []string
	deleted := 0
	for _, e := range h.got {
		subjects = append(subjects, e.Subject)
		deleted += e.Payload.(events.RetentionReport).Deleted
		must.Hold(t, e.Name == events.EventGC && e.Agent == "" && e.At == now && e.ID != "", "%+v is no gc of a tenant", e)
	}
	mustEqual(t, "subjects", subjects, []string{"amber.memory.snapshot.acme._all.gc", "amber.memory.snapshot.umbrella._all.gc"})
	must.Hold(t, deleted == 6 && h.got[0].ID != h.got[1].ID, "the events tell of %d deleted snapshots: %+v", deleted, h.got)

	// The policy is asked each time.
	keep = 1
	if report, err = r.Tick(t.Context()); err != nil || report.Deleted != 6 || report.Kept != 3 {
		t.Errorf("with another policy: %+v, %v", report, err)
	}
}

// keeper is a Keeper that answers with the functions in its fields.
type keeper struct {
	prune   func(ctx context.Context, r wire.PruneRequest) (wire.PruneReport, error)
	collect func(ctx context.Context, r wire.GCRequest) (wire.GCReport, error)
}

func (k keeper) PruneSnapshots(ctx context.Context, r wire.PruneRequest) (wire.PruneReport, error) {
	return k.prune(ctx, r)
}

func (k keeper) CollectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error) {
	if k.collect == nil {
		return wire.GCReport{}, nil
	}
	return k.collect(ctx, r)
}

func TestAnErrorAtOneAgentDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	keep := 1
	h := &heard{}
	r := &snapshot.Retention{
		Keeper: keeper{
			prune: func(_ context.Context, q wire.PruneRequest) (wire.PruneReport, error) {
				if q.Agent == "bob" {
					return wire.PruneReport{}, errors.New("it is held")
				}
				return wire.PruneReport{Deleted: make([]amber.SnapshotID, 2), Kept: make([]wire.Kept, 1)}, nil
			},
			collect: func(_ context.Context, q wire.GCRequest) (wire.GCReport, error) {
				if q.Tenant == "umbrella" {
					return wire.GCReport{}, errors.New("it is damaged")
				}
				return wire.GCReport{Orphans: []string{"a", "b", "c"}}, nil
			},
		},
		Roster: people{"acme": {"ada", "bob", "cat"}, "broken": {"x"}, "umbrella": {"dan"}},
		Clock:  newWorkClock().Now, Policy: keepLast(&keep), Publisher: h,
	}
	report := must.Get(r.Tick(t.Context()))(t)
	mustEqual(t, "report", report, events.RetentionReport{
		Deleted: 6, Kept: 3, OrphansRemoved: 3, AgentsVisited: 4, At: report.At,
		Errors: []string{"acme/bob: it is held", "broken: the folder cannot be read", "umbrella: it is damaged"},
	})
	must.Equal(t, "events, one for each tenant", len(h.got), 3)

	r.Roster = lost{}
	must.Error(t, "a roster that cannot be read", must.Err(r.Tick(t.Context())))
}

func TestRetentionReportsWhatItCannotPublishOrRead(t *testing.T) {
	t.Parallel()
	pruned := 0
	r := &snapshot.Retention{
		Keeper: keeper{prune: func(_ context.Context, q wire.PruneRequest) (wire.PruneReport, error) {
			if pruned++; q.KeepLast != 7 || q.Tenant != "acme" || q.Agent != "ada" || q.DryRun {
				t.Errorf("asked for %+v", q)
			}
			return wire.PruneReport{}, nil
		}},
		Roster: people{"acme": {"ada"}}, Clock: newWorkClock().Now, Publisher: &heard{fail: errors.New("nobody answers")},
		Policy: func() (wire.PruneRequest, error) {
			return wire.PruneRequest{KeepLast: 7, DryRun: true}, errors.New("the file is broken")
		},
	}
	report, err := r.Tick(t.Context())
	if err != nil || pruned != 1 {
		t.Fatalf("%v, %d prunes", err, pruned)
	}
	mustEqual(t, "errors", report.Errors, []string{"configuration: the file is broken", "acme: nobody answers"})
}

func TestARetentionReportIsBounded(t *testing.T) {
	t.Parallel()
	everybody := people{}
	for i := range 3 {
		tenant := amber.TenantID(fmt.Sprint("t", i))
		for j := range 150 {
			everybody[tenant] = append(everybody[tenant], amber.AgentID(fmt.Sprint("a", j)))
		}
	}
	keep := 1
	r := &snapshot.Retention{
		Keeper: keeper{prune: func(context.Context, wire.PruneRequest) (wire.PruneReport, error) {
			return wire.PruneReport{}, errors.New("no")
		}},
		Roster: everybody, Clock: newWorkClock().Now, Policy: keepLast(&keep),
	}
	report, err := r.Tick(t.Context())
	if err != nil || len(report.Errors) != 101 || report.Errors[100] != "and 350 more" || report.AgentsVisited != 450 {
		t.Errorf("%d errors, the last is %q, %v", len(report.Errors), report.Errors[len(report.Errors)-1], err)
	}
}

// An agent whose turn it is is finished when the worker is stopped; no other
// one begins, and what was done is told.
func TestAStoppedRetentionFinishesItsAgent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var visited []amber.AgentID
	keep, h := 1, &heard{}
	r := &snapshot.Retention{
		Keeper: keeper{
			prune: func(ctx context.Context, q wire.PruneRequest) (wire.PruneReport, error) {
				cancel()
				visited = append(visited, q.Agent)
				return wire.PruneReport{Deleted: make([]amber.SnapshotID, 1)}, ctx.Err()
			},
			collect: func(context.Context, wire.GCRequest) (wire.GCReport, error) {
				t.Error("it went on to collect garbage")
				return wire.GCReport{}, nil
			},
		},
		Roster: people{"acme": {"ada", "bob"}, "umbrella": {"cat"}}, Clock: newWorkClock().Now, Policy: keepLast(&keep), Publisher: h,
	}
	report, err := r.Tick(ctx)
	must.Kind(t, "tick", err, amber.KindUnreachable)
	mustEqual(t, "visited", visited, []amber.AgentID{"ada"})
	mustEqual(t, "errors", report.Errors, []string{"acme: stopped before the end"})
	must.Hold(t, len(h.got) == 1 && h.got[0].Payload.(events.RetentionReport).Deleted == 1, "told of %+v", h.got)
	must.Kind(t, "Run after the end", r.Run(ctx), "")
}

func TestRetentionRunsAtOnceAndThenEveryInterval(t *testing.T) {
	t.Parallel()
	pace, keep := newPacer(), 1
	interval := 2 * time.Hour
	rounds := make(chan events.RetentionReport, 1)
	r := &snapshot.Retention{
		Keeper: keeper{prune: func(context.Context, wire.PruneRequest) (wire.PruneReport, error) { return wire.PruneReport{}, nil }},
		Roster: people{"acme": {"ada"}}, Clock: newWorkClock().Now, Policy: keepLast(&keep),
		Interval: func() time.Duration { return interval }, After: pace.after,
		Report: func(r events.RetentionReport, _ error) { rounds <- r },
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	// The interval is asked each time, and bounded.
	for i, set := range []time.Duration{2 * time.Hour, 5 * time.Hour, time.Millisecond} {
		if i > 0 {
			interval = set
			pace.wake <- time.Time{}
		}
		if got := <-rounds; got.AgentsVisited != 1 {
			t.Errorf("a round is %+v", got)
		}
		must.Equal(t, "wait", <-pace.waits, max(set, time.Minute))
	}
	cancel()
	must.Kind(t, "the end of Run", <-done, "")
}

func TestWorkersNeedTheirFields(t *testing.T) {
	t.Parallel()
	for _, err := range []error{(&snapshot.Retention{}).Run(t.Context()), (&snapshot.Schedule{}).Run(t.Context())} {
		if amber.KindOf(err) != amber.KindInvalid || !strings.Contains(err.Error(), "required") {
			t.Errorf("got %v, want invalid", err)
		}
	}
}
