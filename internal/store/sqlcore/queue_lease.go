package sqlcore

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	entryQueued sqlrows.EntryState = "queued"
	entryLeased sqlrows.EntryState = "leased"
	entryAcked  sqlrows.EntryState = "acked"
	entryDead   sqlrows.EntryState = "dead"
)

const (
	heldColumns = `state, attempt, reasons, entry_id, consumer, token, fence, expires_at`

	selectHeld    = `SELECT ` + heldColumns + ` FROM queue WHERE entry_id = ?`
	selectExpired = `SELECT ` + heldColumns + ` FROM queue INDEXED BY queue_leased WHERE state = 'leased' AND expires_at <= ? ORDER BY expires_at, seq`

	// ackEntry keeps the row without its payload: the lease recognises a
	// second ack, the digest a second publish.
	ackEntry  = `UPDATE queue SET state = 'acked', payload = '', done_at = ?2 WHERE entry_id = ?1`
	requeue   = `UPDATE queue SET state = 'queued', reasons = ?2, not_before = ?3, due = ?4 WHERE entry_id = ?1`
	buryEntry = `UPDATE queue SET state = 'dead', reasons = ?2, done_at = ?3 WHERE entry_id = ?1`
)

// Ack implements [amber.Queue].
func (s *Contracts) Ack(ctx context.Context, l amber.Lease) error {
	return s.control.Update(ctx, "ack entry", l.EntryID, func(t *Tx) error {
		now := t.steady()
		h, err := t.held("ack entry", l, now)
		if err != nil || h.state == entryAcked {
			return err
		}
		if err := t.Do(ackEntry, l.EntryID, now.UnixMilli()); err != nil {
			return err
		}
		return t.logEntry(amber.OpUpdate, l.EntryID)
	})
}

// Nack implements [amber.Queue].
func (s *Contracts) Nack(ctx context.Context, n amber.Nack) error {
	n, err := n.Normalize()
	if err != nil {
		return err
	}
	return s.control.Update(ctx, "nack entry", n.Lease.EntryID, func(t *Tx) error {
		now := t.steady()
		h, err := t.holding("nack entry", n.Lease, now)
		if err != nil {
			return err
		}
		notBefore := n.NotBefore
		if notBefore.IsZero() && !t.spent(h) {
			delay, err := t.backoff(h.attempt)
			if err != nil {
				return err
			}
			notBefore = now.Add(delay)
		}
		return t.giveBack(h, n.Reason, notBefore, now)
	})
}

// backoff returns the jittered delay after failed attempts.
func (t *Tx) backoff(attempts int) (d time.Duration, err error) {
	var b [8]byte
	if _, err := io.ReadFull(t.Random, b[:]); err != nil {
		return 0, fmt.Errorf("read random bytes: %w", err)
	}
	const mantissa = 53 // the bits a float64 holds exactly
	r := float64(binary.LittleEndian.Uint64(b[:])>>(64-mantissa)) / (1 << mantissa)
	return t.o.Queue.Delay(attempts, r), nil
}

// held is an entry with its last lease.
type held struct {
	state   sqlrows.EntryState
	attempt int
	reasons []string
	lease   amber.Lease
}

// held returns the entry whose last lease is l: leased and not expired, or
// acked under it. Anything else is a conflict.
func (t *Tx) held(op string, l amber.Lease, now amber.Time) (held, error) {
	h, err := scanHeld(t.Row(selectHeld, l.EntryID))
	if err != nil && !sqlrows.Absent(err) {
		return h, err
	}
	l.ExpiresAt = h.lease.ExpiresAt // the caller's copy may be from before a renewal
	mine := err == nil && h.lease == l
	if mine && (h.state == entryAcked || h.state == entryLeased && now.Before(h.lease.ExpiresAt)) {
		return h, nil
	}
	return h, amber.Errorf(amber.KindConflict, op, l.EntryID, "the lease is lost")
}

// holding is held without what was acked.
func (t *Tx) holding(op string, l amber.Lease, now amber.Time) (held, error) {
	h, err := t.held(op, l, now)
	if err == nil && h.state != entryLeased {
		err = amber.Errorf(amber.KindConflict, op, l.EntryID, "the lease has ended: the entry is acknowledged already")
	}
	return h, err
}

// takeBackExpired ends the leases that expired.
func (t *Tx) takeBackExpired(now amber.Time) error {
	expired, err := sqlrows.ReadRows(t.Tx, "queue", scanHeld, selectExpired, now.UnixMilli())
	if err != nil {
		return err
	}
	for _, h := range expired {
		reason := fmt.Sprintf("lease expired (consumer %s)", h.lease.ConsumerID)
		if err := t.giveBack(h, reason, now, now); err != nil {
			return err
		}
	}
	return nil
}

// spent reports whether no further claim is allowed.
func (t *Tx) spent(h held) bool { return h.attempt >= t.o.Queue.MaxAttempts }

// giveBack ends a lease without an ack: the entry waits again in its old
// place, or is dead.
func (t *Tx) giveBack(h held, reason string, notBefore, now amber.Time) error {
	reasons, err := sqlrows.Marshal(append(h.reasons, reason))
	if err != nil {
		return err
	}
	if t.spent(h) {
		err = t.Do(buryEntry, h.lease.EntryID, reasons, now.UnixMilli())
	} else {
		err = t.Do(requeue, h.lease.EntryID, reasons, notBefore.UnixMilli(), !now.Before(notBefore))
	}
	if err != nil {
		return err
	}
	return t.logEntry(amber.OpUpdate, h.lease.EntryID)
}

func scanHeld(s scanner) (held, error) {
	var h held
	var reasons string
	var expiresAt int64
	err := s.Scan(&h.state, &h.attempt, &reasons, &h.lease.EntryID, &h.lease.ConsumerID, &h.lease.Token, &h.lease.Fence, &expiresAt)
	if err != nil {
		return h, err
	}
	h.lease.ExpiresAt = amber.UnixMilli(expiresAt)
	if err := json.Unmarshal([]byte(reasons), &h.reasons); err != nil {
		return h, sqlrows.NotJSON("queue", h.lease.EntryID, "reasons")
	}
	return h, sqlrows.FitEntry(h.lease.EntryID, int64(h.attempt), expiresAt)
}
