package bounds

import (
	"context"

	"github.com/amber-memory/amber"
)

type turns struct{ *Limit }

// AppendTurn implements [amber.Turns].
func (l turns) AppendTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	const op = "append turn"
	t, err := l.turn(t)
	if err == nil {
		err = l.enter(ctx, op, t.SessionID)
	}
	if err != nil {
		return amber.Turn{}, err
	}
	return l.store.Turns.AppendTurn(ctx, t)
}

// turn returns a turn with the project of the caller.
func (l *Limit) turn(t amber.Turn) (amber.Turn, error) {
	ids, err := l.named(amber.Identities{ProjectID: t.ProjectID})
	t.ProjectID = ids.ProjectID
	return t, err
}

// ListTurns implements [amber.Turns].
func (l turns) ListTurns(ctx context.Context, q amber.TurnQuery) (amber.Page[amber.ListedTurn], error) {
	return find(ctx, q.SessionID, l.ask, func(ctx context.Context, id amber.SessionID) (amber.Page[amber.ListedTurn], error) {
		q.SessionID = id
		return l.store.Turns.ListTurns(ctx, q)
	})
}

// Turn implements [amber.Turns].
func (l turns) Turn(ctx context.Context, id amber.TurnID) (amber.Turn, error) {
	t, err := l.store.Turns.Turn(ctx, id)
	if err != nil {
		return amber.Turn{}, err
	}
	where, _, err := l.session(ctx, t.SessionID)
	if err != nil || where == reached {
		return t, err
	}
	_, err = l.store.Turns.Turn(ctx, standIn(id))
	return amber.Turn{}, asked(id, err)
}

// DeleteTurns implements [amber.Turns].
func (l turns) DeleteTurns(ctx context.Context, id amber.SessionID) (int, error) {
	return find(ctx, id, l.ask, l.store.Turns.DeleteTurns)
}

type compactions struct{ *Limit }

// AddCompaction implements [amber.Compactions].
func (l compactions) AddCompaction(ctx context.Context, c amber.Compaction) (amber.Compaction, error) {
	if err := l.enter(ctx, "add compaction", c.SessionID); err != nil {
		return amber.Compaction{}, err
	}
	return l.store.Compactions.AddCompaction(ctx, c)
}

// Compactions implements [amber.Compactions].
func (l compactions) Compactions(ctx context.Context, id amber.SessionID, p amber.Paging) (amber.Page[amber.Compaction], error) {
	return find(ctx, id, l.ask, func(ctx context.Context, id amber.SessionID) (amber.Page[amber.Compaction], error) {
		return l.store.Compactions.Compactions(ctx, id, p)
	})
}

type loops struct{ *Limit }

// SaveLoop implements [amber.Loops].
func (l loops) SaveLoop(ctx context.Context, s amber.LoopSave) (amber.PendingLoop, error) {
	if err := l.enter(ctx, "save loop", s.SessionID); err != nil {
		return amber.PendingLoop{}, err
	}
	return l.store.Loops.SaveLoop(ctx, s)
}

// LoadLoop implements [amber.Loops].
func (l loops) LoadLoop(ctx context.Context, id amber.SessionID) (amber.PendingLoop, error) {
	return find(ctx, id, l.ask, l.store.Loops.LoadLoop)
}

// ClearLoop implements [amber.Loops].
func (l loops) ClearLoop(ctx context.Context, id amber.SessionID, runID string) error {
	return change(ctx, id, l.ask, func(ctx context.Context, id amber.SessionID) error {
		return l.store.Loops.ClearLoop(ctx, id, runID)
	})
}

type activities struct{ *Limit }

// ListActivity implements [amber.Activities].
func (l activities) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
	return find(ctx, id, l.ask, func(ctx context.Context, id amber.SessionID) ([]amber.Activity, error) {
		return l.store.Activities.ListActivity(ctx, id, kind)
	})
}

// ActivityNamed implements [amber.Activities].
func (l activities) ActivityNamed(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error) {
	list, err := l.store.Activities.ActivityNamed(ctx, kind, name)
	if err != nil {
		return nil, err
	}
	seen := map[amber.SessionID]bool{}
	return kept(list, func(a amber.Activity) (bool, error) {
		if sees, known := seen[a.SessionID]; known {
			return sees, nil
		}
		where, _, err := l.session(ctx, a.SessionID)
		seen[a.SessionID] = where == reached
		return where == reached, err
	})
}
