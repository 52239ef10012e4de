package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/wire"
)

const (
	// DefaultRetentionInterval is how often retention is applied.
	DefaultRetentionInterval = time.Hour
	// minRetentionInterval keeps a mistake in the configuration from doing
	// nothing else.
	minRetentionInterval = time.Minute
	// maxErrors bounds what a report names; the rest is counted.
	maxErrors = 100
)

// Roster tells whose snapshots there are. [home.Home] is one.
type Roster interface {
	// Tenants returns the tenants of the home.
	Tenants() ([]amber.TenantID, error)
	// Agents returns the agents of a tenant.
	Agents(tenant amber.TenantID) ([]amber.AgentID, error)
}

// Keeper is what retention needs of a snapshotter.
type Keeper interface {
	PruneSnapshots(ctx context.Context, r wire.PruneRequest) (wire.PruneReport, error)
	CollectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error)
}

// Retention applies the rules about which snapshots stay, again and again, to
// every agent of every tenant, and frees what is not needed any more. Fields
// are set before Run; one goroutine uses it at a time.
type Retention struct {
	Keeper Keeper
	Roster Roster
	Clock  amber.Clock
	// Policy returns what to keep. The worker calls it before each round, so a change counts from
	// the next round on. The worker fills in tenant, agent and dry run. If Policy returns an error,
	// the worker reports the error and uses the request that Policy returned beside it.
	Policy func() (wire.PruneRequest, error)
	// Interval is asked after each round. nil: DefaultRetentionInterval; less
	// than a minute counts as one.
	Interval func() time.Duration
	After    func(time.Duration) <-chan time.Time // nil: [time.After]

	Publisher       events.Publisher // is called after each round, once per tenant; may be nil
	LifecyclePrefix string           // of subjects; "": [events.DefaultLifecyclePrefix]
	// Report is given the outcome of each round of Run, and what kept it from
	// being whole. It may be nil, and returns at once.
	Report func(events.RetentionReport, error)
}

// Run applies the rules now and then every Interval until ctx ends, and returns
// nil then. The error is of kind invalid, for missing fields.
func (r *Retention) Run(ctx context.Context) error {
	if r.Keeper == nil || r.Roster == nil || r.Clock == nil || r.Policy == nil {
		return amber.Errorf(amber.KindInvalid, "apply retention", "", "keeper, roster, clock and policy are required")
	}
	for ctx.Err() == nil {
		report, err := r.Tick(ctx)
		if r.Report != nil {
			r.Report(report, err)
		}
		wait(ctx, r.After, r.Every())
	}
	return nil
}

// Every returns how long Run waits after a round.
func (r *Retention) Every() time.Duration {
	if r.Interval == nil {
		return DefaultRetentionInterval
	}
	return max(r.Interval(), minRetentionInterval)
}

// wait returns when the time is over or ctx has ended.
func wait(ctx context.Context, after func(time.Duration) <-chan time.Time, d time.Duration) {
	if ctx.Err() != nil {
		return
	}
	if after == nil {
		after = time.After
	}
	select {
	case <-ctx.Done():
	case <-after(d):
	}
}

// Tick applies the rules once. A failure of one agent is in the report and does not prevent the
// turn of another. When ctx ends, Tick finishes the agent whose turn it is and begins no other.
// Errors: unreachable when ctx ended; those of the roster where it does not know the tenants.
func (r *Retention) Tick(ctx context.Context) (events.RetentionReport, error) {
	total := round{now: amber.At(r.Clock())}
	policy, err := r.Policy()
	if err != nil {
		total.fail("configuration", err)
	}
	tenants, err := r.Roster.Tenants()
	if err != nil {
		return total.report(), fail("apply retention", "", err)
	}
	for _, tenant := range tenants {
		if ctx.Err() != nil {
			break
		}
		one := round{now: total.now}
		r.tenant(ctx, tenant, policy, &one)
		total.add(one)
		if err := r.publish(ctx, tenant, one.report()); err != nil {
			total.fail(string(tenant), err)
		}
	}
	if err := ctx.Err(); err != nil {
		return total.report(), &amber.Error{Op: "apply retention", Kind: amber.KindUnreachable, Err: err}
	}
	return total.report(), nil
}

// tenant applies the rules to the agents of one tenant, and frees what its
// repository does not need then.
func (r *Retention) tenant(ctx context.Context, tenant amber.TenantID, policy wire.PruneRequest, n *round) {
	agents, err := r.Roster.Agents(tenant)
	if err != nil {
		n.fail(string(tenant), err)
		return
	}
	for _, agent := range agents {
		if ctx.Err() != nil {
			n.fail(string(tenant), errors.New("stopped before the end"))
			return
		}
		policy.Tenant, policy.Agent, policy.DryRun = tenant, agent, false
		got, err := r.Keeper.PruneSnapshots(context.WithoutCancel(ctx), policy)
		n.visited++
		n.deleted += len(got.Deleted)
		n.kept += len(got.Kept)
		if err != nil {
			n.fail(string(tenant)+"/"+string(agent), err)
		}
	}
	got, err := r.Keeper.CollectGarbage(ctx, wire.GCRequest{Tenant: tenant})
	n.orphans += len(got.Orphans)
	if err != nil {
		n.fail(string(tenant), err)
	}
}

// publish publishes the report of what was done, also when ctx has ended meanwhile.
func (r *Retention) publish(ctx context.Context, tenant amber.TenantID, report events.RetentionReport) error {
	if r.Publisher == nil {
		return nil
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishWithin)
	defer cancel()
	return r.Publisher.Publish(within, events.Event{
		ID:   fmt.Sprintf("%s/%s/retention-%d", events.EventGC, tenant, report.At.UnixMilli()),
		Name: events.EventGC, Subject: events.LifecycleSubject(r.LifecyclePrefix, tenant, "", events.EventGC),
		Tenant: tenant, At: report.At, Payload: report,
	})
}

// round counts what happens.
type round struct {
	now                             amber.Time
	deleted, kept, orphans, visited int
	errors                          []string
	more                            int // errors that are not among them
}

func (n *round) fail(what string, err error) {
	if len(n.errors) == maxErrors {
		n.more++
		return
	}
	n.errors = append(n.errors, what+": "+err.Error())
}

func (n *round) add(o round) {
	n.deleted += o.deleted
	n.kept += o.kept
	n.orphans += o.orphans
	n.visited += o.visited
	room := min(maxErrors-len(n.errors), len(o.errors))
	n.errors = append(n.errors, o.errors[:room]...)
	n.more += o.more + len(o.errors) - room
}

func (n *round) report() events.RetentionReport {
	errs := append([]string{}, n.errors...)
	if n.more > 0 {
		errs = append(errs, fmt.Sprintf("and %d more", n.more))
	}
	return events.RetentionReport{
		Deleted: n.deleted, Kept: n.kept, OrphansRemoved: n.orphans, AgentsVisited: n.visited, Errors: errs, At: n.now,
	}
}
