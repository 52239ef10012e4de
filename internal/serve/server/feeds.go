package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/op"
)

// How feeds find writes of other processes while an agent has listeners.
const (
	lookInterval = 20 * time.Millisecond
	// netInterval is how often the logs are read where the files look unchanged:
	// equal size and time do not prove equal content.
	netInterval = time.Second
	// retryInterval is how often logs are read that could not be read before.
	retryInterval = 100 * time.Millisecond
	// settleReads is how many more looks read the logs after the files of an agent
	// have changed: a second write may leave the time of a file as the first did.
	settleReads = 2
)

// Feeds read the change logs of the agents that have listeners. Each log is read once, however many listeners there
// are. Make it with [NewFeeds]. Safe for concurrent use.
type Feeds struct {
	agents Agents
	mark   func(AgentName) string
	exact  bool           // equal marks prove that nothing was written
	wg     sync.WaitGroup // readings under way
	joined chan struct{}  // has an element after the first listener has come

	mu    sync.Mutex
	feeds map[AgentName]*Feed
}

// NewFeeds returns feeds without listeners. Mark returns another text whenever the files of an agent have changed,
// and opens none of them; it returns "" where it cannot find that out. Mark is nil where only this process writes.
func NewFeeds(agents Agents, mark func(AgentName) string) *Feeds {
	return &Feeds{agents: agents, mark: mark, joined: make(chan struct{}, 1), feeds: map[AgentName]*Feed{}}
}

// NewExactFeeds is [NewFeeds] for marks that are equal only where nothing was written: the logs of an agent whose mark is known are read
// when it changes, and not otherwise.
func NewExactFeeds(agents Agents, mark func(AgentName) string) *Feeds {
	f := NewFeeds(agents, mark)
	f.exact = true
	return f
}

// Watched lists the agents that have listeners.
func (f *Feeds) Watched() (names []AgentName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range f.feeds {
		names = append(names, n)
	}
	return names
}

// Join returns the feed of an agent for one more listener. Its tails begin where
// the logs end, or earlier. Leave is called once, when the listener goes. Errors:
// those of the change logs.
func (f *Feeds) Join(ctx context.Context, a *op.Agent) (feed *Feed, leave func(), err error) {
	n := AgentName{Tenant: a.Tenant, Agent: a.ID}
	f.mu.Lock()
	feed = f.feeds[n]
	if feed == nil {
		feed = &Feed{name: n, news: make(chan struct{})}
		f.feeds[n] = feed
	}
	feed.listeners++
	first := feed.listeners == 1
	f.mu.Unlock()
	leave = sync.OnceFunc(func() { f.leave(feed) })
	if _, known := feed.Control.Head(); !known {
		if err := feed.Refresh(ctx, a); err != nil {
			leave()
			return nil, nil, err
		}
	}
	if first {
		select {
		case f.joined <- struct{}{}:
		default:
		}
	}
	return feed, leave, nil
}

// leave counts one listener less; the feed goes with the last one.
func (f *Feeds) leave(feed *Feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if feed.listeners--; feed.listeners == 0 {
		delete(f.feeds, feed.name)
	}
}

// Of returns the feed of an agent; nil if it has no listener.
func (f *Feeds) Of(n AgentName) *Feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.feeds[n]
}

// Changed says that this process may have changed an agent. If the agent has listeners, its logs are read at once,
// in the background: Changed does not wait for that.
func (f *Feeds) Changed(n AgentName) {
	if feed := f.Of(n); feed != nil {
		f.hurry(feed)
	}
}

// hurry reads the logs of an agent in the background. A reading that is queued and has not begun yet serves every
// caller that asks meanwhile.
func (f *Feeds) hurry(feed *Feed) {
	if !feed.queued.CompareAndSwap(false, true) {
		return
	}
	f.wg.Go(func() {
		ctx := context.Background() // bounded by the agents, which end with the server
		a, release, err := f.agents.Agent(ctx, feed.name.Tenant, feed.name.Agent, false)
		feed.queued.Store(false) // a write from here on needs another reading
		if err != nil {
			feed.done(false, err)
			return
		}
		defer release()
		_ = feed.Refresh(ctx, a) // kept in the feed
	})
}

// Run looks for writes of other processes to the agents that have listeners, until ctx ends.
func (f *Feeds) Run(ctx context.Context, report Report) error {
	defer f.wg.Wait()
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for round := 0; ctx.Err() == nil; round++ {
		feeds := f.all()
		if len(feeds) == 0 {
			report("no listener", nil)
			select {
			case <-ctx.Done():
			case <-f.joined:
			}
			continue
		}
		net, again := round%int(netInterval/lookInterval) == 0, round%int(retryInterval/lookInterval) == 0
		for _, feed := range feeds {
			mark := f.look(feed.name)
			if feed.seen.changed(mark, f.exact) || net && (!f.exact || mark == "") || again && feed.Err() != nil {
				f.hurry(feed)
			}
		}
		if net {
			report(words.Count(len(feeds), "agent has", "agents have")+" listeners", failures(feeds))
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}

func (f *Feeds) look(n AgentName) string {
	if f.mark == nil {
		return ""
	}
	return f.mark(n)
}

// all lists the feeds that have listeners.
func (f *Feeds) all() (feeds []*Feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, feed := range f.feeds {
		feeds = append(feeds, feed)
	}
	return feeds
}

// failures joins the errors of feeds that could not be read. It leaves out that too many agents are in use: the
// next look may find room.
func failures(feeds []*Feed) error {
	var errs []error
	for _, feed := range feeds {
		if err := feed.Err(); err != nil && amber.KindOf(err) != amber.KindBusy {
			errs = append(errs, fmt.Errorf("%s/%s: %w", feed.name.Tenant, feed.name.Agent, err))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return JoinSome(errs)
}

// sight is what was seen of the files of an agent.
type sight struct {
	mark string
	more int // looks that read although nothing has changed since
}

// changed takes another look and reports whether the logs are to be read.
func (s *sight) changed(mark string, exact bool) bool {
	if mark != s.mark {
		s.mark = mark
		if !exact {
			s.more = settleReads
		}
		return true
	}
	if s.more > 0 {
		s.more--
		return true
	}
	return false
}
