package journal

import (
	"context"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

// group collects the appends of one session in one process, so that they
// share a sync. It has one goroutine, which lives as long as there is
// something to write. j.mu guards it.
type group struct {
	session Session
	waiting []*pending
	writing []*pending // taken by the goroutine
	crowd   int        // how many the last sync served
	came    chan struct{}
	giveUp  context.CancelFunc // ends the wait for the session's lock
}

// pending is one append under way. Its outcome is set before done is closed.
type pending struct {
	entry Entry
	done  chan struct{}
	seq   int64
	err   error
}

// Append keeps one entry and returns its sequence once it is durable. When
// ctx ends before the entry is being written, Append returns at once and
// nothing is written; after that it waits for the outcome. On an error the
// entry is not acknowledged; it may still be there when the disk failed after
// the write. Errors: invalid, quota, busy, unreachable, refused, damaged,
// too_new, internal.
func (j *Journal) Append(ctx context.Context, s Session, e Entry) (int64, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	if err := e.check(); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, ended("append", string(s.Key()), ctx)
	}
	p := &pending{entry: e, done: make(chan struct{})}
	err := j.outcome(ctx, j.join(s, p), p)
	return p.seq, err
}

// join adds an append to the group of its session.
func (j *Journal) join(s Session, p *pending) *group {
	j.mu.Lock()
	defer j.mu.Unlock()
	g := j.groups[s.Key()]
	if g == nil {
		g = &group{session: s, came: make(chan struct{}, 1), giveUp: func() {}}
		j.groups[s.Key()] = g
		go j.serve(g)
	}
	g.waiting = append(g.waiting, p)
	select {
	case g.came <- struct{}{}:
	default:
	}
	return g
}

// withdraw takes an append back and reports whether it was still waiting.
func (j *Journal) withdraw(g *group, p *pending) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(g.waiting, p)
	if i < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	close(p.done) // for those who wait for its end
	if len(g.waiting) == 0 {
		g.giveUp()
	}
	return true
}

// serve writes batch after batch until no more appends come.
func (j *Journal) serve(g *group) {
	for j.gather(g) {
		j.commit(g)
	}
}

// gather waits, where the last sync served several appends, for as many to
// come back, but no longer than the flush interval. It reports whether there
// is anything to write; if not, the group is no more.
func (j *Journal) gather(g *group) bool {
	var timer *time.Timer
	for {
		j.mu.Lock()
		n, want := len(g.waiting), min(g.crowd, j.o.MaxEntries)
		over := want <= 1 || n >= want
		if over && n == 0 {
			delete(j.groups, g.session.Key())
		}
		j.mu.Unlock()
		if over {
			return n > 0
		}
		if timer == nil {
			timer = time.NewTimer(j.o.FlushInterval)
			defer timer.Stop()
		}
		select {
		case <-g.came:
		case <-timer.C:
			j.mu.Lock()
			g.crowd = len(g.waiting)
			j.mu.Unlock()
		}
	}
}

// maxRemovals is how often a session may be removed under an append.
const maxRemovals = 5

// commit writes what waits when the session's lock is there.
func (j *Journal) commit(g *group) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !j.begin(g, cancel) {
		return
	}
	key := g.session.Key()
	write := func() (err error) {
		defer func() {
			if r := recover(); r != nil { // a bug must not take the program down with it
				err = amber.Errorf(amber.KindInternal, "append", string(key), "panic: %v", r)
			}
		}()
		return j.lockedTelling(ctx, key, func(b bool) { j.tellBlocked(g, b) }, func() error { return j.writeBatch(g) })
	}
	err := write()
	for range maxRemovals { // the session is new, or was removed meanwhile
		if amber.KindOf(err) != amber.KindNotFound {
			break
		}
		if err = j.makeFolder(key); err == nil {
			err = write()
		}
	}
	if err != nil && ctx.Err() == nil {
		j.fail(g, err)
	}
	j.finish(g)
}

// tellBlocked tells those who wait whether they wait for another process.
func (j *Journal) tellBlocked(g *group, blocked bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range g.waiting {
		if p.entry.Blocked != nil {
			p.entry.Blocked(blocked)
		}
	}
}

// begin lets the last to withdraw end the wait for the session's lock. It
// reports whether anybody waits at all.
func (j *Journal) begin(g *group, giveUp context.CancelFunc) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	g.giveUp = giveUp
	return len(g.waiting) > 0
}

func (j *Journal) writeBatch(g *group) error {
	j.appendLocked(g.session, j.take(g))
	return nil
}

// maxBatch bounds the bytes one write takes, beside its last entry.
const maxBatch = 1 << 20

// take moves appends from those that wait to those that are written.
func (j *Journal) take(g *group) []*pending {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, bytes := 0, 0
	for n < min(len(g.waiting), j.o.MaxEntries) && bytes < maxBatch {
		bytes += len(g.waiting[n].entry.Payload)
		n++
	}
	g.writing = slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return g.writing
}

// fail gives everybody who waits, or was being served, the same error.
func (j *Journal) fail(g *group, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	g.writing, g.waiting = append(g.writing, g.waiting...), nil
	for _, p := range g.writing {
		p.seq, p.err = 0, err
	}
}

// finish tells everybody who was served.
func (j *Journal) finish(g *group) {
	j.mu.Lock()
	defer j.mu.Unlock()
	g.crowd = len(g.writing)
	for _, p := range g.writing {
		close(p.done)
	}
	g.writing = nil
	g.giveUp = func() {}
}
