package daemon

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// How often metrics look at what takes long, or costs requests to a bucket.
const (
	slowLook      = time.Minute
	auditInterval = time.Hour
)

// looker tells metrics about the agents that are open. One goroutine uses it.
type looker struct {
	*Daemon
	slow    map[server.AgentName]slowGauges // "" is the agent of what concerns a tenant
	lag     atomic.Int64                    // events that wait; negative when that is not known
	skipped func() int64                    // events that were left out
}

// slowGauges are those that are looked at less often.
type slowGauges struct {
	at         time.Time
	snapshots  *metrics.SnapshotGauges
	repository *metrics.RepositoryGauges
}

func (s *Daemon) newLooker() *looker {
	l := &looker{Daemon: s, slow: map[server.AgentName]slowGauges{}, skipped: func() int64 { return 0 }}
	l.lag.Store(-1)
	return l
}

// look looks at every agent that is open, and at the repositories of their
// tenants.
func (l *looker) look(ctx context.Context) (all []metrics.AgentGauges, err error) {
	kept := map[server.AgentName]slowGauges{}
	tenants := map[amber.TenantID]bool{}
	lag, unknown := l.o.Ledger.WaitingEvents(ctx)
	stopped := l.pool.Visit(func(a *op.Agent) error {
		g, e := l.agentGauges(ctx, a, kept)
		all, tenants[a.Tenant], err = append(all, g), true, errors.Join(err, e)
		n, e := l.waiting(ctx, a)
		lag, unknown = lag+n, errors.Join(unknown, e)
		return ctx.Err()
	})
	for tenant := range tenants {
		g, e := l.tenantGauges(ctx, tenant, kept)
		all, err = append(all, g), errors.Join(err, e)
	}
	if unknown != nil || stopped != nil {
		lag = -1
	}
	l.lag.Store(lag)
	l.slow = kept
	return all, errors.Join(err, unknown, stopped)
}

// agentGauges looks at an agent, and now and then at its snapshots.
func (l *looker) agentGauges(ctx context.Context, a *op.Agent, kept map[server.AgentName]slowGauges) (metrics.AgentGauges, error) {
	key := server.AgentName{Tenant: a.Tenant, Agent: a.ID}
	last, now := l.slow[key], l.o.Clock()
	fresh := last.snapshots != nil && now.Sub(last.at) < slowLook
	subject := metrics.Subject{Tenant: a.Tenant, Agent: a.ID, Store: a.Store, Journal: a.Journal}
	if !fresh {
		subject.Snapshots = a.Snapshots
	}
	g, err := metrics.Look(ctx, subject)
	if fresh {
		g.Snapshots = last.snapshots
		kept[key] = last
	} else {
		kept[key] = slowGauges{at: now, snapshots: g.Snapshots}
	}
	return g, err
}

// tenantGauges now and then looks at the repository of a tenant.
func (l *looker) tenantGauges(ctx context.Context, tenant amber.TenantID, kept map[server.AgentName]slowGauges) (metrics.AgentGauges, error) {
	key := server.AgentName{Tenant: tenant}
	g := metrics.AgentGauges{Tenant: tenant}
	e, ok := l.parts.Engine.(interface {
		StoredBytes(ctx context.Context, tenant amber.TenantID) (int64, error)
	})
	if last := l.slow[key]; !ok || !last.at.IsZero() && l.o.Clock().Sub(last.at) < slowLook {
		g.Repository, kept[key] = last.repository, last
		return g, nil
	}
	stored, err := e.StoredBytes(ctx, tenant)
	if amber.KindOf(err) == amber.KindNotFound {
		return g, nil // no snapshot was taken yet
	}
	if err != nil {
		return g, err
	}
	total, err := l.held(ctx, tenant)
	if err != nil {
		return g, err
	}
	g.Repository = &metrics.RepositoryGauges{Stored: stored, Total: total}
	kept[key] = slowGauges{at: l.o.Clock(), repository: g.Repository}
	return g, nil
}

// held adds up what the snapshots of every agent of a tenant hold.
func (l *looker) held(ctx context.Context, tenant amber.TenantID) (n int64, err error) {
	agents, err := l.people().Agents(tenant)
	if err != nil {
		return 0, err
	}
	for _, agent := range agents {
		q := wire.SnapshotQuery{Tenant: tenant, Agent: agent, Limit: amber.MaxPageSize}
		for more := true; more; more = q.Cursor != "" {
			page, err := l.parts.Engine.ListSnapshots(ctx, q)
			if err != nil {
				return 0, err
			}
			for _, m := range page.Items {
				n += m.BytesTotal
			}
			q.Cursor = page.Next
		}
	}
	return n, nil
}

// waiting counts the changes of an agent that are not published yet. After a restore the number is
// not known until the next change is published.
func (l *looker) waiting(ctx context.Context, a *op.Agent) (n int64, err error) {
	if l.watchers.nats == nil || !l.current().Events.MutationEnabled {
		return 0, nil
	}
	agent, err := l.o.Home.Agent(a.Tenant, a.ID)
	if err != nil {
		return 0, err
	}
	parts := a.Store.Present()
	for name, log := range map[string]amber.ChangeLog{"memory": parts.Changes, "control": parts.ControlChanges} {
		if log == nil {
			continue
		}
		one, err := l.behind(metrics.Unwatched(ctx), log, l.cursor(agent, name, nil))
		if err != nil {
			return n, err
		}
		n += one
	}
	return n, nil
}

// behind counts the entries of a log after its cursor. Without one it is all of
// a log that is told from its beginning, and nothing of another.
func (l *looker) behind(ctx context.Context, log amber.ChangeLog, cursor events.CursorStore) (int64, error) {
	at, found, err := cursor.Load(ctx)
	if err != nil {
		return 0, err
	}
	if !found {
		since, err := l.publishedSince(ctx)
		if err != nil {
			return 0, err
		}
		young, err := (&publishing{Daemon: l.Daemon, since: since}).young(ctx, log)
		if err != nil || !young {
			return 0, err
		}
	}
	head, err := log.Head(ctx)
	return between(at, head), err
}

// between counts the entries of one log from a position to a later one.
func between(from, to amber.Position) int64 {
	log, first, err := from.Parse()
	same, last, other := to.Parse()
	if err != nil || other != nil || log != "" && log != same {
		return 0
	}
	return max(0, last-first)
}

// bus tells metrics how the broker is doing.
func (l *looker) bus() metrics.BusState {
	h := l.watchers.nats.Health()
	return metrics.BusState{Connected: h.Connected, Published: h.Published, Failed: h.Failed, Skipped: l.skipped(), Lag: l.lag.Load()}
}

// verifyAudit reads the whole audit log now and then.
func (s *Daemon) verifyAudit(ctx context.Context, report server.Report) error {
	log := s.watchers.Audit(s.o.Ledger)
	return server.Every(ctx, auditInterval, func() {
		r, err := log.VerifyAudit(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil && !r.OK() {
			err = amber.Errorf(amber.KindDamaged, "verify audit log", "", "%s damaged", words.Count(len(r.Damaged), "place is", "places are"))
		}
		report(words.Count(r.Entries, "entry", "entries"), err)
	})
}
