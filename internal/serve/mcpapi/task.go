package mcpapi

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

type taskArgs struct {
	ID                string
	Goal              *string
	State             amber.TaskState
	Session           *amber.SessionID
	Attempts          *integer
	CompletedNodes    *[]string `json:"completed_nodes"`
	NextNodeIndex     *integer  `json:"next_node_index"`
	PendingApprovalID *string   `json:"pending_approval_id"`
	LastResult        *string   `json:"last_result"`
	IfVersion         integer   `json:"if_version"`
}

// saveTask lays what was given over the task as it is stored.
func saveTask(ctx context.Context, _ *bound, a *op.Call, in taskArgs) (answer, error) {
	t := amber.Task{ID: in.ID}
	if in.IfVersion != 0 {
		var err error
		if t, err = a.Store.Tasks.Task(ctx, in.ID); err != nil {
			return answer{}, err
		}
	}
	set(&t.Goal, in.Goal)
	set(&t.SessionID, in.Session)
	set(&t.CompletedNodes, in.CompletedNodes)
	set(&t.PendingApprovalID, in.PendingApprovalID)
	set(&t.LastResult, in.LastResult)
	if in.Attempts != nil {
		t.Attempts = int(*in.Attempts)
	}
	if in.NextNodeIndex != nil {
		t.NextNodeIndex = int(*in.NextNodeIndex)
	}
	if in.State != "" {
		t.State = in.State
	}
	saved, err := a.Store.Tasks.SaveTask(ctx, t, int64(in.IfVersion))
	return taskAnswer(saved), err
}

func set[T any](dst, v *T) {
	if v != nil {
		*dst = *v
	}
}

// taskPage is a task of which long parts are cut.
type taskPage struct {
	amber.Task
	// MoreNodes counts completed nodes that were left out, the oldest ones.
	MoreNodes int `json:"more_nodes,omitempty"`
}

// briefTask cuts texts to n bytes, and keeps as many nodes as fit into n.
func briefTask(t amber.Task, n int) taskPage {
	t.Goal, t.LastResult = clip(t.Goal, n), clip(t.LastResult, n)
	if len(t.Extra) > n {
		t.Extra = nil
	}
	all := len(t.CompletedNodes)
	t.CompletedNodes = lastWithin(t.CompletedNodes, n)
	return taskPage{t, all - len(t.CompletedNodes)}
}

// lastWithin returns the last names that have no more than n bytes together.
func lastWithin(names []string, n int) []string {
	from := len(names)
	for from > 0 && n >= len(names[from-1]) {
		from--
		n -= len(names[from])
	}
	return names[from:]
}

func printTask(t amber.Task) string {
	return fmt.Sprintf("%s is %s, version %d: %s", t.ID, t.State, t.Version, oneLine(t.Goal, snippetBytes))
}

func taskAnswer(t amber.Task) answer {
	return answer{text: printTask(t), data: briefTask(t, pageBytes), subject: t.ID}
}

func getTask(ctx context.Context, _ *bound, a *op.Call, in idArgs) (answer, error) {
	t, err := a.Store.Tasks.Task(ctx, in.ID)
	return taskAnswer(t), err
}

type listTaskArgs struct {
	State   amber.TaskState
	Session amber.SessionID
	pageArgs
}

func listTasks(ctx context.Context, _ *bound, a *op.Call, in listTaskArgs) (answer, error) {
	limit, err := in.Limit.within("limit", 10, 1, 50)
	if err != nil {
		return answer{}, err
	}
	p, err := a.Store.Tasks.ListTasks(ctx, amber.TaskQuery{State: in.State, SessionID: in.Session, Limit: limit, Cursor: amber.Cursor(in.Cursor)})
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Tasks []taskPage   `json:"tasks"`
		Next  amber.Cursor `json:"next,omitempty"`
	}{[]taskPage{}, p.Next}
	lines := []string{}
	for _, t := range p.Items {
		out.Tasks = append(out.Tasks, briefTask(t, snippetBytes))
		lines = append(lines, printTask(t))
	}
	return answer{text: listed(lines, "There are no such tasks."), data: out}, nil
}

type eventArgs struct {
	TaskID     string `json:"task_id"`
	From, To   amber.TaskState
	Kind       amber.TaskEventKind
	Reason     string
	ErrorClass amber.ErrorClass `json:"error_class"`
	NodeID     string           `json:"node_id"`
	NodeKind   string           `json:"node_kind"`
	Attempt    integer
	ApprovalID string `json:"approval_id"`
	Result     string
}

func appendEvent(ctx context.Context, _ *bound, a *op.Call, in eventArgs) (answer, error) {
	e, err := a.Store.Events.AppendEvent(ctx, amber.TaskEvent{
		TaskID: in.TaskID, From: in.From, To: in.To, Kind: in.Kind, Reason: in.Reason, ErrorClass: in.ErrorClass,
		NodeID: in.NodeID, NodeKind: in.NodeKind, Attempt: int(in.Attempt), ApprovalID: in.ApprovalID, Result: in.Result,
	})
	return answer{
		text: fmt.Sprintf("Event %d of %s is recorded.", e.Seq, e.TaskID), subject: e.TaskID,
		data: fields{"task_id": e.TaskID, "seq": e.Seq},
	}, err
}

type taskIDArgs struct {
	TaskID string `json:"task_id"`
}

func replayTask(ctx context.Context, _ *bound, a *op.Call, in taskIDArgs) (answer, error) {
	r, err := a.Store.Events.Replay(ctx, in.TaskID)
	if err != nil {
		return answer{}, err
	}
	// As many as there may be would not fit.
	r.Events, r.Replay.LastResult = []amber.TaskEvent{}, clip(r.Replay.LastResult, pageBytes)
	r.ResumeCandidates = lastWithin(r.ResumeCandidates, pageBytes)
	r.Replay.CompletedNodes, r.Replay.OpenNodes = lastWithin(r.Replay.CompletedNodes, pageBytes), lastWithin(r.Replay.OpenNodes, pageBytes)
	return answer{
		text: fmt.Sprintf("%s is %s, its history says %s: %s, %s.", r.TaskID, r.PersistedState, r.ReplayedState, r.ConsistencyStatus, r.RecoveryEligibility),
		data: r,
	}, nil
}
