package home

import (
	"sync"

	"github.com/amber-memory/amber/internal/base/fifo"
)

// turns is the line writers of one process stand in, one line per store.
type turns struct {
	mu    sync.Mutex
	lines map[string]*fifo.Line
}

func newTurns() *turns { return &turns{lines: map[string]*fifo.Line{}} }

// of returns the line of a store.
func (t *turns) of(store string) *fifo.Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[store]
	if l == nil {
		l = &fifo.Line{}
		t.lines[store] = l
	}
	return l
}
