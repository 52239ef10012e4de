package agent

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
)

// visitors are an attendant that does what a test says.
type visitors struct {
	retires, leaves bool
	asked           time.Time
	closing         func() error
	closed          int
}

func (v *visitors) Asked() time.Time                   { return v.asked }
func (v *visitors) Retires(context.Context) bool       { return v.retires }
func (v *visitors) Leaves() bool                       { return v.leaves }
func (v *visitors) StandBack(context.Context)          {}
func (v *visitors) Politely() func(context.Context)    { return func(context.Context) {} }
func (v *visitors) Close(context.Context) (err error)  { v.closed++; return v.closing() }
func (v *visitors) attend(*Agent) (Attendant, error)   { return v, nil }
func (v *visitors) refuse(*Agent) (Attendant, error)   { return nil, context.Canceled }
func (v *visitors) staying(d time.Duration) Background { return Background{Attend: v.attend, Stay: d} }

func turnsOf(t *testing.T, a *Agent, id amber.SessionID) int {
	t.Helper()
	return len(must.Get(amber.LastTurns(t.Context(), a.Store().Turns, id, 10))(t))
}

// However a background drain ends, and though a hook had to be cut off: what was appended
// while it held the lock is drained, and hooks are let go once.
func TestWhatComesAtTheLastMomentIsDrained(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	for name, v := range map[string]*visitors{
		"a server has come":           {retires: true},
		"another process is needed":   {leaves: true},
		"nobody has asked for long":   {},
		"the clock has been set back": {asked: time.Now().Add(240 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := opened(t)
			say(t, a, "s1", "first of all")
			v.closing = func() error {
				busy, err := a.DrainsInBackground()
				must.Hold(t, busy && err == nil, "the lock is let go before the socket: %v, %v", busy, err)
				if v.closed == 1 {
					say(t, a, "late", "a word at the last moment")
				}
				return context.DeadlineExceeded
			}
			c := config.Default()
			c.Search.Model = config.ModelNone
			var passed atomic.Int64 // the clock runs fast
			clock := func() time.Time { return time.Now().Add(time.Duration(passed.Add(1)) * 100 * time.Millisecond) }
			o := Options{Home: a.Home().Dir(), Clock: clock, Random: rand.Reader, Config: &c}
			must.Do(t, DrainInBackground(t.Context(), o, v.staying(5*time.Second)))
			must.Hold(t, v.closed > 0, "hooks are not let go")
			must.Equal(t, "turns", turnsOf(t, a, "s1"), 1)
			must.Equal(t, "turns at the last moment", turnsOf(t, a, "late"), 1)
			busy, err := a.DrainsInBackground()
			must.Hold(t, !busy && err == nil, "the lock is held: %v, %v", busy, err)
		})
	}
}

// Where hooks cannot be answered the journal is drained as ever.
func TestADrainWithoutASocket(t *testing.T) {
	t.Parallel()
	a, v := opened(t), &visitors{}
	say(t, a, "s1", "first of all")
	warned := ""
	o := Options{Home: a.Home().Dir(), Clock: time.Now, Random: rand.Reader, Warn: func(text string) { warned += text }}
	must.Do(t, DrainInBackground(t.Context(), o, Background{Attend: v.refuse, Stay: time.Hour}))
	must.Says(t, "warning", warned, "hooks are not answered")
	must.Equal(t, "turns", turnsOf(t, a, "s1"), 1)
}
