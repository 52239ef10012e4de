package server

import (
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// Bounds of what is folded.
const (
	foldFor  = time.Minute
	foldMost = 1024 // attempts that are remembered
)

// repeats remembers what somebody was told no to a short while ago. A token
// that may change nothing could fill the disk with its attempts otherwise. The
// zero value is ready.
type repeats struct {
	mu   sync.Mutex
	seen map[attempt]time.Time
}

// attempt is all that the repeats of one have in common. Ids are not: a caller that
// asks makes them up.
type attempt struct{ actor, action, outcome string }

// folds reports whether the outcome is that of somebody who asked for what is
// not theirs, or not there.
func (a attempt) folds() bool {
	return a.outcome == string(amber.KindRefused) || a.outcome == string(amber.KindNotFound)
}

// again reports whether the same was tried within the last minute of what was
// written down; if not, this one is remembered.
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
