package server

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
)

// Budget bounds the bytes that requests of every door hold at one time: the bytes read of them, and the bytes of
// their answers until the callers have taken these. One caller takes at most half, the callers of one tenant at
// most three quarters together, so others are always answered. Safe for concurrent use.
type Budget struct {
	all *room

	mu     sync.Mutex
	shares map[string]*share
}

const (
	// RequestBytes is what the smallest request holds.
	RequestBytes = 256 << 10
	// copies is how often the text of a request or an answer lies in memory while it is worked on: as it came, as
	// records, without secrets, and as it goes out.
	copies = 4
	// maxWaiting is how many requests of one caller wait for their turn. Others are refused at once: each is a
	// connection with its buffers.
	maxWaiting = 64
)

// Weight is what a request weighs in a budget. Text counts the bytes of text that the request carries and those
// that it reads.
func Weight(text int64) int64 { return RequestBytes + copies*text }

// NewBudget returns a budget of so many bytes, or of more where two of the largest requests
// need it.
func NewBudget(whole, largest int64) *Budget {
	return &Budget{all: &room{left: max(whole, 2*largest)}, shares: map[string]*share{}}
}

// Held is what one request has of a budget. Its methods are called one after the other.
type Held struct {
	left []func(n int64) // gives back a part, to each room
	n    int64
	drop func()
}

// Keep gives back all but n bytes.
func (h *Held) Keep(n int64) {
	if n >= h.n {
		return
	}
	for _, leave := range h.left {
		leave(h.n - n)
	}
	h.n = n
}

// Leave gives everything back, once.
func (h *Held) Leave() {
	h.Keep(0)
	h.drop()
}

// Enter waits until there is room for n bytes of a caller: first in its own share, then in
// that of the tenant. Errors: busy when ctx ends before that, or too many wait.
func (b *Budget) Enter(ctx context.Context, tenant amber.TenantID, actor string, n int64) (*Held, error) {
	whole := b.all.whole()
	own, drop := b.share("caller "+string(tenant)+"/"+actor, whole/2)
	of, dropTenant := b.share("tenant "+string(tenant), whole/4*3)
	h := &Held{n: min(n, whole/2), drop: func() { drop(); dropTenant() }}
	for _, r := range []*room{own, of, b.all} {
		if err := r.enter(ctx, h.n); err != nil {
			h.Leave()
			return nil, err
		}
		h.left = append(h.left, r.leave)
	}
	return h, nil
}

// share is the part of a budget that one caller may take, or the callers of one tenant.
type share struct {
	*room
	users int // requests that hold it or wait for it
}

func (b *Budget) share(name string, most int64) (*room, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.shares[name]
	if s == nil {
		s = &share{room: &room{left: most, most: maxWaiting}}
		b.shares[name] = s
	}
	s.users++
	return s.room, func() { b.drop(name) }
}

// drop forgets the share of a caller that has no request any more.
func (b *Budget) drop(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.shares[name]; s != nil {
		if s.users--; s.users == 0 {
			delete(b.shares, name)
		}
	}
}

// room is an amount of bytes. Requests get their parts of it in the order in which they ask.
type room struct {
	mu          sync.Mutex
	left, taken int64
	most        int // of those that wait; 0: any number
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
	w := &waiter{n: n, ready: make(chan struct{})}
	r.mu.Lock()
	r.line = append(r.line, w)
	r.admit()
	crowded := r.most > 0 && len(r.line) > r.most
	r.mu.Unlock()
	if crowded {
		r.give(w)
		return tooMany()
	}
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		r.give(w)
		return tooMany()
	}
}

func tooMany() error {
	return amber.Errorf(amber.KindBusy, "take request", "", "too many requests are being answered; this one did nothing").
		WithHint("send it again in a moment")
}

// admit lets waiting requests in, in their order, for as long as there is room for the first of them.
func (r *room) admit() {
	for len(r.line) > 0 && r.line[0].n <= r.left {
		r.left -= r.line[0].n
		r.taken += r.line[0].n
		close(r.line[0].ready)
		r.line = r.line[1:]
	}
}

// give takes a request out of the line; where the request was let in already, give returns its bytes to the room.
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
