package vaultapi

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// Rates are how much one agent may ask for, all of its tokens together. 0 is no
// bound.
type Rates struct {
	RequestsPerMinute int
	OperationsPerHour int // changes of files, all kinds together
	SearchesPerHour   int
	ExportsPerHour    int
	// MaxChars bounds the content of a file before the handler looks at it any closer; 0: DefaultMaxChars.
	MaxChars int
}

// bucket is what is counted together.
type bucket int

const (
	requests bucket = iota
	operations
	searches
	exports
	free // not counted but as a request
)

// bound returns how many of a bucket there may be, in which time, and what they
// are called.
func (r Rates) bound(b bucket) (most int, span time.Duration, what string) {
	switch b {
	case requests:
		return r.RequestsPerMinute, time.Minute, "requests per minute"
	case operations:
		return r.OperationsPerHour, time.Hour, "file operations per hour"
	case searches:
		return r.SearchesPerHour, time.Hour, "searches per hour"
	case exports:
		return r.ExportsPerHour, time.Hour, "exports per hour"
	}
	return 0, 0, ""
}

func (h *Handler) ratesOf(tenant amber.TenantID) Rates {
	if h.o.Rates == nil {
		return Rates{}
	}
	return h.o.Rates(tenant)
}

// take counts a call in a bucket. The error says that it is full, and until when.
func (h *Handler) take(c *call, b bucket) error {
	g := c.who.Grant
	most, span, what := h.ratesOf(g.Tenant).bound(b)
	if most <= 0 {
		return nil
	}
	now := h.o.Clock()
	left, wait := h.rates.take(counted{g.Tenant, g.Agent, b}, most, span, now)
	header := c.w.Header()
	header.Set("X-RateLimit-Limit", strconv.Itoa(most))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(max(left, 0)))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(wait).Unix(), 10))
	if left >= 0 {
		return nil
	}
	p := newProblem(http.StatusTooManyRequests, "RATE_LIMIT", fmt.Sprintf("More than %d %s", most, what))
	p.wait = max(int(math.Ceil(wait.Seconds())), 1)
	return p
}

// rates count what agents asked for in the last minute and hour. The zero value
// is ready.
type rates struct {
	mu   sync.Mutex
	seen map[counted][]time.Time // in order, none empty
	full int                     // how many there are before some are forgotten; 0: sweepFrom
}

type counted struct {
	tenant amber.TenantID
	agent  amber.AgentID
	bucket bucket
}

// sweepFrom is how many agents are remembered before the sweep forgets those that have made no request for long.
const sweepFrom = 4096

// take counts one more, and returns how many are left and how long it takes until
// there is one more. Left is below 0 when there was none; then it is not counted.
func (r *rates) take(k counted, most int, span time.Duration, now time.Time) (left int, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := recent(r.seen[k], span, now)
	if len(at) < most {
		at = append(at, now)
		left = most - len(at)
	} else {
		left = -1
	}
	if r.seen == nil {
		r.seen = map[counted][]time.Time{}
	}
	if len(r.seen) >= max(r.full, sweepFrom) {
		r.sweep(now)
	}
	r.seen[k] = at
	return left, at[max(len(at)-most, 0)].Add(span).Sub(now)
}

// recent leaves out what is over, and what a clock that was set back since has
// yet to come to.
func recent(at []time.Time, span time.Duration, now time.Time) []time.Time {
	from := now.Add(-span)
	kept := at[:0]
	for _, t := range at {
		if t.After(from) && !t.After(now) {
			kept = append(kept, t)
		}
	}
	return kept
}

// sweep forgets callers that have not asked for an hour. It is not done again before
// there are twice as many.
func (r *rates) sweep(now time.Time) {
	from := now.Add(-time.Hour)
	for k, at := range r.seen {
		if at[len(at)-1].Before(from) {
			delete(r.seen, k)
		}
	}
	r.full = 2 * len(r.seen)
}
