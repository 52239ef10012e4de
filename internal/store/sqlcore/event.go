package sqlcore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	insertEvent      = `INSERT INTO events (task_id, seq, body) VALUES (?, ?, ?)`
	selectEvents     = `SELECT task_id || '/' || seq, body FROM events WHERE task_id = ? ORDER BY seq`
	selectEventsPage = `SELECT seq, task_id || '/' || seq, body FROM events WHERE task_id = ? AND seq > ? ORDER BY seq LIMIT ?`
	deleteEvents     = `DELETE FROM events WHERE task_id = ? AND seq <= ?`

	// selectLastEvent is the sequence of the last event, compacted or not.
	selectLastEvent = `SELECT coalesce(
 (SELECT max(seq) FROM events WHERE task_id = ?1),
 (SELECT compacted FROM replays WHERE task_id = ?1), 0)`
	// selectEdge is the sequence of the newest event that is not among the
	// last ?2.
	selectEdge       = `SELECT seq FROM events WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2`
	selectEventsUpTo = `SELECT task_id || '/' || seq, body FROM events WHERE task_id = ? AND seq <= ? ORDER BY seq`

	selectReplay = `SELECT body FROM replays WHERE task_id = ?`
	upsertReplay = `INSERT INTO replays (task_id, compacted, body) VALUES (?, ?, ?)
ON CONFLICT (task_id) DO UPDATE SET compacted = excluded.compacted, body = excluded.body`
)

var _ amber.TaskEvents = (*Contracts)(nil)

// AppendEvent implements [amber.TaskEvents].
func (s *Contracts) AppendEvent(ctx context.Context, e amber.TaskEvent) (appended amber.TaskEvent, err error) {
	e, err = e.Normalize()
	if err != nil {
		return appended, err
	}
	err = s.control.Update(ctx, "append event", e.TaskID, func(t *Tx) error {
		var last int64
		if err := t.Row(selectLastEvent, e.TaskID).Scan(&last); err != nil {
			return err
		}
		e.Seq, e.At = last+1, t.Now
		body, err := sqlrows.Marshal(e)
		if err != nil {
			return err
		}
		if err := t.Do(insertEvent, e.TaskID, e.Seq, body); err != nil {
			return err
		}
		return t.logControl(amber.OpInsert, eventKey(e.TaskID, e.Seq))
	})
	return e, err
}

func eventKey(taskID string, seq int64) string { return fmt.Sprintf("event/%s/%d", taskID, seq) }

var events = listing[amber.TaskEvent]{"list events", "events", "events", sqlrows.ScanEvent, selectEventsPage}

// ListEvents implements [amber.TaskEvents].
func (s *Contracts) ListEvents(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.TaskEvent], error) {
	return events.list(ctx, s.control, taskID, p, taskID)
}

// CompactEvents implements [amber.TaskEvents].
func (s *Contracts) CompactEvents(ctx context.Context, taskID string, keep int) (replay amber.ReplaySnapshot, err error) {
	if keep < 0 {
		return replay, amber.Errorf(amber.KindInvalid, "compact events", taskID, "the number of events to keep is negative, want 0 or more")
	}
	return update(ctx, s.control, "compact events", taskID, func(t *Tx) (amber.ReplaySnapshot, error) {
		return t.compactEvents(taskID, keep)
	})
}

func (t *Tx) compactEvents(taskID string, keep int) (amber.ReplaySnapshot, error) {
	var last, edge int64
	if err := t.Row(selectLastEvent, taskID).Scan(&last); err != nil {
		return amber.ReplaySnapshot{}, err
	}
	if last == 0 {
		return amber.ReplaySnapshot{}, sqlrows.NotFound("compact events", taskID)
	}
	replay, err := t.replay(taskID)
	if err != nil {
		return replay, err
	}
	switch err := t.Row(selectEdge, taskID, keep).Scan(&edge); {
	case sqlrows.Absent(err): // there are no more than keep
		return replay, nil
	case err != nil:
		return replay, err
	}
	err = t.Each(selectEventsUpTo, []any{taskID, edge}, func(s scanner) error {
		e, err := sqlrows.ScanEvent(s)
		if err == nil {
			replay = replay.Fold(e)
		}
		return err
	})
	if err != nil {
		return replay, err
	}
	if err := t.putReplay(replay, edge); err != nil {
		return replay, err
	}
	if err := t.Do(deleteEvents, taskID, edge); err != nil {
		return replay, err
	}
	return replay, t.logControl(amber.OpUpdate, eventKey(taskID, edge))
}

// Replay implements [amber.TaskEvents].
func (s *Contracts) Replay(ctx context.Context, taskID string) (amber.ReplayReport, error) {
	return view(ctx, s.control, "replay task", taskID, func(t *Tx) (amber.ReplayReport, error) {
		task, err := one(t, "replay task", taskID, sqlrows.ScanTask, selectTask, taskID)
		if err != nil {
			return amber.ReplayReport{}, err
		}
		replay, err := t.replay(taskID)
		if err != nil {
			return amber.ReplayReport{}, err
		}
		var events []amber.TaskEvent
		left, bytes := int64(0), 0
		err = t.Each(selectEvents, []any{taskID}, func(s scanner) error {
			e, err := sqlrows.ScanEvent(s)
			if err != nil {
				return err
			}
			replay = replay.Fold(e)
			if bytes >= amber.MaxPageBytes {
				left++
				return nil
			}
			bytes += e.TextBytes()
			events = append(events, e)
			return nil
		})
		report := replay.Report(task, events)
		report.EventsLeft = left
		return report, err
	})
}

// replay returns what the compacted events of a task amount to.
func (t *Tx) replay(taskID string) (r amber.ReplaySnapshot, err error) {
	var body string
	err = t.Row(selectReplay, taskID).Scan(&body)
	switch {
	case sqlrows.Absent(err):
		return amber.EmptyReplay(taskID), nil
	case err != nil:
		return r, err
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return r, sqlrows.NotJSON("replays", taskID, "body")
	}
	return r, nil
}

func (t *Tx) putReplay(r amber.ReplaySnapshot, compacted int64) error {
	body, err := sqlrows.Marshal(r)
	if err != nil {
		return err
	}
	return t.Do(upsertReplay, r.TaskID, compacted, body)
}
