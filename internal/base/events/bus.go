package events

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/amber-memory/amber"
)

// DefaultBuffer is how many events wait for a listener that does not say.
const DefaultBuffer = 256

// Bus is a publisher for listeners of the same process. Every listener gets
// the events in the order of their publication. The zero Bus is ready; it has
// no goroutines and needs no end. Safe for concurrent use; do not copy it.
type Bus struct {
	mu   sync.Mutex // also orders events
	subs []*Subscription
}

var _ Publisher = (*Bus)(nil)

// Subscription is one listener of a [Bus].
type Subscription struct {
	// C has the events. It is closed by Close, after which what had been queued
	// can still be read. The payload of an event is shared with other listeners
	// and must not be changed.
	C <-chan Event

	bus     *Bus
	pattern pattern
	queue   chan Event
	dropped atomic.Int64
	closed  bool // guarded by bus.mu
}

// Subscribe listens to the subjects that a pattern matches: "*" matches any one token, ">" at the
// end one or more, as in NATS. Buffer events may wait to be read, DefaultBuffer when it is 0; one
// more is dropped and counted. The caller closes the subscription. The error is of kind invalid.
func (b *Bus) Subscribe(subjects string, buffer int) (*Subscription, error) {
	p, err := parsePattern(subjects)
	if err != nil {
		return nil, err
	}
	if buffer < 0 {
		return nil, amber.Errorf(amber.KindInvalid, "subscribe", "", "buffer is negative, want 0 or more")
	}
	buffer = cmp.Or(buffer, DefaultBuffer)
	queue := make(chan Event, buffer)
	s := &Subscription{C: queue, bus: b, pattern: p, queue: queue}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs = append(b.subs, s)
	return s, nil
}

// Publish hands an event to every listener whose pattern matches its subject. It never waits and
// never fails: a listener whose queue is full loses the event, and [Subscription.Dropped] counts
// it.
func (b *Bus) Publish(_ context.Context, e Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.subs {
		if !s.pattern.matches(e.Subject) {
			continue
		}
		select {
		case s.queue <- e:
		default:
			s.dropped.Add(1)
		}
	}
	return nil
}

// Dropped returns how many events the listener has lost so far because it was
// slow.
func (s *Subscription) Dropped() int64 { return s.dropped.Load() }

// Close ends the subscription and closes C. It may be called twice.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	s.bus.subs = slices.DeleteFunc(s.bus.subs, func(x *Subscription) bool { return x == s })
	close(s.queue)
}
