package bounds

import (
	"context"

	"github.com/amber-memory/amber"
)

// newTurn returns a turn with the project of the caller, for a session that the caller may write to.
func (l *Limit) newTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	t, err := l.turn(t)
	if err == nil {
		err = l.enter(ctx, "append turn", t.SessionID)
	}
	return t, err
}

// turn returns a turn with the project of the caller.
func (l *Limit) turn(t amber.Turn) (amber.Turn, error) {
	ids, err := l.named(amber.Identities{ProjectID: t.ProjectID})
	t.ProjectID = ids.ProjectID
	return t, err
}

// turnID returns the id under which a turn is asked for: its own, or a stand-in where the caller does not see its session.
func (l *Limit) turnID(ctx context.Context, id amber.TurnID) (amber.TurnID, error) {
	t, err := l.store.Turns.Turn(ctx, id)
	if err != nil {
		if missing(err) {
			err = nil
		}
		return id, err
	}
	where, _, err := l.session(ctx, t.SessionID)
	if err != nil || where == reached {
		return id, err
	}
	return standIn(id), nil
}

// activityNamed answers with what was done in the sessions that the caller sees.
func (l *Limit) activityNamed(ctx context.Context, c *amber.Call) error {
	if err := c.Next(ctx); err != nil {
		return err
	}
	seen := map[amber.SessionID]bool{}
	return answered(kept(*c.Out.(*[]amber.Activity), func(a amber.Activity) (bool, error) {
		if sees, known := seen[a.SessionID]; known {
			return sees, nil
		}
		where, _, err := l.session(ctx, a.SessionID)
		seen[a.SessionID] = where == reached
		return where == reached, err
	}))(c)
}
