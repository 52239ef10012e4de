package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
)

// Bounds of the outbox.
const (
	MaxPending    = 100_000  // events that wait; one more is refused
	maxEventBytes = 8 << 20  // of one event as JSON
	maxPage       = 1000     // events PendingEvents returns at most
	maxPageBytes  = 32 << 20 // of them together, after which no other begins
	deleteAtOnce  = 1000     // events one transaction removes
)

const (
	// Numbers have no gaps, and events leave from the beginning.
	selectWaiting = `SELECT coalesce(max(seq) - min(seq) + 1, 0) FROM outbox`
	insertEvent   = `INSERT INTO outbox (event) VALUES (?)`
	selectEvents  = `SELECT seq, event FROM outbox ORDER BY seq LIMIT ?`
	deleteEvents  = `DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox WHERE seq <= ? ORDER BY seq LIMIT ?)`
)

// Publish puts an event into the outbox. It is durable before Publish returns;
// the relay hands it on. Errors: quota when MaxPending events
// wait; invalid for one that is no JSON or has more than 8 MiB.
func (d *DB) Publish(ctx context.Context, e events.Event) error {
	const op = "publish event"
	text, err := json.Marshal(e)
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInvalid, ID: e.ID, Err: err}
	}
	if len(text) > maxEventBytes {
		return amber.Errorf(amber.KindInvalid, op, e.ID, "the event has %d bytes, want at most %d", len(text), maxEventBytes)
	}
	return d.update(ctx, op, e.ID, lockOutbox, func(t *tx) error {
		var waiting int64
		if err := t.row(selectWaiting).Scan(&waiting); err != nil {
			return err
		}
		if waiting >= MaxPending {
			return amber.Errorf(amber.KindQuota, op, e.ID, "the outbox is full: %d events wait", waiting).WithHint("check that the NATS server of events.nats_url is reachable")
		}
		_, err := t.exec(insertEvent, strings.ToValidUTF8(string(text), "\uFFFD"))
		return err
	})
}

// PendingEvents returns the events that wait, oldest first, at most limit of them and at most 1000;
// fewer when they are large. Payloads are json.RawMessage. An event that cannot be read is the zero
// Event, which no publisher takes, so that it does not hold up the others. The list is never nil.
func (d *DB) PendingEvents(ctx context.Context, limit int) ([]events.OutboxEvent, error) {
	const op = "read outbox"
	pending := []events.OutboxEvent{}
	err := d.view(ctx, op, "", func(t *tx) error {
		size := 0
		return t.each(selectEvents, []any{max(0, min(limit, maxPage))}, func(s scanner) error {
			if size > maxPageBytes {
				return errEnough
			}
			var seq int64
			var text []byte
			if err := s.Scan(&seq, &text); err != nil {
				return err
			}
			size += len(text)
			e, err := events.Decode(text)
			if err != nil {
				e = events.Event{}
			}
			pending = append(pending, events.OutboxEvent{Seq: seq, Event: e})
			return nil
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return pending, nil
}

// errEnough ends a page early.
var errEnough = errors.New("enough")

// EventsPublished removes the events up to a number from the outbox: they have
// been handed on.
func (d *DB) EventsPublished(ctx context.Context, upTo int64) error {
	return d.eventsPublished(ctx, upTo, nil)
}

func (d *DB) eventsPublished(ctx context.Context, upTo int64, fence Fence) error {
	for {
		var n int64
		err := d.update(ctx, "empty outbox", "", lockOutbox, func(t *tx) (err error) {
			if err := fence.check(t); err != nil {
				return err
			}
			n, err = t.exec(deleteEvents, upTo, deleteAtOnce)
			return err
		})
		if err != nil || n < deleteAtOnce {
			return err
		}
	}
}

// Fence says in a transaction whether the caller may still do what is done in it: its error undoes the transaction. The
// method Check of a lease in package internal/store/postgres is one. Nil allows everything.
type Fence func(ctx context.Context, q interface {
	Row(ctx context.Context, query string, args ...any) interface{ Scan(dest ...any) error }
}) error

func (f Fence) check(t *tx) error {
	if f == nil {
		return nil
	}
	return f(t.ctx, t.conn)
}

// Fenced returns the outbox for a relay that works under a lease: events are only removed while it has the lease.
func (d *DB) Fenced(fence Fence) events.Outbox { return fenced{d, fence} }

type fenced struct {
	*DB
	fence Fence
}

func (f fenced) EventsPublished(ctx context.Context, upTo int64) error {
	return f.eventsPublished(ctx, upTo, f.fence)
}

// WaitingEvents returns how many events of the outbox wait to be handed on.
func (d *DB) WaitingEvents(ctx context.Context) (n int64, err error) {
	err = d.view(ctx, "count waiting events", "", func(t *tx) error { return t.row(selectWaiting).Scan(&n) })
	return n, err
}
