package events

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
)

const (
	// DefaultInterval is how often a change log or an outbox is asked for news.
	DefaultInterval = time.Second

	// batch is how many events are read and published before it is noted how
	// far that came: what a crash may publish a second time.
	batch = 128

	minBackoff = 100 * time.Millisecond
	maxBackoff = time.Minute
)

// pace says when steps are taken; zero values mean the defaults.
type pace struct {
	interval time.Duration
	after    func(time.Duration) <-chan time.Time
	report   func(error)
	wake     <-chan struct{} // ends a wait that does not follow a failure
}

// steps takes steps until ctx ends and returns nil then: the next one at once
// after a full batch, later and later after failures. Errors: unsupported.
func steps(ctx context.Context, p pace, step func(context.Context) (int, error)) error {
	if p.after == nil {
		p.after = time.After
	}
	if p.interval <= 0 {
		p.interval = DefaultInterval
	}
	backoff := minBackoff
	for ctx.Err() == nil {
		n, err := step(ctx)
		wait, wake := p.interval, p.wake
		switch {
		case ctx.Err() != nil:
			return nil
		case amber.KindOf(err) == amber.KindUnsupported:
			return err
		case err != nil:
			if p.report != nil {
				p.report(err)
			}
			if n > 0 {
				backoff = minBackoff
			}
			wait, backoff, wake = backoff, min(2*backoff, maxBackoff), nil
		case n == batch:
			backoff = minBackoff
			continue
		default:
			backoff = minBackoff
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-p.after(wait):
		}
	}
	return nil
}
