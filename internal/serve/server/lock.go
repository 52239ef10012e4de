package server

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
)

// locks keep apart the callers that read, change and write back a part of one agent that has no revision to
// compare. The zero value is ready.
type locks struct {
	mu   sync.Mutex
	held map[AgentName]*lock // of agents whose lock a caller holds or waits for
}

// lock is the lock of one agent.
type lock struct {
	taken chan struct{} // one element while a caller holds the lock
	users int           // callers that hold the lock or wait for it; guarded by locks.mu
}

// Alone waits for the lock on those parts of an agent that have no revisions, above
// all its notes, and holds it until unlock is called, which may be called twice. The
// lock does not stop processes that do not use this desk. Errors: unreachable when
// ctx ends before.
func (d *Desk) Alone(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (unlock func(), err error) {
	return d.locks.take(ctx, AgentName{Tenant: tenant, Agent: agent})
}

func (l *locks) take(ctx context.Context, n AgentName) (unlock func(), err error) {
	k := l.join(n)
	select {
	case k.taken <- struct{}{}:
		return sync.OnceFunc(func() {
			<-k.taken
			l.leave(n, k)
		}), nil
	case <-ctx.Done():
		l.leave(n, k)
		return nil, &amber.Error{Op: "wait for agent", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
}

// join finds or makes the lock of an agent and counts one more user of it.
func (l *locks) join(n AgentName) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.held[n]
	if !ok {
		if l.held == nil {
			l.held = map[AgentName]*lock{}
		}
		k = &lock{taken: make(chan struct{}, 1)}
		l.held[n] = k
	}
	k.users++
	return k
}

// leave counts one user less, and forgets the lock after the last.
func (l *locks) leave(n AgentName, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.held, n)
	}
}
