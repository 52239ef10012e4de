package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/amber-memory/amber"
)

// lastMoment is how long the end of an answer may take that was broken off.
const lastMoment = time.Second

// watch checks, until stop is called, whether the caller of an answer that takes long may still have it. When the
// token was revoked or has run out, the context that watch returns ends with the cause errRevoked, and watch cuts
// off a reader that keeps the answer from ending. All of that takes twice the time between two looks. Stop waits
// for the last look. After a revocation it leaves a moment to end the answer properly, where the reader lets it
// end.
func (q *request) watch() (ctx context.Context, stop func()) {
	ctx, end := context.WithCancelCause(q.r.Context())
	over, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		q.look(end, over)
	}()
	return ctx, func() {
		close(over)
		<-left
		if revokedError(ctx) != nil {
			_ = http.NewResponseController(q.w).SetWriteDeadline(inRealTime(lastMoment))
		}
		end(nil)
	}
}

// inRealTime returns when d from now is by the clock of the machine. Deadlines of
// connections go by that clock and not by the one that is injected.
func inRealTime(d time.Duration) time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	at, _ := ctx.Deadline()
	return at
}

// look is the work of watch. A token that cannot be
// checked is accepted for as long as a stream shows no sign of life.
func (q *request) look(end context.CancelCauseFunc, over <-chan struct{}) {
	tick := time.NewTicker(q.api.pace.poll)
	defer tick.Stop()
	revoked := false
	for unsure := time.Duration(0); ; {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		if revoked {
			_ = http.NewResponseController(q.w).SetWriteDeadline(time.Unix(1, 0))
			continue
		}
		switch err := q.mayStill(); {
		case err == nil:
			unsure = 0
		case errors.Is(err, errRevoked) || unsure >= q.api.pace.beat:
			end(err)
			revoked = true
		default:
			unsure += q.api.pace.poll
		}
	}
}

// revokedError is what ended an answer whose caller may not have it any more; nil
// where that is not the reason.
func revokedError(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errRevoked) {
		return &amber.Error{Op: "authorize", Kind: amber.KindRefused, Err: cause}
	}
	return nil
}
