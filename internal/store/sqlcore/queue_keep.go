package sqlcore

import (
	"context"
	"math"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	countExpired = `SELECT count(*) FROM queue INDEXED BY queue_leased WHERE state = 'leased' AND expires_at <= ?`
	selectCounts = `SELECT state, entries FROM queue_counts`
	renewLease   = `UPDATE queue SET expires_at = ?2 WHERE entry_id = ?1`
	selectDead   = `SELECT seq, entry_id, task_id, node_id, attempt, payload, priority, published_not_before, reasons, done_at
FROM queue INDEXED BY queue_dead WHERE state = 'dead' AND (done_at, seq) < (?, ?) ORDER BY done_at DESC, seq DESC LIMIT ?`
)

var _ amber.QueueKeeper = (*Contracts)(nil)

// Renew implements [amber.QueueKeeper].
func (s *Contracts) Renew(ctx context.Context, l amber.Lease) (renewed amber.Lease, err error) {
	err = s.control.Update(ctx, "renew lease", l.EntryID, func(t *Tx) error {
		now := t.steady()
		h, err := t.holding("renew lease", l, now)
		if err != nil {
			return err
		}
		renewed = h.lease
		if until := now.Add(t.o.Queue.Lease); renewed.ExpiresAt.Before(until) {
			renewed.ExpiresAt = until
		}
		if err := t.Do(renewLease, l.EntryID, renewed.ExpiresAt.UnixMilli()); err != nil {
			return err
		}
		return t.logEntry(amber.OpUpdate, l.EntryID)
	})
	return renewed, err
}

// Backpressure implements [amber.QueueKeeper].
func (s *Contracts) Backpressure(ctx context.Context) (b amber.Backpressure, err error) {
	err = s.control.View(ctx, "count queue", "", func(t *Tx) error {
		if err := t.Row(sqlrows.SelectLastStamp).Scan(&t.Stamp); err != nil {
			return err
		}
		t.Stamp = max(t.Stamp, t.Current.Clock)
		n, err := t.countQueue()
		if err != nil {
			return err
		}
		var expired int
		if err := t.Row(countExpired, t.steady().UnixMilli()).Scan(&expired); err != nil {
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
func (t *Tx) countQueue() (n queueCounts, err error) {
	err = t.Each(selectCounts, nil, func(s scanner) error {
		var state sqlrows.EntryState
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

// DeadEntries implements [amber.QueueKeeper].
func (s *Contracts) DeadEntries(ctx context.Context, p amber.Paging) (amber.Page[amber.DeadEntry], error) {
	none := amber.Page[amber.DeadEntry]{Items: []amber.DeadEntry{}}
	size, err := p.Size("list dead entries")
	if err != nil {
		return none, err
	}
	before, seq := int64(math.MaxInt64), int64(math.MaxInt64)
	if p.Cursor != "" {
		var last string
		if before, last, err = decodeCursor("dead entries", p.Cursor); err == nil {
			seq, err = strconv.ParseInt(last, 10, 64)
		}
		if err != nil {
			return none, amber.Errorf(amber.KindInvalid, "read cursor", "", "the cursor is not one of dead entries")
		}
	}
	mark := func(last placed[amber.DeadEntry]) amber.Cursor {
		return encodeCursor("dead entries", last.record.DeadAt.UnixMilli(), strconv.FormatInt(last.place, 10))
	}
	return view(ctx, s.control, "list dead entries", "", func(t *Tx) (amber.Page[amber.DeadEntry], error) {
		found, err := readPage(t, "queue", scanPlaced(sqlrows.ScanDead), size, mark, selectDead, before, seq)
		return records(found), err
	})
}
