package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// How often agents are looked after.
const (
	roundInterval = time.Second
	// roundLook is how long an agent whose files do not change is left alone:
	// a session whose process is gone changes none.
	roundLook     = 30 * time.Second
	sweepInterval = time.Minute
)

// work starts everything that happens in the background.
func (s *Daemon) work() {
	s.crew.Go("journal drain", func(ctx context.Context, report server.Report) error {
		return s.rounds(ctx, report, roundLook, nil, s.drainAgent)
	})
	s.crew.Go("retention", s.retain)
	s.crew.Go("scheduled snapshots", s.schedule)
	s.crew.Go(BackupWorker, s.backUp)
	s.crew.Go(IndexWorker, s.completeIndexes)
	if s.o.Config.Loaded().Config.BackendOf(amber.LayerLongTerm) == "openviking" {
		s.crew.Go(FeedWorker, func(ctx context.Context, report server.Report) error {
			return s.rounds(ctx, report, 0, nil, (&feeding{s, map[string]feedPause{}}).agent)
		})
	}
	s.crew.Go("idle agents", func(ctx context.Context, report server.Report) error {
		return server.Every(ctx, sweepInterval, func() { report(words.Count(s.pool.Open(), "agent is", "agents are")+" open", s.pool.Sweep()) })
	})
	s.crew.Go("event streams", s.feeds.Run)
	s.watchers.work(s)
	s.o.Replica.work(s)
}

// changed says that this process has changed an agent: who listens hears of it at
// once. A round finds it later where there is no room.
func (s *Daemon) changed(n server.AgentName) {
	s.feeds.Changed(n)
	if s.watchers.nats != nil {
		select {
		case s.hasty <- n:
		default:
		}
	}
}

// with opens an agent of the home for work in the background.
func (s *Daemon) with(ctx context.Context, agent *home.Agent, fn func(a *op.Agent) error) error {
	a, release, err := s.pool.Agent(ctx, agent.Tenant(), agent.ID(), false)
	if err != nil {
		return err
	}
	defer release()
	return fn(a)
}

// drainAgent brings what the crash journal of an agent holds into its store, and
// ends the sessions whose processes are gone.
func (s *Daemon) drainAgent(ctx context.Context, agent *home.Agent) (detail string, err error) {
	j, err := s.parts.Journal(agent)
	if err != nil {
		return "", err
	}
	// A session that has not ended has a folder. An agent without such a folder need not be opened,
	// and agents that are not in use stay closed.
	keys, err := j.Keys()
	if len(keys) == 0 && (err == nil || amber.KindOf(err) == amber.KindNotFound) {
		return "", nil
	}
	s.traffic.StandBack(ctx)
	err = s.with(ctx, agent, func(a *op.Agent) error {
		if !a.Store.Capabilities().Ingest {
			return nil
		}
		var writer digest.Writer
		if s.parts.Digests != nil {
			writer = s.parts.Digests()
		}
		w, err := drain.New(drain.Options{
			Writer: writer, Journal: j, Clock: s.o.Clock, Alive: proc.Check, Store: drainStore{a.Store.Ingest, a.Store.Turns, a.Store.Activities},
			Policy: a.Policy, Loops: a.Store.Loops, Memories: a.Store.Memories, Sessions: a.Store.Sessions,
			StandBack: s.traffic.Politely(hooksocket.LongestRound),
		})
		if err != nil {
			return err
		}
		report, err := w.Once(ctx)
		if amber.KindOf(err) == amber.KindBusy { // a hook's drain is at it, perhaps behind what was drained here
			err = nil
		}
		for id, why := range report.DigestsByRule {
			s.o.Log.Warn("the writer of digests failed, rules wrote the digest", "tenant", a.Tenant, "agent", a.ID, "session", id, "error", why)
		}
		if report.Applied > 0 || len(report.Ended) > 0 {
			s.changed(server.AgentName{Tenant: a.Tenant, Agent: a.ID})
			detail = fmt.Sprintf("%s, %s ended", words.Count(report.Applied, "event", "events"), words.Count(len(report.Ended), "session", "sessions"))
		}
		return errors.Join(err, report.Err())
	})
	return detail, err
}

// drainStore is what a drain needs of a store.
type drainStore struct {
	amber.Ingester
	amber.Turns
	amber.Activities
}

// retain applies the rules about which snapshots stay.
func (s *Daemon) retain(ctx context.Context, report server.Report) error {
	return s.retention(report).Run(ctx)
}

// retention is the worker that does.
func (s *Daemon) retention(report server.Report) *snapshot.Retention {
	var r *snapshot.Retention
	r = &snapshot.Retention{
		Keeper: s.worker(), Roster: s.people(), Clock: s.o.Clock,
		Policy: func() (wire.PruneRequest, error) {
			c, err := s.o.Config.Current()
			return c.Snapshot.Retention.PruneRequest(), err
		},
		Interval:  func() time.Duration { return s.current().Snapshot.Retention.Interval },
		Publisher: s.Publisher(), LifecyclePrefix: s.current().Events.LifecyclePrefix,
		Report: func(did events.RetentionReport, err error) {
			s.watchers.Retention(did, err)
			if len(did.Errors) > 0 {
				err = errors.Join(err, errors.New(strings.Join(did.Errors[:min(len(did.Errors), 10)], "; ")))
			}
			report(fmt.Sprintf("%d deleted, %d kept of %s; next round in %s", did.Deleted, did.Kept, words.Count(did.AgentsVisited, "agent", "agents"), r.Every()), err)
		},
	}
	return r
}

// health tells how the server is doing.
func (s *Daemon) health(ctx context.Context) wire.ServerHealth {
	h := wire.ServerHealth{Status: amber.Healthy, Version: s.o.Version, StartedAt: s.started, Workers: s.workers(), Index: s.indexes.health()}
	for _, w := range h.Workers {
		if w.Status != amber.Healthy {
			h.Status = amber.Degraded
		}
	}
	if s.o.Replica != nil {
		var err error
		if h.Servers, err = s.o.Replica.peers(ctx); err != nil {
			h.Status = amber.Degraded
			s.o.Log.WarnContext(ctx, "the servers of the database are not known", "error", err)
		}
	}
	return h
}

// workers tells how the workers are doing.
func (s *Daemon) workers() []wire.WorkerHealth {
	all := s.crew.Health()
	for i, w := range all {
		if w.Name == auditWorker && s.desk.Deaf() {
			w.Status, w.LastError = amber.Degraded, "the audit log cannot be written, so the server refuses changes"
			all[i] = w
		}
	}
	return all
}

// ready says whether requests can be answered, or with writes, whether changes can be made, too: on a full disk reading goes on.
func (s *Daemon) ready(ctx context.Context, writes bool) error {
	if s.draining.Load() {
		return amber.Errorf(amber.KindUnreachable, "serve", "", "the server is about to end").WithHint("send requests to another one")
	}
	_, err := s.o.Ledger.HasTokens(ctx)
	if err == nil {
		_, err = s.o.Home.Tenants()
	}
	if err == nil && writes {
		err = s.o.Ledger.Writable(ctx)
	}
	if err == nil && writes {
		err = s.desk.Listening(ctx)
	}
	return err
}
