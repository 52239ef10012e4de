package drain

import (
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
)

// mayBePoison reports whether an error may be the event's own fault. Anything
// else is the store's, and no event is given up for it.
func mayBePoison(err error) bool {
	if errors.Is(err, errOvertaken) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch amber.KindOf(err) {
	case amber.KindInvalid, amber.KindConflict, amber.KindNotFound, amber.KindInternal:
		return true
	}
	return false
}

// insist stores one event, with growing pauses between attempts, and gives it
// up when the store takes others but not this one.
func (s *session) insist(ctx context.Context, it item) error {
	pause := s.o.Backoff
	var err error
	for attempt := 1; ; attempt++ {
		if err = s.ingest(ctx, []item{it}); err == nil || !mayBePoison(err) {
			return err
		}
		// An event that breaks a rule today breaks it tomorrow.
		if attempt == s.o.Attempts || amber.KindOf(err) == amber.KindInvalid {
			break
		}
		if werr := s.o.Wait(ctx, pause); werr != nil {
			return werr
		}
		pause = min(2*pause, time.Minute)
	}
	if perr := s.move(ctx, s.cursor.Seq); perr != nil {
		return err // it takes nothing at all
	}
	// A store that fails twice in a row in the same way takes small steps only:
	// the disk is nearly full, say.
	if amber.KindOf(err) == amber.KindInternal {
		if s.failed == err.Error() {
			return err
		}
		s.failed = err.Error()
	}
	return s.giveUp(ctx, it.seq, it.payload, err)
}

// giveUp keeps an event aside, durably, and only then goes on behind it.
func (s *session) giveUp(ctx context.Context, seq int64, payload []byte, cause error) error {
	if err := s.o.Journal.Quarantine(ctx, s.key, seq, payload, cause.Error()); err != nil {
		return err
	}
	if err := s.move(ctx, seq); err != nil {
		return err
	}
	s.report.Quarantined++
	return nil
}

// move moves the cursor and does nothing else.
func (s *session) move(ctx context.Context, seq int64) error {
	in := s.ingestion(nil)
	in.Through = seq
	if _, err := s.o.Store.Ingest(ctx, in); err != nil {
		return s.overtaken(ctx, err)
	}
	s.cursor.Seq = seq
	return nil
}
