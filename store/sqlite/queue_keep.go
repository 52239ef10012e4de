package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
)

const (
	countExpired    = `SELECT count(*) FROM queue INDEXED BY queue_leased WHERE state = 'leased' AND expires_at <= ?`
	selectCounts    = `SELECT state, entries FROM queue_counts`
	selectMiscounts = `SELECT * FROM (
 SELECT c.state, c.entries, (SELECT count(*) FROM queue q WHERE q.state = c.state) AS there FROM queue_counts c
) WHERE entries <> there ORDER BY state`
	renewLease = `UPDATE queue SET expires_at = ?2 WHERE entry_id = ?1`
	selectDead = `SELECT entry_id, task_id, node_id, attempt, payload, priority, published_not_before, reasons, done_at
FROM queue INDEXED BY queue_dead WHERE state = 'dead' ORDER BY done_at DESC, seq DESC LIMIT ?`
)

var _ amber.QueueKeeper = (*Store)(nil)

// Renew implements [amber.QueueKeeper].
func (s *Store) Renew(ctx context.Context, l amber.Lease) (renewed amber.Lease, err error) {
	err = s.control.update(ctx, "renew lease", l.EntryID, func(t *tx) error {
		now := t.steady()
		h, err := t.holding("renew lease", l, now)
		if err != nil {
			return err
		}
		renewed = h.lease
		if until := now.Add(t.o.Queue.Lease); renewed.ExpiresAt.Before(until) {
			renewed.ExpiresAt = until
		}
		if _, err := t.exec(renewLease, l.EntryID, renewed.ExpiresAt.UnixMilli()); err != nil {
			return err
		}
		return t.logEntry(amber.OpUpdate, l.EntryID)
	})
	return renewed, err
}

// Backpressure implements [amber.QueueKeeper].
func (s *Store) Backpressure(ctx context.Context) (b amber.Backpressure, err error) {
	err = s.control.view(ctx, "count queue", "", func(t *tx) error {
		if err := t.row(selectLastStamp).Scan(&t.stamp); err != nil {
			return err
		}
		t.stamp = max(t.stamp, t.current.Clock)
		n, err := t.countQueue()
		if err != nil {
			return err
		}
		var expired int
		if err := t.row(countExpired, t.steady().UnixMilli()).Scan(&expired); err != nil {
			return err
		}
		most := t.o.Queue.MaxInFlight
		b = amber.Backpressure{Queued: n.queued + expired, Leased: n.leased - expired, Dead: n.dead, MaxInFlight: most}
		b.Available = max(0, most-b.Leased)
		return nil
	})
	return b, err
}

// queueCounts is how many entries are in each state a caller is told about.
type queueCounts struct{ queued, leased, dead int }

// countQueue reads the counts; it does not count.
func (t *tx) countQueue() (n queueCounts, err error) {
	err = t.each(selectCounts, nil, func(s scanner) error {
		var state entryState
		var entries int
		if err := s.Scan(&state, &entries); err != nil {
			return err
		}
		switch state {
		case entryQueued:
			n.queued = entries
		case entryLeased:
			n.leased = entries
		case entryDead:
			n.dead = entries
		}
		return nil
	})
	return n, err
}

// checkCounters compares the counts with the entries that are there.
func (t *tx) checkCounters() error {
	return t.each(selectMiscounts, nil, func(s scanner) error {
		var state entryState
		var counted, there int64
		if err := s.Scan(&state, &counted, &there); err != nil {
			return err
		}
		return damaged("check counters", "", fmt.Errorf("%d entries are counted as %s, %d are there", counted, state, there))
	})
}

// DeadEntries implements [amber.QueueKeeper].
func (s *Store) DeadEntries(ctx context.Context, limit int) (out []amber.DeadEntry, err error) {
	if limit < 0 {
		return nil, amber.Errorf(amber.KindInvalid, "list dead entries", "", "limit is negative")
	}
	err = s.control.view(ctx, "list dead entries", "", func(t *tx) error {
		out, err = readFirst(t, "queue", scanDead, limit, selectDead)
		return err
	})
	return out, err
}

func scanDead(s scanner) (d amber.DeadEntry, err error) {
	var reasons string
	var notBefore, deadAt int64
	e := &d.Envelope
	err = s.Scan(&e.EntryID, &e.TaskID, &e.NodeID, &e.Attempt, &e.Payload, &e.Priority, &notBefore, &reasons, &deadAt)
	if err != nil {
		return d, err
	}
	e.NotBefore, d.DeadAt = amber.UnixMilli(notBefore), amber.UnixMilli(deadAt)
	if err := json.Unmarshal([]byte(reasons), &d.Reasons); err != nil {
		return d, notJSON("queue", e.EntryID, "reasons")
	}
	return d, fitEntry(e.EntryID, int64(e.Attempt), notBefore, deadAt)
}
