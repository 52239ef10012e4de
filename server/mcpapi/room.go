package mcpapi

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
)

// roomBytes bounds what requests that are read and answered at the same time
// weigh together; where one alone may weigh more, there is room for two.
const roomBytes = 64 << 20

// leastWeight is the weight of a small request: what it takes to answer it.
const leastWeight = 256 << 10

// weightOf is what a request weighs, by the length it declares; less than 0 is
// unknown.
func weightOf(length, most int64) int64 {
	if length < 0 || length > most {
		length = most
	}
	return leastWeight + length
}

// crowdedRoom is a room of which one caller takes at most half.
type crowdedRoom struct {
	all *room

	mu     sync.Mutex
	shares map[string]*share
}

// share is the part of a room that one caller may take.
type share struct {
	*room
	users int // requests that hold it or wait for it
}

func newCrowdedRoom(largest int64) *crowdedRoom {
	return &crowdedRoom{all: &room{left: max(roomBytes, 2*weightOf(largest, largest))}, shares: map[string]*share{}}
}

// enter waits until there is room for n bytes, first in the caller's own share.
// Errors: busy when ctx ends before that.
func (c *crowdedRoom) enter(ctx context.Context, actor string, n int64) (leave func(), err error) {
	own := c.shareOf(actor)
	if err := own.enter(ctx, n); err != nil {
		c.drop(actor)
		return nil, err
	}
	if err := c.all.enter(ctx, n); err != nil {
		own.leave(n)
		c.drop(actor)
		return nil, err
	}
	return func() {
		c.all.leave(n)
		own.leave(n)
		c.drop(actor)
	}, nil
}

func (c *crowdedRoom) shareOf(actor string) *share {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.shares[actor]
	if s == nil {
		s = &share{room: &room{left: c.all.whole() / 2}}
		c.shares[actor] = s
	}
	s.users++
	return s
}

// drop forgets the share of a caller who has no request any more.
func (c *crowdedRoom) drop(actor string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.shares[actor]; s != nil {
		if s.users--; s.users == 0 {
			delete(c.shares, actor)
		}
	}
}

// room is an amount of bytes that is handed out in the order it is asked for.
type room struct {
	mu          sync.Mutex
	left, taken int64
	line        []*waiter
}

type waiter struct {
	n     int64
	ready chan struct{}
}

func (r *room) whole() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left + r.taken
}

func (r *room) enter(ctx context.Context, n int64) error {
	r.mu.Lock()
	w := &waiter{n: n, ready: make(chan struct{})}
	r.line = append(r.line, w)
	r.admit()
	r.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		r.give(w)
		return amber.Errorf(amber.KindBusy, "take request", "", "too many requests are being answered")
	}
}

// admit lets those in front of the line in for whom there is room.
func (r *room) admit() {
	for len(r.line) > 0 && r.line[0].n <= r.left {
		r.left -= r.line[0].n
		r.taken += r.line[0].n
		close(r.line[0].ready)
		r.line = r.line[1:]
	}
}

// give takes somebody out of the line, or back what they were given.
func (r *room) give(w *waiter) {
	r.mu.Lock()
	for i, other := range r.line {
		if other == w {
			r.line = append(r.line[:i:i], r.line[i+1:]...)
			r.admit()
			r.mu.Unlock()
			return
		}
	}
	r.mu.Unlock()
	r.leave(w.n)
}

func (r *room) leave(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += n
	r.taken -= n
	r.admit()
}
