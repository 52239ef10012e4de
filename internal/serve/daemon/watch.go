package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/trace"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
)

// watchers hear of everything that happens: metrics, traces, and a broker where one is configured.
type watchers struct {
	*metrics.Metrics
	tracer *trace.Tracer
	nats   *natsbus.Bus // nil without a broker
	outbox lossy        // of the home
}

// lossy counts the events that a publisher does not take. The caller does not offer such an event
// again, so no listener ever hears of it.
type lossy struct {
	events.Publisher
	lost atomic.Int64
	wake chan struct{} // has an element when something was put in; it may be nil
}

// Publish implements [events.Publisher].
func (l *lossy) Publish(ctx context.Context, e events.Event) error {
	err := l.Publisher.Publish(ctx, e)
	if err != nil {
		l.lost.Add(1)
		return err
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}

// newWatchers opens them. A broker that is away is no error.
func (s *Daemon) newWatchers(ctx context.Context) (*watchers, error) {
	tracer, err := s.newTracer(ctx)
	if err != nil {
		return nil, err
	}
	w := &watchers{
		Metrics: metrics.New(metrics.Options{Clock: s.o.Clock, Version: s.o.Version, Commit: s.o.Commit, Beside: tracer}), tracer: tracer,
	}
	w.outbox.Publisher, w.outbox.wake = s.o.Ledger, make(chan struct{}, 1)
	if c := s.o.Config.Loaded().Config.Events; c.NATSURL != "" {
		w.nats, err = natsbus.Open(ctx, natsbus.Options{
			URL: string(c.NATSURL), CredsFile: c.NATSCreds, JetStream: c.JetStream,
			Prefixes: []string{c.MutationPrefix, c.LifecyclePrefix}, Log: s.o.Log,
		})
	}
	return w, err
}

// newTracer sends traces where the environment says, as every program that is
// traced does.
func (s *Daemon) newTracer(ctx context.Context) (*trace.Tracer, error) {
	o := trace.FromEnvironment(s.o.Getenv)
	o.Version = s.o.Version
	o.Failed = func(err error) { s.o.Log.Warn("traces", "error", err) }
	return trace.Open(ctx, o)
}

// around counts and traces requests.
func (w *watchers) around(next http.Handler) http.Handler {
	return w.tracer.Middleware(w.InFlight(next))
}

// auditWorker is the worker that looks after the audit log.
const auditWorker = "audit"

// work starts what watches, and what publishes.
func (w *watchers) work(s *Daemon) {
	looker := s.newLooker()
	from := metrics.Sources{OpenAgents: s.pool.Open, Workers: s.workers, Look: looker.look}
	relay := &relaying{Daemon: s, wake: w.outbox.wake}
	if w.nats != nil {
		looker.skipped, from.Bus = func() int64 { return relay.skipped() + w.outbox.lost.Load() }, looker.bus
	}
	if s.o.Replica != nil {
		from.Database = s.o.Replica.state
	}
	w.Watch(from)
	s.crew.Go(auditWorker, s.verifyAudit)
	s.crew.Go("metrics", func(ctx context.Context, report server.Report) error {
		return server.Every(ctx, metrics.Interval, func() {
			if err := w.Look(ctx); ctx.Err() == nil {
				report("", err)
			}
		})
	})
	if w.nats == nil {
		return
	}
	s.crew.Go("events", func(ctx context.Context, report server.Report) error {
		since, err := s.publishedSince(ctx)
		if err != nil {
			return err
		}
		p := &publishing{Daemon: s, since: since, logs: map[string]*published{}, waits: map[string]bool{}}
		return s.sharedRounds(ctx, report, publishWork, s.hasty, p.agent)
	})
	s.crew.Go("outbox", relay.run)
}

// close sends what is still to be sent.
func (w *watchers) close(ctx context.Context) error {
	var err error
	if w.nats != nil {
		err = w.nats.Close(ctx)
	}
	return errors.Join(err, w.tracer.Close(ctx))
}

// publishing publishes the change logs of agents.
type publishing struct {
	*Daemon
	since amber.Time            // when this home began to publish
	logs  map[string]*published // by the paths of their cursors
	waits map[string]bool       // folders of agents that wait for the broker
}

// published is a change log that is published under a lease.
type published struct {
	events.Mutations
	fence int64 // of the lease; another server may have published under one between
}

// agent publishes what an agent's two change logs hold behind their cursors.
func (p *publishing) agent(ctx context.Context, agent *home.Agent, lease *postgres.Lease) (string, error) {
	c := p.current().Events
	if !c.MutationEnabled {
		return "", errNotNow // it may be switched on, and what changed since is told then
	}
	// As long as the broker is away no agent is opened for it twice.
	if p.waits[agent.Dir()] && !p.watchers.nats.Health().Connected {
		return "", amber.Errorf(amber.KindUnreachable, "publish events", string(agent.ID()), "there is no connection to NATS")
	}
	published := 0
	err := p.with(ctx, agent, func(a *op.Agent) (failed error) {
		feed := p.feeds.Of(server.AgentName{Tenant: a.Tenant, Agent: a.ID})
		if err := feed.Refresh(ctx, a); err != nil {
			return err
		}
		memory, control := feed.Over(a.Store.Changes, a.Store.ControlChanges)
		for name, log := range map[string]amber.ChangeLog{"memory": memory, "control": control} {
			n, err := p.log(ctx, a, agent, lease, name, log)
			published += n
			if amber.KindOf(err) != amber.KindUnsupported {
				failed = errors.Join(failed, err) // the other log still gets its cursor
			}
		}
		return failed
	})
	if delete(p.waits, agent.Dir()); amber.KindOf(err) == amber.KindUnreachable {
		p.waits[agent.Dir()] = true
	}
	if published == 0 {
		return "", err
	}
	return fmt.Sprintf("%d published", published), err
}

// log publishes what one change log holds.
func (p *publishing) log(ctx context.Context, a *op.Agent, agent *home.Agent, lease *postgres.Lease, name string, log amber.ChangeLog) (n int, err error) {
	key := filepath.Join(agent.Dir(), name)
	m := p.logs[key]
	if m == nil || lease != nil && m.fence != lease.Fence {
		young, err := p.young(ctx, log)
		if err != nil {
			return 0, err
		}
		m = &published{Mutations: events.Mutations{
			FromBeginning: young,
			Tenant:        a.Tenant, Agent: a.ID, Publisher: p.watchers.Publisher(p.watchers.nats),
			Cursor: p.cursor(agent, name, lease), Prefix: p.o.Config.Loaded().Config.Events.MutationPrefix,
		}}
		if lease != nil {
			m.fence = lease.Fence
		}
		p.logs[key] = m
	}
	m.Log = log // the agent may have been closed and opened since
	return m.CatchUp(ctx)
}

// cursor is how far a change log of an agent was published: in its folder, or in the database, where it is moved under a lease.
func (s *Daemon) cursor(agent *home.Agent, name string, lease *postgres.Lease) events.CursorStore {
	if s.o.Replica == nil {
		return events.AgentCursor(agent.Dir(), name)
	}
	var fence ledger.Fence
	if lease != nil {
		fence = lease.Check
	}
	return s.o.Ledger.Cursor(agent.Tenant(), agent.ID(), name, fence)
}

// young reports whether a change log began after this home began to publish: then all of it is
// published. From an older log only the changes from now on are published.
func (p *publishing) young(ctx context.Context, log amber.ChangeLog) (bool, error) {
	first, err := log.Changes(ctx, "", 1)
	if err != nil || len(first) == 0 {
		return true, err
	}
	return !first[0].At.Before(p.since), nil
}

// publishedSince is when this home began to publish, noted in a file the first
// time. Errors: damaged.
func (s *Daemon) publishedSince(ctx context.Context) (amber.Time, error) {
	const op = "read when events began"
	if s.o.Replica != nil {
		return s.o.Ledger.PublishedSince(ctx, s.started)
	}
	path := filepath.Join(s.o.Home.Dir(), "published-since")
	b, err := fsx.ReadFile(fsx.OS(), path, 64)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.started, fsx.Replace(fsx.OS(), path, 0o600, []byte(s.started.String()+"\n"))
	case err != nil:
		return amber.Time{}, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: path, Err: err}
	}
	since, err := amber.ParseTime(strings.TrimSuffix(string(b), "\n"))
	if err != nil {
		return since, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: path, Err: err, Hint: "remove the file; changes are published from now on then"}
	}
	return since, nil
}
