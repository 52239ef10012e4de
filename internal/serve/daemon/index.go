package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// IndexWorker is the worker that completes the indexes of agents.
const IndexWorker = "index"

const (
	// indexSlice is how long the worker stays with one agent before it looks at others.
	indexSlice = 5 * time.Second
	// indexCounted is how long what was counted in an index is told, and indexChanged where
	// vectors were made since: to count reads all of it.
	indexCounted = 30 * time.Second
	indexChanged = 5 * time.Second
)

// indexes is what the worker knows. Safe for concurrent use.
type indexes struct {
	mu   sync.Mutex
	seen map[server.AgentName]counted
}

// counted is how far an index was at some time.
type counted struct {
	wire.IndexStatus
	at      time.Time
	changed bool // vectors were made since
}

// note remembers how far the index of an agent is.
func (x *indexes) note(n server.AgentName, s wire.IndexStatus, at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seen == nil {
		x.seen = map[server.AgentName]counted{}
	}
	x.seen[n] = counted{IndexStatus: s, at: at}
}

// isDue reports whether the index of an agent is to be counted: at first, and after a while,
// which is shorter where it changed or something was missing.
func (x *indexes) isDue(n server.AgentName, now time.Time, changed bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, ok := x.seen[n]
	if s.changed = s.changed || changed; ok {
		x.seen[n] = s
	}
	passed, after := now.Sub(s.at), indexCounted
	if s.changed || s.Waiting > 0 || s.Pending > 0 {
		after = indexChanged
	}
	return !ok || passed >= after || passed < 0
}

// isStale reports whether more is in an index, or less is missing, than was counted: it has to be counted though nothing else brings anybody to
// the agent.
func (x *indexes) isStale(n server.AgentName) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.seen[n]
	return s.changed || s.Waiting > 0 || s.Pending > 0
}

// health adds up what is known; nil before an agent was looked at.
func (x *indexes) health() *wire.IndexHealth {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.seen) == 0 {
		return nil
	}
	var h wire.IndexHealth
	for _, s := range x.seen {
		h.Passages, h.Waiting, h.Pending, h.Model = h.Passages+s.Passages, h.Waiting+s.Waiting, h.Pending+s.Pending, s.Model
	}
	return &h
}

// completeIndexes makes vectors for agents that were written, one agent after the other. Where agents live in a database, that is done under a
// lease whose end stops it between two batches. A server that was paused for longer may write one batch beside the one that followed: both
// make the same vectors of the same passages, so the lease saves work and nothing depends on it.
func (s *Daemon) completeIndexes(ctx context.Context, report server.Report) error {
	return s.sharedRounds(ctx, report, "complete index", nil, s.completeIndex)
}

// completeIndex works on the index of one agent for a while.
func (s *Daemon) completeIndex(ctx context.Context, agent *home.Agent, _ *postgres.Lease) (detail string, err error) {
	err = s.with(ctx, agent, func(a *op.Agent) error {
		if a.Index == nil {
			return nil
		}
		made, more, err := s.indexFor(ctx, a.Index)
		if made > 0 {
			detail = words.Count(made, "vector", "vectors")
		}
		serr := s.countIndex(ctx, a, made > 0)
		if err == nil && serr == nil && more {
			return errNotNow
		}
		if err != nil && errors.Is(serr, errNotNow) {
			return err
		}
		return errors.Join(err, serr)
	})
	if amber.KindOf(err) == amber.KindBusy {
		return detail, errNotNow
	}
	return detail, err
}

// countIndex counts what is in the index of an agent, where that is due; errNotNow where it
// is not yet and has to be.
func (s *Daemon) countIndex(ctx context.Context, a *op.Agent, changed bool) error {
	name, now := server.AgentName{Tenant: a.Tenant, Agent: a.ID}, s.o.Clock()
	if !s.indexes.isDue(name, now, changed) {
		if s.indexes.isStale(name) {
			return errNotNow // no other reason need come to visit it again
		}
		return nil // the next write is one
	}
	status, err := a.Index.IndexBacklog(ctx)
	if err == nil {
		s.indexes.note(name, status, now)
	}
	return err
}

// indexFor makes vectors until all are there or the time is over, and stands back while the server
// answers requests. The vectors that it has made stay when the time is over.
func (s *Daemon) indexFor(ctx context.Context, x op.Index) (made int, more bool, err error) {
	slice, stop := context.WithCancel(ctx)
	defer stop()
	begin := s.o.Clock()
	err = x.SyncIndex(slice, func(n int) {
		if made += n; s.o.Clock().Sub(begin) >= indexSlice {
			more = true
			stop()
		}
	}, func() { s.traffic.StandBack(slice) })
	if more && ctx.Err() == nil {
		err = nil
	}
	return made, more, err
}
