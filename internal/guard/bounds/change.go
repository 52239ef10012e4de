package bounds

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
)

// changes answers with the next changes that are of records the caller sees.
func (l *Limit) changes(ctx context.Context, c *amber.Call) error {
	from, out := position(c), c.Out.(*[]amber.Change)
	for {
		if err := c.Next(ctx); err != nil || len(*out) == 0 {
			return err
		}
		last := (*out)[len(*out)-1].Position
		shown, err := l.Changes(ctx, *out)
		if *out = shown; err != nil || len(shown) > 0 {
			return err
		}
		*from = last
	}
}

// position is where a call begins to read a log.
func position(c *amber.Call) *amber.Position {
	if q, ok := c.In[0].(*amber.ChangeQuery); ok {
		return &q.Before
	}
	return c.In[0].(*amber.Position)
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
