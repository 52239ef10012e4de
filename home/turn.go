package home

import (
	"container/list"
	"context"
	"sync"
)

// turns is the line writers of one process stand in, one line per store.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line
}

func newTurns() *turns { return &turns{lines: map[string]*line{}} }

// of returns the line of a store.
func (t *turns) of(store string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[store]
	if l == nil {
		l = &line{}
		t.lines[store] = l
	}
	return l
}

// line is a mutex that is granted first-in first-out and whose wait a context
// can end.
type line struct {
	mu      sync.Mutex
	held    bool
	waiting list.List // of chan struct{}, closed to grant
}

// enter waits for the turn.
func (l *line) enter(ctx context.Context) error {
	l.mu.Lock()
	if !l.held {
		l.held = true
		l.mu.Unlock()
		return nil
	}
	granted := make(chan struct{})
	place := l.waiting.PushBack(granted)
	l.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-granted: // granted while the context ended: pass it on
		l.next()
	default:
		l.waiting.Remove(place)
	}
	return ctx.Err()
}

// leave ends the turn and grants the next.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next()
}

// next hands the turn to the one that came first; l.mu is held.
func (l *line) next() {
	first := l.waiting.Front()
	if first == nil {
		l.held = false
		return
	}
	l.waiting.Remove(first)
	close(first.Value.(chan struct{}))
}
