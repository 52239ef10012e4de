package sqlcore

import (
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// The way of an entry. A lease that ends without an ack, by a nack or because
// it expired, uses up one attempt.
//
//	publish -> queued -claim-> leased -ack-> acked, forgotten after AckedFor
//	             ^               |
//	             +--- attempts left ---- none left -> dead

const (
	// AckedFor is how long an acked entry is remembered at least: publishing
	// its id again does nothing until then, and adds a new entry some time
	// after.
	AckedFor = 7 * 24 * time.Hour
	// forgetAtOnce bounds how many old acked entries one publish removes.
	forgetAtOnce = 100
)

const (
	selectPublished = `SELECT digest FROM queue WHERE entry_id = ?`
	insertEntry     = `INSERT INTO queue (entry_id, task_id, node_id, digest, payload, priority, published_not_before, not_before, due,
 state, attempt, consumer, token, fence, expires_at, reasons)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, 'queued', 0, '', '', 0, 0, '[]')`

	selectForgotten = `SELECT entry_id FROM queue INDEXED BY queue_acked WHERE state = 'acked' AND done_at <= ? ORDER BY done_at LIMIT ?`
	deleteEntry     = `DELETE FROM queue WHERE entry_id = ?`

	// A claim costs the same however long the queue is: each of these reads
	// one end of its index. An entry whose time has not come is not in
	// queue_queued; the first claim after its time moves it there, once.
	markDue   = `UPDATE queue INDEXED BY queue_delayed SET due = 1 WHERE state = 'queued' AND due = 0 AND not_before <= ?`
	selectDue = `SELECT entry_id, task_id, node_id, attempt, payload, priority, published_not_before
FROM queue INDEXED BY queue_queued WHERE state = 'queued' AND due = 1 ORDER BY priority DESC, seq LIMIT 1`
	selectNextFence = `SELECT coalesce(max(fence), 0) + 1 FROM fences`

	leaseEntry = `UPDATE queue SET state = 'leased', attempt = ?2, consumer = ?3, token = ?4, fence = ?5, expires_at = ?6 WHERE entry_id = ?1`
	issueFence = `INSERT INTO fences (task_id, node_id, fence) VALUES (?, ?, ?)
ON CONFLICT (task_id, node_id) DO UPDATE SET fence = excluded.fence`
)

var _ amber.Queue = (*Contracts)(nil)

// Publish implements [amber.Queue]. An entry that was acked is remembered for
// seven days at least; published again after it was forgotten, it is new.
func (s *Contracts) Publish(ctx context.Context, e amber.Envelope) error {
	e, err := e.Normalize()
	if err != nil {
		return err
	}
	body, err := sqlrows.Marshal(e)
	if err != nil {
		return s.o.Wrap("publish entry", e.EntryID, err)
	}
	digest := amber.ContentDigest(body)
	return s.control.Update(ctx, "publish entry", e.EntryID, func(t *Tx) error {
		known, err := t.published(e.EntryID, digest)
		if known || err != nil {
			return err
		}
		return t.publish(e, digest)
	})
}

// published reports whether an entry was published with the same bytes
// before. Other bytes are a conflict.
func (t *Tx) published(entryID, digest string) (bool, error) {
	var stored string
	err := t.Row(selectPublished, entryID).Scan(&stored)
	switch {
	case sqlrows.Absent(err):
		return false, nil
	case err == nil && stored != digest:
		return true, amber.Errorf(amber.KindConflict, "publish entry", entryID, "an entry with this id and other content was published")
	}
	return true, err
}

func (t *Tx) publish(e amber.Envelope, digest string) error {
	now := t.steady()
	if err := t.forgetAcked(now); err != nil {
		return err
	}
	n, err := t.countQueue()
	if err != nil {
		return err
	}
	if most := t.o.Queue.MaxQueued; n.queued >= most {
		return amber.Errorf(amber.KindQuota, "publish entry", e.EntryID, "%d entries wait already, the limit is %d", n.queued, most)
	}
	err = t.Do(insertEntry, e.EntryID, e.TaskID, e.NodeID, digest, e.Payload, e.Priority, e.NotBefore.UnixMilli(), !now.Before(e.NotBefore))
	if err != nil {
		return err
	}
	return t.logEntry(amber.OpInsert, e.EntryID)
}

// forgetAcked removes some entries that were acked long ago.
func (t *Tx) forgetAcked(now amber.Time) error {
	ids, err := sqlrows.All(t.Tx, sqlrows.ScanText, selectForgotten, now.Add(-AckedFor).UnixMilli(), forgetAtOnce)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := t.Do(deleteEntry, id); err != nil {
			return err
		}
		if err := t.logEntry(amber.OpDelete, id); err != nil {
			return err
		}
	}
	return nil
}

// Claim implements [amber.Queue].
func (s *Contracts) Claim(ctx context.Context, consumerID string) (claim amber.Claim, err error) {
	if err := amber.CheckID("consumer id", consumerID); err != nil {
		return claim, err
	}
	// That nothing can be claimed is an answer, not a failure: leases that
	// were taken back on the way stay taken back.
	var none error
	err = s.control.Update(ctx, "claim entry", "", func(t *Tx) error {
		now := t.steady()
		if err := t.takeBackExpired(now); err != nil {
			return err
		}
		claim, err = t.claim(consumerID, now)
		if errors.Is(err, amber.ErrQueueFull) || errors.Is(err, amber.ErrQueueEmpty) {
			none, err, t.Unasked = err, nil, true
		}
		t.about(claim)
		return err
	})
	switch {
	case err != nil:
		return amber.Claim{}, err
	case none != nil:
		return amber.Claim{}, none
	}
	return claim, nil
}

func (t *Tx) claim(consumerID string, now amber.Time) (amber.Claim, error) {
	n, err := t.countQueue()
	if err != nil {
		return amber.Claim{}, err
	}
	if n.leased >= t.o.Queue.MaxInFlight {
		return amber.Claim{}, amber.ErrQueueFull
	}
	if err := t.Do(markDue, now.UnixMilli()); err != nil {
		return amber.Claim{}, err
	}
	e, err := t.nextEntry(now)
	if err != nil {
		return amber.Claim{}, err
	}
	e.Attempt++
	lease, err := t.lease(e, consumerID, now)
	return amber.Claim{Envelope: e, Lease: lease}, err
}

// unreadableReasons are the reasons of an entry that died because its row cannot be
// read.
const unreadableReasons = `["the entry cannot be read"]`

// nextEntry returns the entry to hand out next. An entry that cannot be read is dead: it would
// block all entries behind it.
func (t *Tx) nextEntry(now amber.Time) (amber.Envelope, error) {
	for {
		e, err := scanEnvelope(t.Row(selectDue))
		switch {
		case sqlrows.Absent(err):
			return e, amber.ErrQueueEmpty
		case err == nil || !t.SetAside("queue", err):
			return e, err
		}
		if err := t.Do(buryEntry, e.EntryID, unreadableReasons, now.UnixMilli()); err != nil {
			return e, err
		}
		if err := t.logEntry(amber.OpUpdate, e.EntryID); err != nil {
			return e, err
		}
	}
}

// lease hands an entry out, under a fence larger than every one before.
func (t *Tx) lease(e amber.Envelope, consumerID string, now amber.Time) (amber.Lease, error) {
	token, err := t.NewID()
	if err != nil {
		return amber.Lease{}, err
	}
	l := amber.Lease{EntryID: e.EntryID, ConsumerID: consumerID, Token: token, ExpiresAt: now.Add(t.o.Queue.Lease)}
	if err := t.Row(selectNextFence).Scan(&l.Fence); err != nil {
		return l, err
	}
	if err := t.Do(issueFence, e.TaskID, e.NodeID, l.Fence); err != nil {
		return l, err
	}
	if err := t.Do(leaseEntry, l.EntryID, e.Attempt, l.ConsumerID, l.Token, l.Fence, l.ExpiresAt.UnixMilli()); err != nil {
		return l, err
	}
	return l, t.logEntry(amber.OpUpdate, l.EntryID)
}

// steady is the time of the queue: the clock's, or that of the newest change
// where the clock is behind it, so that a clock set back neither shortens nor
// revives a lease.
func (t *Tx) steady() amber.Time {
	if last := t.Stamp.Time(); t.Now.Before(last) {
		return last
	}
	return t.Now
}

func (t *Tx) logEntry(op amber.Op, entryID string) error { return t.logControl(op, "queue/"+entryID) }

func scanEnvelope(s scanner) (amber.Envelope, error) {
	var e amber.Envelope
	var notBefore int64
	err := s.Scan(&e.EntryID, &e.TaskID, &e.NodeID, &e.Attempt, &e.Payload, &e.Priority, &notBefore)
	e.NotBefore = amber.UnixMilli(notBefore)
	if err != nil {
		return e, err
	}
	return e, sqlrows.FitEntry(e.EntryID, int64(e.Attempt), notBefore)
}
