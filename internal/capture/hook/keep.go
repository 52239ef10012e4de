package hook

import (
	"context"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// DefaultTimeout is how long the disk may take. The shortest time a host gives
// a hook, at the end of a session, is 1.5 s.
const DefaultTimeout = 800 * time.Millisecond

// Keeper keeps events.
type Keeper struct {
	Journal interface {
		Append(ctx context.Context, s journal.Session, e journal.Entry) (int64, error)
		CountLoss(cause error) error
	}
	Timeout time.Duration // how long the disk may take; 0: DefaultTimeout
	// Patience is how long other processes that write to the session are waited
	// for; 0: ten times Timeout. At the end of a session it is half of Timeout at
	// most.
	Patience time.Duration
}

// Keep appends an event to the journal and returns nil once it is durable. When
// the disk does not answer in time the write is left as it is, perhaps done,
// perhaps not: the error is of kind unreachable. It is of kind busy when another
// process held the session for too long; nothing was written then. Every other
// error is that of [Entry] or of the journal. Whatever was not acknowledged is counted
// as a loss, for which a quarter of Timeout more is taken at most.
//
// A write that hangs in the kernel cannot be ended; its goroutine stays until it
// answers or the process ends.
func (k Keeper) Keep(ctx context.Context, ev journal.HostEvent) error {
	err := k.append(ctx, ev)
	if err == nil {
		return nil
	}
	if uncounted := k.count(err); uncounted != nil {
		return &amber.Error{
			Op: "keep event", Kind: amber.KindOf(err), Hint: amber.HintOf(err),
			Err: fmt.Errorf("%w; the loss is not counted: %w", err, uncounted),
		}
	}
	return err
}

func (k Keeper) timeout() time.Duration {
	if k.Timeout > 0 {
		return k.Timeout
	}
	return DefaultTimeout
}

func (k Keeper) patience(kind journal.EventKind) time.Duration {
	p := k.Patience
	if p <= 0 {
		p = 10 * k.timeout()
	}
	if kind == journal.HostSessionEnd {
		p = min(p, k.timeout()/2)
	}
	return p
}

func (k Keeper) append(ctx context.Context, ev journal.HostEvent) error {
	s, e, err := Entry(ev)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	blocked := make(chan bool, 16) // more than there are waits in one append
	e.Blocked = func(b bool) {
		select {
		case blocked <- b:
		default:
		}
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- amber.Errorf(amber.KindInternal, "keep event", "", "panic: %v", r)
			}
		}()
		_, err := k.Journal.Append(ctx, s, e)
		done <- err
	}()
	err = k.await(ctx, done, blocked, k.patience(ev.Kind))
	if err == nil {
		return nil
	}
	// An append that still waits gives up at once; one that is being written
	// goes on, and may just have been kept after all.
	cancel()
	select {
	case last := <-done:
		if last == nil {
			return nil
		}
	default:
	}
	return err
}

// await waits for the outcome of an append: for the disk, and, while it is
// blocked, for others.
func (k Keeper) await(ctx context.Context, done <-chan error, blocked <-chan bool, patience time.Duration) error {
	left, others := time.NewTimer(k.timeout()), false
	defer left.Stop()
	for {
		select {
		case err := <-done:
			return err
		case others = <-blocked:
			if left.Reset(k.timeout()); others {
				left.Reset(patience)
			}
		case <-left.C:
			if others {
				return amber.Errorf(amber.KindBusy, "keep event", "",
					"another process held the session for %v; the event is not written", patience)
			}
			return unsynced(fmt.Sprintf("the disk did not answer within %v", k.timeout()))
		case <-ctx.Done():
			return unsynced("the caller stopped waiting")
		}
	}
}

// unsynced is the error of a write that may or may not have reached the disk.
func unsynced(why string) error {
	return amber.Errorf(amber.KindUnreachable, "keep event", "", "%s; the write is left unsynced", why).WithHint("amber doctor")
}

// count counts a loss, unless that hangs too.
func (k Keeper) count(cause error) error {
	done := make(chan error, 1)
	go func() { done <- k.Journal.CountLoss(cause) }()
	timer := time.NewTimer(k.timeout() / 4)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return amber.Errorf(amber.KindUnreachable, "count loss", "", "the disk did not answer")
	}
}
