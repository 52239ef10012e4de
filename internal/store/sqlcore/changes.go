package sqlcore

import (
	"context"
	"encoding/json"
	"math"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectHead        = `SELECT coalesce(max(seq), 0), (SELECT id FROM incarnations ORDER BY ordinal DESC LIMIT 1) FROM changes`
	selectIncarnation = `SELECT coalesce((SELECT min(first_seq) - 1 FROM incarnations l WHERE l.ordinal > i.ordinal), (SELECT coalesce(max(seq), 0) FROM changes)) FROM incarnations i WHERE i.id = ?`
	selectChanges     = `SELECT c.seq, c.stamp, c.op, c.scope, c.key, c.old_digest, c.new_digest,
  (SELECT id FROM incarnations i WHERE i.first_seq <= c.seq ORDER BY i.ordinal DESC LIMIT 1)
FROM changes c WHERE c.seq > ? ORDER BY c.seq LIMIT ?`
	selectChangesBefore = `SELECT c.seq, c.stamp, c.op, c.scope, c.key, c.old_digest, c.new_digest,
  (SELECT id FROM incarnations i WHERE i.first_seq <= c.seq ORDER BY i.ordinal DESC LIMIT 1)
FROM changes c WHERE c.seq < ? AND (?2 = '[]' OR c.scope IN (SELECT value FROM json_each(?2))) ORDER BY c.seq DESC LIMIT ?`
)

// Changes implements [amber.ChangeLog] for the memory. Writers
// commit one at a time in the order of seq, so no entry is ever overtaken.
func (s *Contracts) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	return changes(ctx, s.memory, after, limit)
}

// ChangesBefore implements [amber.ChangeLog] for the memory.
func (s *Contracts) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	return changesBefore(ctx, s.memory, q)
}

// Head implements [amber.ChangeLog] for the memory.
func (s *Contracts) Head(ctx context.Context) (amber.Position, error) { return head(ctx, s.memory) }

// controlLog is the change log of the control plane.
type controlLog struct{ s *Contracts }

func (l controlLog) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	return changes(ctx, l.s.control, after, limit)
}

func (l controlLog) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	return changesBefore(ctx, l.s.control, q)
}

func (l controlLog) Head(ctx context.Context) (amber.Position, error) { return head(ctx, l.s.control) }

var (
	_ amber.ChangeLog = (*Contracts)(nil)
	_ amber.ChangeLog = controlLog{}
)

func changes(ctx context.Context, d Database, after amber.Position, limit int) ([]amber.Change, error) {
	incarnation, seq, err := after.Parse()
	if err != nil {
		return nil, err
	}
	if limit < 0 {
		return nil, amber.Errorf(amber.KindInvalid, "read changes", "", "the limit is negative, want 0 or more")
	}
	return view(ctx, d, "read changes", "", func(t *Tx) ([]amber.Change, error) {
		if incarnation != "" {
			if err := t.checkPosition(incarnation, seq); err != nil {
				return nil, err
			}
		}
		return sqlrows.All(t.Tx, scanChange, selectChanges, seq, limit)
	})
}

func changesBefore(ctx context.Context, d Database, q amber.ChangeQuery) ([]amber.Change, error) {
	incarnation, seq, err := q.Before.Parse()
	if err != nil {
		return nil, err
	}
	if q.Limit < 0 {
		return nil, amber.Errorf(amber.KindInvalid, "read changes", "", "the limit is negative, want 0 or more")
	}
	scopes, err := json.Marshal(append([]amber.ChangeScope{}, q.Scopes...))
	if err != nil {
		return nil, err
	}
	return view(ctx, d, "read changes", "", func(t *Tx) ([]amber.Change, error) {
		if incarnation == "" {
			seq = math.MaxInt64
		} else if err := t.checkPosition(incarnation, seq); err != nil {
			return nil, err
		}
		return sqlrows.All(t.Tx, scanChange, selectChangesBefore, seq, string(scopes), q.Limit)
	})
}

// checkPosition refuses a position that this log's history does not contain:
// after a restore the entries behind it may be others.
func (t *Tx) checkPosition(incarnation string, seq int64) error {
	var last int64
	err := t.Row(selectIncarnation, incarnation).Scan(&last)
	if sqlrows.Absent(err) || err == nil && seq > last {
		return amber.Errorf(amber.KindConflict, "read changes", "", "the position is not in this history: the agent was restored since").
			WithHint("read again from the beginning: leave out the position")
	}
	return err
}

func scanChange(s scanner) (amber.Change, error) {
	var (
		c           amber.Change
		seq         int64
		at          int64
		incarnation string
	)
	err := s.Scan(&seq, &at, &c.Op, &c.Scope, &c.Key, &c.OldDigest, &c.NewDigest, &incarnation)
	// An entry out of range is one without a time: a reader that left it out would
	// miss a change.
	c.Position, c.At = amber.PositionAt(incarnation, seq), amber.Stamp(max(at, 0)).Time()
	return c, err
}

func head(ctx context.Context, d Database) (amber.Position, error) {
	return view(ctx, d, "read changes", "", func(t *Tx) (amber.Position, error) {
		var seq int64
		var incarnation string
		if err := t.Row(selectHead).Scan(&seq, &incarnation); err != nil {
			return "", err
		}
		return amber.PositionAt(incarnation, seq), nil
	})
}

// LastStamp returns the stamp of the newest change of either database: a wall
// clock far behind it was set back.
func (s *Contracts) LastStamp(ctx context.Context) (last amber.Stamp, err error) {
	for _, d := range []Database{s.memory, s.control} {
		err := d.View(ctx, "read clock", d.Name(), func(t *Tx) error {
			var stamp amber.Stamp
			err := t.Row(sqlrows.SelectLastStamp).Scan(&stamp)
			last = max(last, stamp)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return last, nil
}
