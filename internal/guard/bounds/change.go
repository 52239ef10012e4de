package bounds

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
)

type changes struct {
	amber.ChangeLog
	l *Limit
}

// Changes implements [amber.ChangeLog].
func (c changes) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	for {
		list, err := c.ChangeLog.Changes(ctx, after, limit)
		if err != nil || len(list) == 0 {
			return list, err
		}
		if shown, err := c.l.Changes(ctx, list); err != nil || len(shown) > 0 {
			return shown, err
		}
		after = list[len(list)-1].Position
	}
}

// ChangesBefore implements [amber.ChangeLog].
func (c changes) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	for {
		list, err := c.ChangeLog.ChangesBefore(ctx, q)
		if err != nil || len(list) == 0 {
			return list, err
		}
		if shown, err := c.l.Changes(ctx, list); err != nil || len(shown) > 0 {
			return shown, err
		}
		q.Before = list[len(list)-1].Position
	}
}

// Changes returns those changes that are of records the caller sees. One whose record is gone altogether is left out: whose it was cannot
// be known.
func (l *Limit) Changes(ctx context.Context, list []amber.Change) ([]amber.Change, error) {
	return kept(list, func(c amber.Change) (bool, error) { return l.seesChange(ctx, c) })
}

func (l *Limit) seesChange(ctx context.Context, c amber.Change) (bool, error) {
	switch c.Scope {
	case amber.ChangeMemory:
		return l.seesMemory(ctx, amber.MemoryID(c.Key))
	case amber.ChangeTurn:
		t, err := l.store.Turns.Turn(ctx, amber.TurnID(c.Key))
		if missing(err) {
			return false, nil
		}
		return l.reaches(ctx, t.SessionID, err)
	case amber.ChangeSession, amber.ChangeLoop, amber.ChangeState, amber.ChangeCompaction:
		return l.reaches(ctx, amber.SessionID(c.Key), nil)
	case amber.ChangeNote, amber.ChangeGit:
		return true, nil
	case amber.ChangeControl:
		return l.seesControl(ctx, c.Key)
	}
	return false, nil
}

func (l *Limit) reaches(ctx context.Context, id amber.SessionID, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	where, _, err := l.session(ctx, id)
	return where == reached, err
}

// seesControl reports whether the caller sees a record of the control plane: "task/t1", "event/t1/3", "approval/a1", "result/t1/n".
func (l *Limit) seesControl(ctx context.Context, key string) (bool, error) {
	kind, id, _ := strings.Cut(key, "/")
	switch kind {
	case "task":
		id += "/"
	case "event", "result":
	case "approval":
		as, err := l.approval(ctx, id)
		return as == id, err
	default:
		return false, nil
	}
	return l.seesTasks(ctx, id)
}

// seesTasks reports whether the caller sees the task that a key begins with. An id may hold slashes, so the key may begin with several:
// the caller has to see each.
func (l *Limit) seesTasks(ctx context.Context, key string) (sees bool, err error) {
	for i, c := range key {
		if c != '/' {
			continue
		}
		t, err := l.store.Tasks.Task(ctx, key[:i])
		if missing(err) || amber.KindOf(err) == amber.KindInvalid {
			continue
		}
		if err == nil {
			sees, err = l.seesTask(ctx, t)
		}
		if err != nil || !sees {
			return false, err
		}
	}
	return sees, nil
}
