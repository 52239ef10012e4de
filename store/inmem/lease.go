package inmem

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

var _ amber.QueueKeeper = (*Store)(nil)

// Ack implements [amber.Queue].
func (s *Store) Ack(ctx context.Context, l amber.Lease) error {
	return do(ctx, s, "ack entry", func() error {
		if e := s.queue.byID[l.EntryID]; e != nil && e.state == acked && sameLease(e.lease, l) {
			return nil
		}
		now := s.steady()
		e, err := s.held("ack entry", l, now)
		if err != nil {
			return err
		}
		e.state = acked
		s.logEntry(now, amber.OpUpdate, e)
		return nil
	})
}

// Nack implements [amber.Queue].
func (s *Store) Nack(ctx context.Context, n amber.Nack) error {
	n, err := n.Normalize()
	if err != nil {
		return err
	}
	return do(ctx, s, "nack entry", func() error {
		now := s.steady()
		e, err := s.held("nack entry", n.Lease, now)
		if err != nil {
			return err
		}
		notBefore := n.NotBefore
		if notBefore.IsZero() && !s.spent(e) {
			delay, err := s.backoff(e.attempt)
			if err != nil {
				return err
			}
			notBefore = now.Add(delay)
		}
		s.giveBack(now, e, n.Reason, notBefore)
		return nil
	})
}

// Renew implements [amber.QueueKeeper].
func (s *Store) Renew(ctx context.Context, l amber.Lease) (amber.Lease, error) {
	return run(ctx, s, "renew lease", func() (amber.Lease, error) {
		now := s.steady()
		e, err := s.held("renew lease", l, now)
		if err != nil {
			return amber.Lease{}, err
		}
		if until := now.Add(s.limits.Lease); e.lease.ExpiresAt.Before(until) {
			e.lease.ExpiresAt = until
		}
		s.logEntry(now, amber.OpUpdate, e)
		return e.lease, nil
	})
}

// held returns the entry that is leased under l. The caller's copy of the
// lease may be from before a renewal.
func (s *Store) held(op string, l amber.Lease, now amber.Time) (*entry, error) {
	e := s.queue.byID[l.EntryID]
	if e == nil || e.state != leased || e.expired(now) || !sameLease(e.lease, l) {
		return nil, conflict(op, l.EntryID, "the lease is lost")
	}
	return e, nil
}

func sameLease(a, b amber.Lease) bool {
	a.ExpiresAt = b.ExpiresAt
	return a == b
}

// takeBackExpired ends the leases that are over, first that expired first.
func (s *Store) takeBackExpired(now amber.Time) {
	var over []*entry
	for _, e := range s.queue.entries {
		if e.expired(now) {
			over = append(over, e)
		}
	}
	slices.SortStableFunc(over, func(a, b *entry) int {
		return cmp.Compare(a.lease.ExpiresAt.UnixMilli(), b.lease.ExpiresAt.UnixMilli())
	})
	for _, e := range over {
		s.giveBack(now, e, fmt.Sprintf("lease expired (consumer %s)", e.lease.ConsumerID), now)
	}
}

// giveBack ends a lease without an ack: the entry waits again in its old
// place, or is dead.
func (s *Store) giveBack(now amber.Time, e *entry, reason string, notBefore amber.Time) {
	e.reasons = append(e.reasons, reason)
	if s.spent(e) {
		e.state, e.deadAt = dead, now
	} else {
		e.state, e.notBefore = queued, notBefore
	}
	s.logEntry(now, amber.OpUpdate, e)
}

// spent reports whether an entry has no attempt left.
func (s *Store) spent(e *entry) bool { return e.attempt >= s.limits.MaxAttempts }

// backoff returns the jittered delay after failed attempts.
func (s *Store) backoff(attempts int) (time.Duration, error) {
	var b [8]byte
	if _, err := io.ReadFull(s.random, b[:]); err != nil {
		return 0, &amber.Error{Op: "nack entry", Kind: amber.KindInternal, Err: fmt.Errorf("read random bytes: %w", err)}
	}
	const mantissa = 53 // the bits a float64 holds exactly
	r := float64(binary.LittleEndian.Uint64(b[:])>>(64-mantissa)) / (1 << mantissa)
	return s.limits.Delay(attempts, r), nil
}

// Backpressure implements [amber.QueueKeeper].
func (s *Store) Backpressure(ctx context.Context) (amber.Backpressure, error) {
	return run(ctx, s, "count queue", func() (amber.Backpressure, error) {
		now, expired := s.steady(), 0
		for _, e := range s.queue.entries {
			if e.expired(now) {
				expired++
			}
		}
		out := s.queue.count(leased) - expired
		return amber.Backpressure{
			Queued: s.queue.count(queued) + expired, Leased: out, Dead: s.queue.count(dead),
			MaxInFlight: s.limits.MaxInFlight, Available: max(0, s.limits.MaxInFlight-out),
		}, nil
	})
}

// DeadEntries implements [amber.QueueKeeper]: of those that died at one time,
// the last published first.
func (s *Store) DeadEntries(ctx context.Context, p amber.Paging) (amber.Page[amber.DeadEntry], error) {
	const op = "list dead entries"
	return run(ctx, s, op, func() (amber.Page[amber.DeadEntry], error) {
		found := []amber.DeadEntry{}
		for _, e := range slices.Backward(s.queue.entries) {
			if e.state == dead {
				found = append(found, amber.DeadEntry{Envelope: e.envelope(), Reasons: copyList(e.reasons), DeadAt: e.deadAt})
			}
		}
		slices.SortStableFunc(found, func(a, b amber.DeadEntry) int {
			return cmp.Compare(b.DeadAt.UnixMilli(), a.DeadAt.UnixMilli())
		})
		return enumerate(op, "dead entries", found, p)
	})
}
