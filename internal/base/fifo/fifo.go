// Package fifo is the line that writers of one process stand in.
package fifo

import (
	"container/list"
	"context"
	"sync"
)

// Line is a mutex that is granted first-in first-out and whose wait a context
// can end. The holder may take the work of those behind instead of
// letting each have the mutex.
type Line struct {
	mu      sync.Mutex
	held    bool
	waiting list.List // of *place
}

// place is that of a waiter.
type place struct {
	work   any           // that the holder of the turn may take; nil: it may not
	called chan struct{} // closed when the turn is granted or the work was taken
	taken  bool          // set before called is closed
}

// Enter waits for the turn.
func (l *Line) Enter(ctx context.Context) error {
	_, err := l.Join(ctx, nil)
	return err
}

// Join waits for the turn, or until the one who has it took the work. From
// then on the end of the context changes nothing.
func (l *Line) Join(ctx context.Context, work any) (taken bool, err error) {
	l.mu.Lock()
	if !l.held {
		l.held = true
		l.mu.Unlock()
		return false, nil
	}
	p := &place{work: work, called: make(chan struct{})}
	at := l.waiting.PushBack(p)
	l.mu.Unlock()
	select {
	case <-p.called:
		return p.taken, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-p.called:
		if p.taken {
			return true, nil
		}
		l.next() // granted while the context ended: pass it on
	default:
		l.waiting.Remove(at)
	}
	return false, ctx.Err()
}

// Take takes the work of the first in line, for the one who has the turn. It
// reports false when the line is empty, or the work of the first may not be
// taken.
func (l *Line) Take() (work any, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takeFirst()
}

// TakeIf is Take for work that is wanted: it reports false where wanted does not say so of the first in line.
func (l *Line) TakeIf(wanted func(work any) bool) (work any, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.waiting.Front(); first == nil || first.Value.(*place).work == nil || !wanted(first.Value.(*place).work) {
		return nil, false
	}
	return l.takeFirst()
}

// takeFirst is Take for a caller that holds l.mu.
func (l *Line) takeFirst() (work any, ok bool) {
	first := l.waiting.Front()
	if first == nil || first.Value.(*place).work == nil {
		return nil, false
	}
	p := l.waiting.Remove(first).(*place)
	p.taken = true
	close(p.called)
	return p.work, true
}

// Leave ends the turn and grants the next.
func (l *Line) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next()
}

// next hands the turn to the one that came first; l.mu is held.
func (l *Line) next() {
	first := l.waiting.Front()
	if first == nil {
		l.held = false
		return
	}
	close(l.waiting.Remove(first).(*place).called)
}

// Lines are lines by what their writers write to. The zero value is ready.
type Lines[K comparable] struct{ all sync.Map }

// Of returns the line of a key.
func (l *Lines[K]) Of(key K) *Line {
	line, _ := l.all.LoadOrStore(key, &Line{})
	return line.(*Line)
}
