package home

import (
	"sync"

	"github.com/amber-memory/amber/internal/base/line"
)

// turns is the line writers of one process stand in, one line per store.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line.Line
}

func newTurns() *turns { return &turns{lines: map[string]*line.Line{}} }

// of returns the line of a store.
func (t *turns) of(store string) *line.Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[store]
	if l == nil {
		l = &line.Line{}
		t.lines[store] = l
	}
	return l
}
