package server

import (
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// Bounds of what repeats remembers.
const (
	foldFor  = time.Minute
	foldMost = 1024 // attempts that are remembered
)

// repeats remembers the attempts that were refused a short while ago. Without it, a token that may change nothing
// could fill the disk with entries about its attempts. The zero value is ready.
type repeats struct {
	mu   sync.Mutex
	seen map[attempt]time.Time
}

// attempt is all that repeated attempts have in common. Ids are not part of it: a caller can make up as many as it
// likes.
type attempt struct{ actor, action, outcome string }

// folds reports whether the caller asked for a thing that is not its own, or that is not there.
func (a attempt) folds() bool {
	return a.outcome == string(amber.KindRefused) || a.outcome == string(amber.KindNotFound)
}

// again reports whether the same attempt was written down within the last minute; if not, again remembers this one.
func (r *repeats) again(a attempt, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.seen[a]; ok && now.Sub(at) < foldFor && !now.Before(at) {
		return true
	}
	if len(r.seen) >= foldMost {
		r.seen = nil // one entry more for each is a small price
	}
	if r.seen == nil {
		r.seen = map[attempt]time.Time{}
	}
	r.seen[a] = now
	return false
}

// forget says that an attempt was not written down after all.
func (r *repeats) forget(a attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, a)
}
