package storetest

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// Clock is a clock that stands still until a check moves it. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows start.
func NewClock(start time.Time) *Clock { return &Clock{now: start} }

// Now returns the time the clock shows; it is an [amber.Clock].
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d; a negative d sets it back.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// start is when every check and every history begins. It lies on a whole
// second, so that advances by round durations give round times.
func start() time.Time { return time.Date(2026, time.March, 14, 9, 30, 0, 0, time.UTC) }

// NewRandom returns an endless reader of bytes that depend on nothing but
// seed. It is safe for concurrent use.
func NewRandom(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return &random{source: rand.NewChaCha8(key)}
}

type random struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (r *random) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Read(p)
}
