package inmem

import (
	"context"

	"github.com/amber-memory/amber"
)

var _ amber.Queue = (*Store)(nil)

// entryState is where an entry of the queue stands.
//
//	publish -> queued -claim-> leased -ack-> acked
//	             ^               |
//	             +-- attempts left, none left -> dead
type entryState int

const (
	queued entryState = iota
	leased
	acked
	dead
)

// entry is one entry of the queue, for good: an id is published once.
type entry struct {
	published amber.Envelope
	state     entryState
	attempt   int
	notBefore amber.Time  // of the next claim
	lease     amber.Lease // the last one
	reasons   []string    // one per failed attempt
	deadAt    amber.Time
}

// envelope returns what was published, with the attempts so far.
func (e *entry) envelope() amber.Envelope {
	env := e.published
	env.Attempt = e.attempt
	return env
}

func (e *entry) due(now amber.Time) bool { return e.state == queued && !now.Before(e.notBefore) }

// expired reports whether the entry is leased under a lease that is over.
func (e *entry) expired(now amber.Time) bool {
	return e.state == leased && !now.Before(e.lease.ExpiresAt)
}

// queue is the dispatch queue.
type queue struct {
	entries []*entry       // in order of publishing
	fence   int64          // the last one issued
	issued  map[node]int64 // the last one issued for each node
	byID    map[string]*entry
}

func newQueue() queue { return queue{issued: map[node]int64{}, byID: map[string]*entry{}} }

// count returns how many entries are in a state.
func (q *queue) count(state entryState) int {
	n := 0
	for _, e := range q.entries {
		if e.state == state {
			n++
		}
	}
	return n
}

// next returns the entry to claim: the highest priority, then the oldest; nil
// when none is due.
func (q *queue) next(now amber.Time) *entry {
	var best *entry
	for _, e := range q.entries {
		if e.due(now) && (best == nil || e.published.Priority > best.published.Priority) {
			best = e
		}
	}
	return best
}

// steady is the time of the queue: the clock's, or that of the newest change
// where the clock is behind it, so that a clock set back neither shortens nor
// revives a lease.
func (s *Store) steady() amber.Time {
	now := s.now()
	if last := s.control.stamp.Time(); now.Before(last) {
		return last
	}
	return now
}

func (s *Store) logEntry(now amber.Time, op amber.Op, e *entry) {
	s.logControl(now, op, "queue/"+e.published.EntryID)
}

// Publish implements [amber.Queue].
func (s *Store) Publish(ctx context.Context, env amber.Envelope) error {
	env, err := env.Normalize()
	if err != nil {
		return err
	}
	return do(ctx, s, "publish entry", func() error {
		if e := s.queue.byID[env.EntryID]; e != nil {
			if e.published != env {
				return conflict("publish entry", env.EntryID, "an entry with this id and other content was published")
			}
			return nil
		}
		if n := s.queue.count(queued); n >= s.limits.MaxQueued {
			return amber.Errorf(amber.KindQuota, "publish entry", env.EntryID, "%d entries wait already, which is the limit", n)
		}
		e := &entry{published: env, notBefore: env.NotBefore}
		s.queue.entries = append(s.queue.entries, e)
		s.queue.byID[env.EntryID] = e
		s.logEntry(s.steady(), amber.OpInsert, e)
		return nil
	})
}

// Claim implements [amber.Queue].
func (s *Store) Claim(ctx context.Context, consumerID string) (amber.Claim, error) {
	if err := amber.CheckID("consumer id", consumerID); err != nil {
		return amber.Claim{}, err
	}
	return run(ctx, s, "claim entry", func() (amber.Claim, error) {
		now := s.steady()
		s.takeBackExpired(now)
		if s.queue.count(leased) >= s.limits.MaxInFlight {
			return amber.Claim{}, amber.ErrQueueFull
		}
		e := s.queue.next(now)
		if e == nil {
			return amber.Claim{}, amber.ErrQueueEmpty
		}
		token, err := s.newID(now)
		if err != nil {
			return amber.Claim{}, err
		}
		return s.hand(now, e, consumerID, token), nil
	})
}

// hand leases an entry to a consumer under a fence larger than every one
// before.
func (s *Store) hand(now amber.Time, e *entry, consumerID, token string) amber.Claim {
	s.queue.fence++
	s.queue.issued[node{e.published.TaskID, e.published.NodeID}] = s.queue.fence
	e.state = leased
	e.attempt++
	e.lease = amber.Lease{
		EntryID: e.published.EntryID, ConsumerID: consumerID, Token: token,
		Fence: s.queue.fence, ExpiresAt: now.Add(s.limits.Lease),
	}
	s.logEntry(now, amber.OpUpdate, e)
	return amber.Claim{Envelope: e.envelope(), Lease: e.lease}
}
