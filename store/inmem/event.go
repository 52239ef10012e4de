package inmem

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

var _ amber.TaskEvents = (*Store)(nil)

// history is what a task went through: a compacted part and the events that
// follow it.
type history struct {
	snapshot amber.ReplaySnapshot
	events   []amber.TaskEvent
}

// historyOf returns the history of a task, an empty one where there is none.
func (s *Store) historyOf(taskID string) *history {
	if h := s.histories[taskID]; h != nil {
		return h
	}
	return &history{snapshot: amber.EmptyReplay(taskID)}
}

func eventKey(taskID string, seq int64) string { return fmt.Sprintf("event/%s/%d", taskID, seq) }

// AppendEvent implements [amber.TaskEvents].
func (s *Store) AppendEvent(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error) {
	e, err := e.Normalize()
	if err != nil {
		return amber.TaskEvent{}, err
	}
	return run(ctx, s, "append event", func() (amber.TaskEvent, error) {
		h := s.historyOf(e.TaskID)
		e.Seq = h.snapshot.CompactedEventCount + int64(len(h.events)) + 1
		e.At = s.now()
		h.events = append(h.events, e)
		s.histories[e.TaskID] = h
		s.logControl(e.At, amber.OpInsert, eventKey(e.TaskID, e.Seq))
		return e, nil
	})
}

// ListEvents implements [amber.TaskEvents].
func (s *Store) ListEvents(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.TaskEvent], error) {
	const op = "list events"
	return run(ctx, s, op, func() (amber.Page[amber.TaskEvent], error) {
		return enumerate(op, "events", s.historyOf(taskID).events, p)
	})
}

// CompactEvents implements [amber.TaskEvents]. The log names the last event
// that was folded.
func (s *Store) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	if keep < 0 {
		return amber.ReplaySnapshot{}, invalid("compact events", taskID, "the number of events to keep is negative, want 0 or more")
	}
	return run(ctx, s, "compact events", func() (amber.ReplaySnapshot, error) {
		h := s.histories[taskID]
		if h == nil {
			return amber.ReplaySnapshot{}, notFound("compact events", taskID)
		}
		if n := len(h.events) - keep; n > 0 {
			h.snapshot = h.snapshot.FoldAll(h.events[:n])
			h.events = copyList(h.events[n:])
			s.logControl(s.now(), amber.OpUpdate, eventKey(taskID, h.snapshot.CompactedEventCount))
		}
		return copySnapshot(h.snapshot), nil
	})
}

// Replay implements [amber.TaskEvents].
func (s *Store) Replay(ctx context.Context, taskID string) (amber.ReplayReport, error) {
	return run(ctx, s, "replay task", func() (amber.ReplayReport, error) {
		t, err := lookup("replay task", taskID, s.tasks, taskID, copyTask)
		if err != nil {
			return amber.ReplayReport{}, err
		}
		h := s.historyOf(taskID)
		return amber.NewReplayReport(t, copySnapshot(h.snapshot), h.events), nil
	})
}
