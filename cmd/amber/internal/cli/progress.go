package cli

import (
	"os"
	"sync"
	"time"

	"github.com/amber-memory/amber/internal/base/term"
)

// Meter knows how far something long is. The zero value knows nothing. It is
// safe for concurrent use.
type Meter struct {
	mu    sync.Mutex
	at    term.Progress
	shown bool // on a terminal
}

// Set notes what is being done and how far that is; total is 0 when that is not
// known.
func (m *Meter) Set(step string, done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = term.Progress{Step: OneLine(step, 40), Done: done, Total: total}
}

func (m *Meter) look() term.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at
}

// show notes whether a bar may be on the terminal.
func (m *Meter) show(shown bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown = shown
}

// clear is what removes the bar before something is said, "" without one.
func (m *Meter) clear() string {
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

// Working runs something that may take long. Where a person watches stderr a bar
// shows how far it is.
func Working[T any](a *App, what string, fn func() (T, error)) (T, error) {
	a.Meter.Set("", 0, 0)
	if f, isFile := a.Stderr.(*os.File); isFile && a.Out.Bars {
		tick := time.NewTicker(term.Every)
		defer tick.Stop()
		a.Meter.show(true)
		defer a.Meter.show(false)
		defer term.Bar{
			Out: f, What: what, Look: a.Meter.look, Columns: func() int { return term.Columns(f) },
			Style: func(s string) string { return a.Out.Aside().Style(Amb, s) },
		}.Start(time.Now(), tick.C)()
	}
	return fn()
}
