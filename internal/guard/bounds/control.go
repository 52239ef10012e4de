package bounds

import (
	"context"

	"github.com/amber-memory/amber"
)

// A task belongs to its session; one without a session is everybody's. Events, approvals and results belong to their task.

// task returns the id under which a task is asked for: its own, or a stand-in where the caller does not see it. A task
// that is not stored is asked for by its own id.
func (l *Limit) task(ctx context.Context, id string) (string, error) {
	t, err := l.store.Tasks.Task(ctx, id)
	if missing(err) {
		return id, nil
	}
	if err != nil {
		return id, err
	}
	sees, err := l.seesTask(ctx, t)
	if err != nil || sees {
		return id, err
	}
	return standIn(id), nil
}

func (l *Limit) seesTask(ctx context.Context, t amber.Task) (bool, error) {
	if t.SessionID == "" {
		return true, nil
	}
	where, _, err := l.session(ctx, t.SessionID)
	return where == reached, err
}

// addTo makes sure that the caller may store something for a task. Errors: conflict for one of others.
func (l *Limit) addTo(ctx context.Context, op, id string) error {
	as, err := l.task(ctx, id)
	if err == nil && as != id {
		err = taken(op, id)
	}
	return err
}

func (l *Limit) saveTask(ctx context.Context, c *amber.Call) error {
	t := c.In[0].(*amber.Task)
	id, ifVersion := t.ID, *c.In[1].(*int64)
	as, err := l.task(ctx, id)
	switch {
	case err != nil:
		return err
	case as != id && ifVersion == 0:
		return taken(c.Method.Op, id)
	case as != id: // no task of the caller has a version
		t.ID, t.SessionID = as, ""
		err := asked(id, c.Next(ctx))
		return answered(amber.Task{}, err)(c)
	case t.SessionID != "":
		if err := l.enter(ctx, c.Method.Op, t.SessionID); err != nil {
			return err
		}
	}
	return c.Next(ctx)
}

// approval returns the id under which an approval is asked for.
func (l *Limit) approval(ctx context.Context, id string) (string, error) {
	a, err := l.store.Approvals.Approval(ctx, id)
	if missing(err) || id == "" {
		return id, nil
	}
	if err != nil {
		return id, err
	}
	sees, err := l.seesApproval(ctx, a)
	if err != nil || sees {
		return id, err
	}
	return standIn(id), nil
}

func (l *Limit) seesApproval(ctx context.Context, a amber.Approval) (bool, error) {
	as, err := l.task(ctx, a.TaskID)
	return as == a.TaskID, err
}

func (l *Limit) requestApproval(ctx context.Context, c *amber.Call) error {
	r := c.In[0].(*amber.ApprovalRequest)
	if err := l.addTo(ctx, c.Method.Op, r.TaskID); err != nil {
		return err
	}
	as, err := l.approval(ctx, r.ID)
	if err == nil && as != r.ID {
		err = taken(c.Method.Op, r.ID)
	}
	if err != nil {
		return err
	}
	return c.Next(ctx)
}
