package server

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// AgentName names an agent of a home.
type AgentName = wire.AgentName

// Feed is what listeners of one agent share: the ends of its two change logs, read
// once for all of them. It never holds up a write, and it holds no agent open.
// Safe for concurrent use.
type Feed struct {
	Memory, Control events.Tail

	name      AgentName
	listeners int         // guarded by Feeds.mu
	queued    atomic.Bool // a reading is queued and has not begun yet
	seen      sight       // of the one goroutine that looks at files

	mu   sync.Mutex
	news chan struct{} // closed when there is something new
	err  error         // of the last reading
}

// News returns a channel that is closed as soon as something new was read, or the logs could not be read: Err
// returns the error then. Take the channel before you ask the tails, so that you miss nothing.
func (f *Feed) News() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.news
}

// Over returns the logs of an agent as the feed knows them: what is in memory is
// not read again.
func (f *Feed) Over(memory, control amber.ChangeLog) (m, c amber.ChangeLog) {
	if f == nil {
		return memory, control
	}
	return f.Memory.Over(memory), f.Control.Over(control)
}

// Refresh reads what is new in both logs of the agent and wakes the listeners. A
// nil Feed has none. Errors: those of the change logs.
func (f *Feed) Refresh(ctx context.Context, a *op.Agent) error {
	if f == nil {
		return nil
	}
	memory, err := f.Memory.Refresh(ctx, a.Store.Changes)
	control := false
	if err == nil {
		control, err = f.Control.Refresh(ctx, a.Store.ControlChanges)
	}
	f.done(memory || control, err)
	return err
}

// done notes how a reading ended, and wakes the listeners where there is news or an error for them.
func (f *Feed) done(news bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	if news || err != nil && amber.KindOf(err) != amber.KindBusy {
		close(f.news)
		f.news = make(chan struct{})
	}
}

// Err returns why the logs could not be read the last time; nil when they were.
func (f *Feed) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
