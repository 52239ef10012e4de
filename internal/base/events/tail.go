package events

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
)

// TailSize is how many entries a [Tail] keeps.
const TailSize = 512

// Tail is the end of a change log, kept in memory for everybody who follows the
// log: one reader calls Refresh, and any number of listeners ask Changes with
// positions of their own. The zero Tail is empty and knows no position. Safe for
// concurrent use.
type Tail struct {
	refresh sync.Mutex // one reader at a time

	mu      sync.Mutex
	known   bool           // base is set
	base    amber.Position // the position before the first entry
	entries []amber.Change // at most TailSize
}

// Refresh reads what the log holds after the last entry of the tail, and reports
// whether there was something. The first call, and a call after a restore has
// replaced the log, begin anew at the head of the log. A backend without a change
// log has an empty one. Errors: those of the log.
func (t *Tail) Refresh(ctx context.Context, log amber.ChangeLog) (news bool, err error) {
	t.refresh.Lock()
	defer t.refresh.Unlock()
	for {
		at, known := t.Head()
		if !known {
			return t.begin(ctx, log)
		}
		changes, err := log.Changes(ctx, at, batch)
		switch amber.KindOf(err) {
		case "":
		case amber.KindUnsupported:
			return news, nil
		case amber.KindConflict:
			return t.begin(ctx, log)
		default:
			return news, err
		}
		t.add(changes)
		news = news || len(changes) > 0
		if len(changes) < batch {
			return news, nil
		}
	}
}

// begin empties the tail and moves it to the head of the log.
func (t *Tail) begin(ctx context.Context, log amber.ChangeLog) (bool, error) {
	head, err := log.Head(ctx)
	if err != nil && amber.KindOf(err) != amber.KindUnsupported {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known, t.base, t.entries = true, head, nil
	return true, nil
}

// add appends entries and drops the oldest ones.
func (t *Tail) add(changes []amber.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries = append(t.entries, changes...)
	if over := len(t.entries) - TailSize; over > 0 {
		t.base = t.entries[over-1].Position
		t.entries = append([]amber.Change(nil), t.entries[over:]...)
	}
}

// Head returns the position of the newest entry that was read; known is false
// before the first Refresh.
func (t *Tail) Head() (at amber.Position, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.entries); n > 0 {
		return t.entries[n-1].Position, true
	}
	return t.base, t.known
}

// Changes returns up to limit entries after a position, oldest first. Found is
// false where the tail does not hold the position: the caller reads the log then.
// The entries are shared and must not be changed.
func (t *Tail) Changes(after amber.Position, limit int) (changes []amber.Change, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known {
		return nil, false
	}
	// Listeners are most often at the end.
	for i := len(t.entries); i >= 0; i-- {
		at := t.base
		if i > 0 {
			at = t.entries[i-1].Position
		}
		if at == after {
			return t.entries[i:min(len(t.entries), i+max(0, limit))], true
		}
	}
	return nil, false
}

// Over returns a change log that answers from the tail where it can, and from log
// otherwise.
func (t *Tail) Over(log amber.ChangeLog) amber.ChangeLog { return tailed{t, log} }

type tailed struct {
	tail *Tail
	log  amber.ChangeLog
}

// Changes implements [amber.ChangeLog].
func (l tailed) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	if changes, found := l.tail.Changes(after, limit); found {
		return changes, nil
	}
	return l.log.Changes(ctx, after, limit)
}

// ChangesBefore implements [amber.ChangeLog].
func (l tailed) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	return l.log.ChangesBefore(ctx, q)
}

// Head implements [amber.ChangeLog].
func (l tailed) Head(ctx context.Context) (amber.Position, error) {
	if head, known := l.tail.Head(); known && head != "" {
		return head, nil
	}
	return l.log.Head(ctx)
}
