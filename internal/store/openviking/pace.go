package openviking

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// How long the feeder waits after an outage, doubling, and for a path that is busy.
const (
	firstDelay = time.Second
	lastDelay  = 5 * time.Minute
	stopLook   = time.Minute // how often the feeder looks at a server that a person has to mend
	maxAsked   = time.Minute // of what a server may ask for

	firstBusy = 100 * time.Millisecond
	lastBusy  = 2 * time.Second
	busyTries = 8
)

// pace says when the server is asked again after it failed. The zero value: now.
type pace struct {
	// Stopped is the kind of an error that a person has to mend: a key, a version, a proxy.
	Stopped   amber.Kind `json:"stopped,omitempty"`
	RetryAt   amber.Time `json:"retry_at,omitzero"`
	Delay     int64      `json:"delay,omitempty"` // milliseconds
	LastError string     `json:"last_error,omitempty"`
	FailedAt  amber.Time `json:"failed_at,omitzero"`
}

// failing reports whether the last attempt failed.
func (p *pace) failing() bool { return p.Stopped != "" || !p.RetryAt.IsZero() }

// blocked returns how long to wait yet, and an error if the server is not to be asked now.
func (p *pace) blocked(now amber.Time) (time.Duration, error) {
	left := time.Duration(p.RetryAt.UnixMilli()-now.UnixMilli()) * time.Millisecond
	if p.RetryAt.IsZero() || left <= 0 || left > lastDelay { // the clock was set back
		return 0, nil
	}
	if p.Stopped != "" {
		return left, amber.Errorf(p.Stopped, "feed openviking", "", "feeding has stopped, and is tried again at %s: %s", p.RetryAt, p.LastError).WithHint("amber index sync")
	}
	return left, amber.Errorf(amber.KindUnreachable, "feed openviking", "", "the next attempt is at %s: %s", p.RetryAt, p.LastError)
}

// failed notes an error of the server. Asked is how long it wants to be left alone, 0 where it
// did not say.
func (p *pace) failed(now amber.Time, err error, asked time.Duration) {
	p.LastError, p.FailedAt = clip.Marked(clip.Printed(err.Error()), maxReason), now
	switch kind := amber.KindOf(err); kind {
	case amber.KindUnreachable, amber.KindBusy, amber.KindNotFound, amber.KindConflict, amber.KindInternal:
		p.Stopped = ""
		p.Delay = doubled(p.Delay)
		wait := max(time.Duration(p.Delay)*time.Millisecond, min(asked, maxAsked))
		p.RetryAt = now.Add(wait)
	default:
		p.Stopped, p.RetryAt, p.Delay = kind, now.Add(stopLook), 0
	}
}

// doubled returns the next delay, in milliseconds.
func doubled(delay int64) int64 {
	return min(max(2*delay, firstDelay.Milliseconds()), lastDelay.Milliseconds())
}

// succeeded forgets the failure, but for its text.
func (p *pace) succeeded() { p.Stopped, p.RetryAt, p.Delay = "", amber.Time{}, 0 }

// waits reports whether a time is yet to come. A time that is too far away was noted by a clock that was set back
// since, and does not count.
func waits(now, at amber.Time) bool {
	return now.Before(at) && !now.Add(lastDelay).Before(at)
}

// patient repeats a call of the server while a path is busy. A round that has waited in vain for one
// path waits for no other.
func (r *round) patient(ctx context.Context, call func() error) error {
	delay := firstBusy
	for try := 1; ; try++ {
		err := call()
		if amber.KindOf(err) != amber.KindBusy {
			return err
		}
		if try == busyTries || r.spent() {
			r.tired = true
		}
		if r.tired {
			return err
		}
		if asked, ok := api.RetryAfter(err); ok {
			delay = max(delay, asked)
		}
		if werr := r.s.o.Wait(ctx, min(delay, lastBusy)); werr != nil {
			return werr
		}
		delay *= 2
	}
}
