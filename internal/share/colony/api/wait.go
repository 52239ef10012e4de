package api

import (
	"context"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

// firstPause is the first pause, each is about twice the one before, up to
// longestPause.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Minute
)

// longestAsked bounds what a vault asks to wait, so that it can be added to.
const longestAsked = 365 * 24 * time.Hour

// waits are those of one call.
type waits struct {
	o       *Options
	began   time.Time
	slept   time.Duration
	attempt int
}

// wait pauses before the next attempt. Without --wait it returns the failure
// when the pause does not fit into what is left of the patience; a pause that the
// vault asks for is not cut short.
func (w *waits) wait(ctx context.Context, f *failure) error {
	pause := max(w.backoff(), f.after)
	w.attempt++
	switch {
	case w.o.Wait:
		pause = min(pause, longestWait)
	case w.fits(pause):
	case f.after > 0 && w.fits(f.after):
		pause = f.after
	default:
		return giveUp(f)
	}
	w.o.Notify(Waiting{Why: f.err.Error(), Kind: f.err.Kind, For: pause, Attempt: w.attempt})
	w.slept += pause
	if err := w.o.Sleep(ctx, pause); err != nil {
		ended := *f.err
		ended.Err = fmt.Errorf("%w; waiting ended: %w", f.err.Err, err)
		return &ended
	}
	return nil
}

// fits reports whether a pause ends within the patience. Both the clock and the
// pauses so far count: a clock may be put back.
func (w *waits) fits(pause time.Duration) bool {
	return pause <= w.o.Patience-max(w.o.Clock().Sub(w.began), w.slept, 0)
}

// backoff is the pause after so many attempts, between half of it and all.
func (w *waits) backoff() time.Duration {
	full := min(firstPause<<min(w.attempt, 16), longestPause)
	return full/2 + time.Duration(float64(full/2)*min(max(w.o.Jitter(), 0), 1))
}

// giveUp says why it was not tried again, and what would be.
func giveUp(f *failure) error {
	e := *f.err
	if f.after > 0 || e.Kind == amber.KindQuota {
		e.Err = &later{e.Err, f.after}
	}
	if e.Kind == amber.KindQuota {
		e.Hint = "try again later, or let Amber wait with --wait"
	}
	return &e
}
