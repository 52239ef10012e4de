package home_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// door is one way into an agent.
type door struct {
	name  string
	enter func(ctx context.Context, a *home.Agent, fn func(home.Current) error) error
}

func writes(store string) door {
	return door{"write " + store, func(ctx context.Context, a *home.Agent, fn func(home.Current) error) error {
		return a.Write(ctx, store, fn)
	}}
}

var (
	writesMemory  = writes("memory")
	writesControl = writes("control")
	standsStill   = door{"exclusive", func(ctx context.Context, a *home.Agent, fn func(home.Current) error) error {
		return a.Exclusive(ctx, fn)
	}}
)

// holding runs during while another goroutine is inside the door, which is free.
func holding(t *testing.T, a *home.Agent, d door, during func()) {
	t.Helper()
	inside, leave, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- d.enter(t.Context(), a, func(home.Current) error {
			close(inside)
			<-leave
			return nil
		})
	}()
	select {
	case <-inside:
		during()
		close(leave)
		must.Kind(t, d.name, <-done, "")
	case err := <-done:
		if amber.KindOf(err) != amber.KindBusy {
			t.Fatalf("%s: %v", d.name, err)
		}
		// A wait can be so short that it is over on a slow machine before a free lock is taken.
		holding(t, a, d, during)
	}
}

// exclusions says who keeps whom out.
var exclusions = []struct {
	inside, wanted door
	together       bool
}{
	{writesMemory, writesMemory, false},
	{writesMemory, writesControl, true},
	{writesMemory, standsStill, false},
	{standsStill, writesMemory, false},
	{standsStill, standsStill, false},
}

func TestWhoKeepsWhomOut(t *testing.T) {
	t.Parallel()
	for _, tt := range exclusions {
		for _, same := range []bool{false, true} {
			name := tt.inside.name + ", then " + tt.wanted.name
			if same {
				name += ", same handle"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir, c := madeHome(t)
				holder := handle(t, dir, options(nil))
				o := options(nil)
				o.Wait = time.Millisecond
				if tt.together {
					o.Wait = 0
				}
				comer := handle(t, dir, o)
				if same {
					holder = comer
				}
				holding(t, holder, tt.inside, func() {
					err := tt.wanted.enter(t.Context(), comer, func(home.Current) error { return nil })
					must.Hold(t, !tt.together || err == nil, "got %v, want both inside", err)
					if !tt.together {
						must.Kind(t, tt.wanted.name, err, amber.KindBusy)
						must.Hold(t, amber.HintOf(err) != "", "busy without a hint")
					}
				})
				// A writer that gave up waiting does not hold up others.
				err := tt.wanted.enter(t.Context(), handle(t, dir, options(nil)), func(got home.Current) error {
					must.Equal(t, "generation", got, c)
					return nil
				})
				must.Kind(t, "afterwards", err, "")
			})
		}
	}
}

// TestWaitEndsWithTheContext waits without end and is called off.
func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	for _, tt := range exclusions {
		if tt.together {
			continue
		}
		t.Run(tt.inside.name+", then "+tt.wanted.name, func(t *testing.T) {
			t.Parallel()
			dir, _ := madeHome(t)
			o := options(nil)
			o.Wait = 1000 * time.Hour
			a := handle(t, dir, o)
			enter := func(home.Current) error {
				t.Error("let in")
				return nil
			}
			holding(t, handle(t, dir, options(nil)), tt.inside, func() {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- tt.wanted.enter(ctx, a, enter) }()
				cancel()
				err := <-done
				must.Kind(t, "canceled", err, amber.KindUnreachable)
				must.Is(t, "canceled", err, context.Canceled)
				ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				err = tt.wanted.enter(ctx, a, enter)
				must.Kind(t, "timed out", err, amber.KindUnreachable)
			})
			must.Kind(t, "afterwards", tt.wanted.enter(t.Context(), a, func(home.Current) error { return nil }), "")
		})
	}
}

func TestEndedContextIsNotLetIn(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, d := range []door{writesMemory, standsStill} {
		err := d.enter(ctx, handle(t, dir, options(nil)), func(home.Current) error {
			t.Error("let in")
			return nil
		})
		must.Kind(t, d.name, err, amber.KindUnreachable)
	}
}

func TestErrorsOfTheWorkPass(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	a := handle(t, dir, options(nil))
	mine := errors.New("mine")
	for _, d := range []door{writesMemory, standsStill} {
		for range 2 { // the second time shows that the first let go
			if err := d.enter(t.Context(), a, func(home.Current) error { return mine }); err != mine {
				t.Errorf("%s: got %v, want the error of fn", d.name, err)
			}
		}
	}
}

func TestPanicLetsGo(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	a := handle(t, dir, options(nil))
	for _, d := range []door{writesMemory, standsStill} {
		func() {
			defer func() {
				must.Hold(t, recover() != nil, "%s: the panic got lost", d.name)
			}()
			_ = d.enter(t.Context(), a, func(home.Current) error { panic("mine") })
		}()
		must.Kind(t, d.name+" after a panic", d.enter(t.Context(), a, func(home.Current) error { return nil }), "")
	}
}
