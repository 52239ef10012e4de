package snapshottest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until it is told to move. It is safe for
// concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows some Thursday morning in UTC.
func NewClock() *Clock { return &Clock{now: time.Date(2026, time.March, 12, 9, 30, 0, 0, time.UTC)} }

// Now returns the time the clock shows; it is an [amber.Clock].
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
