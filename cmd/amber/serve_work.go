package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/proc"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/journal/drain"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/snapshot"
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
func (s *serving) work() {
	s.crew.Go("journal drain", func(ctx context.Context, report server.Report) error {
		return s.rounds(ctx, report, roundLook, nil, s.drainAgent)
	})
	s.crew.Go("retention", s.retain)
	s.crew.Go("scheduled snapshots", s.schedule)
	s.crew.Go(backupWorker, s.backUp)
	s.crew.Go("idle agents", func(ctx context.Context, report server.Report) error {
		return s.every(ctx, sweepInterval, func() { report(fmt.Sprintf("%d agents are open", s.pool.Open()), s.pool.Sweep()) })
	})
	s.crew.Go("event streams", s.feeds.Run)
	s.watchers.work(s)
}

// changed says that this process has changed an agent: who listens hears of it at
// once. A round finds it later where there is no room.
func (s *serving) changed(n server.AgentName) {
	s.feeds.Changed(n)
	if s.watchers.nats != nil {
		select {
		case s.hasty <- n:
		default:
		}
	}
}

// every calls fn now and then until ctx ends.
func (s *serving) every(ctx context.Context, d time.Duration, fn func()) error {
	for ctx.Err() == nil {
		fn()
		pause(ctx, d, nil, nil)
	}
	return nil
}

// pause waits, and calls fn for every agent that comes meanwhile.
func pause(ctx context.Context, d time.Duration, hasty <-chan server.AgentName, fn func(server.AgentName)) {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			return
		case n := <-hasty:
			fn(n)
		}
	}
}

// rounds goes from agent to agent, again and again, and visits those whose files
// have changed, and everybody after some time; 0: nobody without a reason. Between
// two rounds those who come from hasty are visited at once.
func (s *serving) rounds(ctx context.Context, report server.Report, after time.Duration, hasty <-chan server.AgentName, visit func(ctx context.Context, agent *home.Agent) (string, error)) error {
	seen := map[string]glimpse{}
	for ctx.Err() == nil {
		var did []string
		agents, err := s.roster()
		errs := []error{err}
		visited := map[string]glimpse{}
		for _, agent := range agents {
			if ctx.Err() != nil {
				return nil
			}
			last, known := seen[agent.Dir()]
			now := glimpse{mark: changeMark(agent), at: s.clock()}
			if known && !now.reason(last, after) {
				visited[agent.Dir()] = last
				continue
			}
			detail, err := visit(ctx, agent)
			switch {
			case ctx.Err() != nil:
				return nil
			case errors.Is(err, errNotNow):
				continue
			case err != nil:
				errs = append(errs, fmt.Errorf("%s/%s: %w", agent.Tenant(), agent.ID(), err))
				continue // it is tried again in the next round
			}
			now.settled = known && last.mark == now.mark
			visited[agent.Dir()] = now
			if detail != "" {
				did = append(did, fmt.Sprintf("%s/%s: %s", agent.Tenant(), agent.ID(), detail))
			}
		}
		seen = visited
		report(strings.Join(did[:min(len(did), 10)], "; "), server.JoinSome(errs))
		pause(ctx, roundInterval, hasty, func(n server.AgentName) {
			if agent, err := s.home.Agent(n.Tenant, n.Agent); err == nil {
				_, _ = visit(ctx, agent) // the next round tells of what fails
			}
		})
	}
	return nil
}

// glimpse is what a round saw of an agent.
type glimpse struct {
	mark    string
	at      time.Time
	settled bool // it was visited once more after it had changed
}

// reason reports whether an agent is to be visited. Equal size and time do not
// prove equal content, so one that has changed is visited twice.
func (g glimpse) reason(last glimpse, after time.Duration) bool {
	return g.mark == "" || g.mark != last.mark || !last.settled || after > 0 && g.at.Sub(last.at) >= after
}

// errNotNow is returned by a visit that has done nothing, so that the agent is
// visited again though it does not change.
var errNotNow = errors.New("not now")

// changeMark is another one whenever an agent has changed; "": that cannot be told.
// The files are looked at and never opened.
func changeMark(agent *home.Agent) string {
	mark := databaseMark(agent)
	if mark == "" {
		return ""
	}
	b := []byte(mark)
	// A session's folder changes with its segments, and those with appends.
	err := filepath.WalkDir(agent.SpoolDir(), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // somebody drains
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			b = fmt.Append(b, "/", info.Size(), ".", info.ModTime().UnixNano())
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return string(b)
}

// databaseMark is another one whenever a database of an agent has changed.
func databaseMark(agent *home.Agent) string {
	current, err := agent.Current()
	if err != nil {
		return ""
	}
	b := fmt.Append(nil, current.Generation)
	dir := agent.GenDir(current)
	for _, name := range []string{"memory.db", "memory.db-wal", "control.db", "control.db-wal"} {
		// An empty log comes and goes with every program that opens the database.
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
			b = fmt.Append(b, "/", info.Size(), ".", info.ModTime().UnixNano())
		}
	}
	return string(b)
}

// databaseMark is that of an agent of the home.
func (s *serving) databaseMark(n server.AgentName) string {
	agent, err := s.home.Agent(n.Tenant, n.Agent)
	if err != nil {
		return ""
	}
	return databaseMark(agent)
}

// with opens an agent of the home for work in the background.
func (s *serving) with(ctx context.Context, agent *home.Agent, fn func(a *server.Agent) error) error {
	a, release, err := s.pool.Agent(ctx, agent.Tenant(), agent.ID(), false)
	if err != nil {
		return err
	}
	defer release()
	return fn(a)
}

// drainAgent brings what the crash journal of an agent holds into its store, and
// ends the sessions whose processes are gone.
func (s *serving) drainAgent(ctx context.Context, agent *home.Agent) (detail string, err error) {
	j, err := journal.Open(agent.SpoolDir(), journalOptions(s.current().Journal, s.clock))
	if err != nil {
		return "", err
	}
	// A session that has not ended has a folder: without one nobody need be
	// woken, and agents that nobody uses are closed.
	keys, err := j.Keys()
	if len(keys) == 0 && (err == nil || amber.KindOf(err) == amber.KindNotFound) {
		return "", nil
	}
	err = s.with(ctx, agent, func(a *server.Agent) error {
		if !a.Store.Capabilities().Ingest {
			return nil
		}
		w, err := drain.New(drain.Options{
			Journal: j, Clock: s.clock, Alive: proc.Check, Store: drainStore{a.Store.Ingest, a.Store.Turns, a.Store.Activities},
			Policy: a.Policy, Loops: a.Store.Loops,
		})
		if err != nil {
			return err
		}
		report, err := w.Once(ctx)
		if amber.KindOf(err) == amber.KindBusy { // a hook's drain is at it
			return nil
		}
		if report.Applied > 0 || len(report.Ended) > 0 {
			s.changed(server.AgentName{Tenant: a.Tenant, Agent: a.ID})
			detail = fmt.Sprintf("%d events, %d sessions ended", report.Applied, len(report.Ended))
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
func (s *serving) retain(ctx context.Context, report server.Report) error {
	return s.retention(report).Run(ctx)
}

// retention is the worker that does.
func (s *serving) retention(report server.Report) *snapshot.Retention {
	var r *snapshot.Retention
	r = &snapshot.Retention{
		Keeper: openKeeper{s.watchers.keeper(s.engine, s.keeper), s, s.watchers.Audit(s.db)}, Roster: s.home, Clock: s.clock,
		Policy: func() (amber.PruneRequest, error) {
			c, err := s.config.Current()
			return prunePolicy(c.Snapshot.Retention), err
		},
		Interval:  func() time.Duration { return s.current().Snapshot.Retention.Interval },
		Publisher: s.publisher, LifecyclePrefix: s.current().Events.LifecyclePrefix,
		Report: func(did amber.RetentionReport, err error) {
			s.watchers.Retention(did, err)
			if len(did.Errors) > 0 {
				err = errors.Join(err, errors.New(strings.Join(did.Errors[:min(len(did.Errors), 10)], "; ")))
			}
			report(fmt.Sprintf("%d deleted, %d kept of %d agents; next round in %s", did.Deleted, did.Kept, did.AgentsVisited, r.Every()), err)
		},
	}
	return r
}

// prunePolicy is what the configuration keeps.
func prunePolicy(keep config.Retention) amber.PruneRequest {
	return amber.PruneRequest{
		KeepLast: keep.KeepLast, KeepHourly: keep.KeepHourly, KeepDaily: keep.KeepDaily, KeepWeekly: keep.KeepWeekly,
		MaxAge: keep.MaxAge, KeepSafety: keepSafety, SafetyAge: safetyAge, AutomaticOnly: !keep.Manual,
	}
}

// health tells how the server is doing.
func (s *serving) health(context.Context) amber.ServerHealth {
	h := amber.ServerHealth{Status: amber.Healthy, Version: thisBuild().Version, StartedAt: s.started, Workers: s.crew.Health()}
	for i, w := range h.Workers {
		if w.Name == auditWorker && s.desk.Deaf() {
			w.Status, w.LastError = amber.Degraded, "entries cannot be written, so nothing is changed"
			h.Workers[i] = w
		}
		if w.Status != amber.Healthy {
			h.Status = amber.Degraded
		}
	}
	return h
}

// ready says whether requests can be answered.
func (s *serving) ready(ctx context.Context) error {
	_, err := s.db.HasTokens(ctx)
	if err == nil {
		_, err = s.home.Tenants()
	}
	if err == nil {
		err = s.desk.Listening(ctx)
	}
	return err
}
