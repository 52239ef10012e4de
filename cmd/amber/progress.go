package main

import (
	"os"
	"sync"
	"time"

	"github.com/amber-memory/amber/internal/term"
)

// meter knows how far something long is. The zero value knows nothing. It is
// safe for concurrent use.
type meter struct {
	mu    sync.Mutex
	at    term.Progress
	shown bool // on a terminal
}

// set notes what is being done and how far that is; total is 0 when that is not
// known.
func (m *meter) set(step string, done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = term.Progress{Step: oneLine(step, 40), Done: done, Total: total}
}

func (m *meter) look() term.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at
}

// show notes whether a bar may be on the terminal.
func (m *meter) show(shown bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown = shown
}

// clear is what removes the bar before something is said, "" without one.
func (m *meter) clear() string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shown {
		return "\r\x1b[K"
	}
	return ""
}

// working runs something that may take long. Where a person watches stderr a bar
// shows how far it is.
func working[T any](a *app, what string, fn func() (T, error)) (T, error) {
	a.meter.set("", 0, 0)
	if f, isFile := a.stderr.(*os.File); isFile && a.out.bars {
		tick := time.NewTicker(term.Every)
		defer tick.Stop()
		a.meter.show(true)
		defer a.meter.show(false)
		defer term.Bar{
			Out: f, What: what, Look: a.meter.look, Columns: func() int { return term.Columns(f) },
			Style: func(s string) string { return a.out.aside().style(amb, s) },
		}.Start(time.Now(), tick.C)()
	}
	return fn()
}
