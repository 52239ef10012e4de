package term

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Patience is how long work takes before a bar shows.
const Patience = 500 * time.Millisecond

// Every is how often a bar is drawn anew.
const Every = 200 * time.Millisecond

// Progress is how far work is. Total is 0 where that is not known.
type Progress struct {
	Step        string
	Done, Total int64
}

// Bar shows how far work is, on one line that is gone when the work is done.
type Bar struct {
	Out     io.Writer // a terminal
	What    string
	Columns func() int
	Look    func() Progress
	Style   func(string) string // of the part that is done; nil: plain
}

// Start draws the bar at each tick, the first time when Patience has passed since
// began. The function it returns ends that and removes the line.
func (b Bar) Start(began time.Time, ticks <-chan time.Time) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		shown := false
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(b.Out, "\r\x1b[K")
				}
				return
			case now := <-ticks:
				if now.Sub(began) >= Patience {
					shown = true
					fmt.Fprint(b.Out, "\r\x1b[K"+b.line(now.Sub(began)))
				}
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// mostBar is how long a bar is at most.
const mostBar = 30

// line is one drawing: what is done, a bar where the end is known, the time.
func (b Bar) line(took time.Duration) string {
	p := b.Look()
	text := strings.TrimSpace("amber: " + b.What + " " + p.Step)
	time := fmt.Sprintf("%d s", int(took.Seconds()))
	room := max(b.Columns()-1, 1) // the last column would wrap in some terminals
	if p.Total <= 0 {
		if p.Done > 0 {
			time = fmt.Sprintf("%d, %s", p.Done, time)
		}
		return Cut(text, max(room-len(time)-2, 0)) + ", " + time
	}
	share := min(max(float64(p.Done)/float64(p.Total), 0), 1)
	end := fmt.Sprintf(" %3d %%  %s", int(100*share), time)
	text = Cut(text, max(room-len(end)-13, 7))
	length := min(room-Width(text)-len(end)-3, mostBar)
	if length < 5 {
		return Cut(text, max(room-len(end), 0)) + end
	}
	full := int(share * float64(length))
	filled := strings.Repeat("#", full)
	if b.Style != nil && full > 0 {
		filled = b.Style(filled)
	}
	return text + " [" + filled + strings.Repeat(".", length-full) + "]" + end
}
