package contextblock

import (
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
)

const (
	// recallShare is the part of the time that recall may use.
	recallShare = 0.8
	// spareShare is the part after which a page is made that needs no recall, beside it.
	spareShare = 0.4
)

// inTime adds the passages that are relevant to a question. Where finding them may take
// longer than there is time, a page without recall is made meanwhile: what stands and what
// was done last. It takes their place when they are not found in time.
func (b *builder) inTime(ctx context.Context, asked question) error {
	end, ok := ctx.Deadline()
	if !ok {
		return b.relevant(ctx, asked)
	}
	left := time.Until(end)
	recall, cancel := context.WithTimeout(ctx, time.Duration(recallShare*float64(left)))
	defer cancel()
	spare, stop := context.WithCancel(ctx)
	defer stop()
	without := *b
	made, failed := make(chan error, 1), make(chan struct{})
	go func() {
		defer func() {
			if r := recover(); r != nil { // the caller cannot recover it: this is another goroutine
				made <- amber.Errorf(amber.KindInternal, "build context", "", "panic: %v", r)
			}
		}()
		select {
		case <-spare.Done():
			made <- spare.Err()
			return
		case <-failed:
		case <-time.After(time.Duration(spareShare * float64(left))):
		}
		made <- without.start(spare)
	}()
	err := b.relevant(recall, asked)
	if !isLate(err) {
		stop()
		<-made // nothing reads the store any more
		return err
	}
	close(failed)
	err = <-made
	without.late, without.degraded = true, "recall did not answer in time; this is what stands and what was done last"
	*b = without
	return err
}

// isLate reports whether recall has used its time up.
func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || amber.KindOf(err) == amber.KindUnreachable
}
