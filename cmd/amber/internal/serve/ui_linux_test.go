package serve

import (
	"context"
	"testing"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/test/must"
)

// Idle time counts from the moment in which the last one left.
func TestNobodyLooks(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	type look struct {
		clock time.Duration
		now   int
		last  time.Time
	}
	for name, c := range map[string]struct {
		looks []look
		gone  bool
	}{
		"nobody came":             {[]look{{clock: 9 * time.Minute}, {clock: 10 * time.Minute}}, true},
		"nobody came yet":         {[]look{{clock: 9 * time.Minute}}, false},
		"somebody is there":       {[]look{{time.Hour, 1, at(time.Minute)}}, false},
		"somebody left just now":  {[]look{{time.Hour, 0, at(time.Hour - 59*time.Second)}}, false},
		"somebody left long ago":  {[]look{{time.Hour, 0, at(time.Hour - time.Minute)}}, true},
		"somebody left and came":  {[]look{{time.Hour, 0, at(time.Hour - 30*time.Second)}, {2 * time.Hour, 1, at(time.Hour)}}, false},
		"the clock was put back ": {[]look{{-time.Hour, 0, at(0)}}, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var now look
		clocked := false
		ticks := make(chan time.Time, 1)
		next := 0
		a := &app{&cli.App{World: cli.World{
			Clock: func() time.Time {
				if !clocked { // when it begins
					clocked = true
					return start
				}
				return at(now.clock)
			},
			After: func(d time.Duration) <-chan time.Time {
				must.Equal(t, name+": wait", d, 15*time.Second)
				if next == len(c.looks) {
					cancel()
					return nil
				}
				now = c.looks[next]
				next++
				ticks <- time.Time{}
				return ticks
			},
		}}}
		must.Equal(t, name, a.untilNobodyLooks(ctx, time.Minute, func() (int, time.Time) { return now.now, now.last }), c.gone)
		cancel()
	}
}

func TestHowABrowserIsStarted(t *testing.T) {
	t.Parallel()
	a := &app{&cli.App{World: cli.World{Environ: []string{"BROWSER=mine:other --open=%s --new", "DISPLAY=:0"}}}}
	must.Equal(t, "$BROWSER", a.browsers("http://x/")[:2], [][]string{{"mine", "http://x/"}, {"other", "--open=http://x/", "--new"}})
	must.Equal(t, "Linux", a.systemBrowser("linux", "http://x/"), [][]string{{"xdg-open", "http://x/"}})
	must.Equal(t, "Windows", a.systemBrowser("windows", "http://x/"), [][]string{{"rundll32", "url.dll,FileProtocolHandler", "http://x/"}})
	must.Equal(t, "macOS", a.systemBrowser("darwin", "http://x/"), [][]string{{"open", "http://x/"}})
	a.Environ = nil
	must.Equal(t, "without a screen", len(a.systemBrowser("linux", "http://x/")), 0)
}
