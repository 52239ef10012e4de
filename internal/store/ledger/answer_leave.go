package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/amber-memory/amber/wire"
)

// leaveEvery is the pause between two attempts to note in the database that no process answers a
// request any more.
const leaveEvery = time.Second

const freeAnswer = `UPDATE answers SET holder = '' WHERE ordinal = ?`

// answering are the requests that this process is answering, and those that it has left without an end, because the
// database was away. Other processes see that this process lives, and would wait for it. So this process frees the
// requests as soon as the database answers. Safe for concurrent use.
type answering struct {
	mu      sync.Mutex
	runs    map[wire.AnswerKey]runs
	left    map[wire.AnswerKey]bool
	telling bool
	wg      sync.WaitGroup
}

// runs are those of one request.
type runs struct {
	running bool // at most one is
	ended   int  // have an end, and were not left yet
}

func (a *answering) set(k wire.AnswerKey, change func(*runs)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.runs[k]
	change(&r)
	if r == (runs{}) {
		delete(a.runs, k)
		return
	}
	if a.runs == nil {
		a.runs = map[wire.AnswerKey]runs{}
	}
	a.runs[k] = r
}

// here reports whether this process is answering a request.
func (a *answering) here(k wire.AnswerKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[k].running
}

func (a *answering) begin(k wire.AnswerKey) { a.set(k, func(r *runs) { r.running = true }) }

// end notes that a request has its end, in the transaction that gives it one; undo takes that back.
func (a *answering) end(k wire.AnswerKey) {
	a.set(k, func(r *runs) { r.running, r.ended = false, r.ended+1 })
}

func (a *answering) undo(k wire.AnswerKey) {
	a.set(k, func(r *runs) { r.running, r.ended = true, r.ended-1 })
}

// leave notes that the caller does nothing more about a request, and reports whether the request
// was cut off, which is without an end.
func (a *answering) leave(k wire.AnswerKey) (cutOff bool) {
	a.set(k, func(r *runs) {
		if r.ended > 0 {
			r.ended--
			return
		}
		r.running, cutOff = false, r.running
	})
	return cutOff
}

// tell notes in the database that a request was cut off, at once or as soon as the database answers.
func (a *answering) tell(d *DB, k wire.AnswerKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left == nil {
		a.left = map[wire.AnswerKey]bool{}
	}
	a.left[k] = true
	if !a.telling {
		a.telling = true
		a.wg.Go(func() { a.tellAll(d) })
	}
}

func (a *answering) tellAll(d *DB) {
	for {
		k, more := a.next()
		if !more {
			return
		}
		err := d.freeAnswer(d.ending, k)
		a.mu.Lock()
		if err == nil {
			delete(a.left, k)
		}
		a.mu.Unlock()
		if err == nil {
			continue
		}
		select {
		case <-d.ending.Done():
			return
		case <-time.After(leaveEvery):
		}
	}
}

func (a *answering) next() (k wire.AnswerKey, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range a.left {
		return k, true
	}
	a.telling = false
	return k, false
}

// freeAnswer gives up a request that was begun here and has no end: it was cut off for everybody then.
func (d *DB) freeAnswer(ctx context.Context, k wire.AnswerKey) error {
	return d.update(ctx, "leave answer", "", lockOf(k), func(t *tx) error {
		r, err := t.answer(k)
		if errors.Is(err, sql.ErrNoRows) || err == nil && (r.done || r.holder != d.engine.holder() || d.answering.here(k)) {
			return nil
		}
		if err == nil {
			_, err = t.exec(freeAnswer, r.ordinal)
		}
		return err
	})
}
