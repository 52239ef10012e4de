package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// meter knows how far something long is. The zero value knows nothing. It is
// safe for concurrent use.
type meter struct {
	mu          sync.Mutex
	step        string
	done, total int64
}

// set notes what is being done and how far that is; total is 0 when nobody
// knows.
func (m *meter) set(step string, done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step, m.done, m.total = step, done, total
}

// String tells the step and how much of it is done.
func (m *meter) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.step == "":
		return ""
	case m.total <= 0:
		return ": " + oneLine(m.step, 40)
	}
	return fmt.Sprintf(": %s %d %%", oneLine(m.step, 40), int(100*float64(m.done)/float64(m.total)))
}

// working runs something that may take long. On a terminal it says so once a
// second has passed, on one line that is gone when fn is done.
func working[T any](a *app, what string, fn func() (T, error)) (T, error) {
	a.meter.set("", 0, 0)
	f, isFile := a.stderr.(*os.File)
	if isFile && isTerminal(f) && !a.global.quiet && !a.global.json {
		defer tellTime(f, what, &a.meter)()
	}
	return fn()
}

// tellTime writes how long something takes and how far it is, every second.
// The function it returns ends that.
func tellTime(w io.Writer, what string, m *meter) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		start, tick := time.Now(), time.NewTicker(time.Second)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case now := <-tick.C:
				shown = true
				fmt.Fprintf(w, "\r\x1b[Kamber: %s, %d s%s", what, int(now.Sub(start).Seconds()), m)
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}
