package amber

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
)

// TaskState is where a task stands.
type TaskState string

// The fifteen states. Succeeded, dead_letter and cancelled are final.
const (
	TaskQueued            TaskState = "queued"
	TaskPlanning          TaskState = "planning"
	TaskGraphBuilding     TaskState = "graph_building"
	TaskDelegating        TaskState = "delegating"
	TaskExecuting         TaskState = "executing"
	TaskValidating        TaskState = "validating"
	TaskWaitingApproval   TaskState = "waiting_approval"
	TaskAggregating       TaskState = "aggregating"
	TaskCancelRequested   TaskState = "cancel_requested"
	TaskCompensating      TaskState = "compensating"
	TaskTimeoutRecovering TaskState = "timeout_recovering"
	TaskSucceeded         TaskState = "succeeded"
	TaskFailed            TaskState = "failed"
	TaskDeadLetter        TaskState = "dead_letter"
	TaskCancelled         TaskState = "cancelled"
)

// taskTransitions is the checked table: from each state, where a task may go.
// Docs draw it in docs/task-states.md.
var taskTransitions = map[TaskState][]TaskState{
	TaskQueued:            {TaskPlanning, TaskExecuting, TaskCancelRequested, TaskTimeoutRecovering, TaskFailed, TaskDeadLetter},
	TaskPlanning:          {TaskGraphBuilding, TaskExecuting, TaskWaitingApproval, TaskCancelRequested, TaskTimeoutRecovering, TaskFailed},
	TaskGraphBuilding:     {TaskDelegating, TaskExecuting, TaskWaitingApproval, TaskCancelRequested, TaskTimeoutRecovering, TaskFailed},
	TaskDelegating:        {TaskExecuting, TaskWaitingApproval, TaskCancelRequested, TaskTimeoutRecovering, TaskFailed},
	TaskExecuting:         {TaskDelegating, TaskValidating, TaskAggregating, TaskWaitingApproval, TaskCompensating, TaskCancelRequested, TaskTimeoutRecovering, TaskSucceeded, TaskFailed},
	TaskValidating:        {TaskExecuting, TaskAggregating, TaskWaitingApproval, TaskCompensating, TaskCancelRequested, TaskTimeoutRecovering, TaskSucceeded, TaskFailed},
	TaskWaitingApproval:   {TaskPlanning, TaskDelegating, TaskExecuting, TaskValidating, TaskAggregating, TaskCompensating, TaskCancelRequested, TaskTimeoutRecovering, TaskFailed},
	TaskAggregating:       {TaskValidating, TaskWaitingApproval, TaskCompensating, TaskCancelRequested, TaskTimeoutRecovering, TaskSucceeded, TaskFailed},
	TaskCancelRequested:   {TaskCompensating, TaskCancelled, TaskFailed},
	TaskCompensating:      {TaskFailed, TaskCancelled, TaskDeadLetter},
	TaskTimeoutRecovering: {TaskQueued, TaskPlanning, TaskExecuting, TaskCompensating, TaskCancelRequested, TaskFailed, TaskDeadLetter},
	TaskFailed:            {TaskQueued, TaskCompensating, TaskDeadLetter},
	TaskSucceeded:         nil,
	TaskDeadLetter:        nil,
	TaskCancelled:         nil,
}

// TaskStates lists every state in the order above.
func TaskStates() []TaskState {
	return []TaskState{
		TaskQueued, TaskPlanning, TaskGraphBuilding, TaskDelegating, TaskExecuting,
		TaskValidating, TaskWaitingApproval, TaskAggregating, TaskCancelRequested, TaskCompensating,
		TaskTimeoutRecovering, TaskSucceeded, TaskFailed, TaskDeadLetter, TaskCancelled,
	}
}

// Valid reports whether s is one of the fifteen states.
func (s TaskState) Valid() bool { _, ok := taskTransitions[s]; return ok }

// Final reports whether no transition leaves s.
func (s TaskState) Final() bool { return s.Valid() && len(taskTransitions[s]) == 0 }

// CanBecome reports whether the table has a transition from s to next.
func (s TaskState) CanBecome(next TaskState) bool {
	return slices.Contains(taskTransitions[s], next)
}

// Task is the snapshot of one unit of work.
type Task struct {
	ID                string          `json:"id" redact:"id,task id"`
	RequestID         string          `json:"request_id" redact:"id,request id"`
	SessionID         SessionID       `json:"session_id" redact:"id,session id"`
	Goal              string          `json:"goal" redact:"text"`
	State             TaskState       `json:"state" redact:"-"`
	Attempts          int             `json:"attempts"`
	CompletedNodes    []string        `json:"completed_nodes" redact:"id,node id"`
	NextNodeIndex     int             `json:"next_node_index"`
	PendingApprovalID string          `json:"pending_approval_id,omitempty" redact:"id,approval id"`
	LastResult        string          `json:"last_result,omitempty" redact:"raw"`
	Extra             json.RawMessage `json:"extra,omitempty" redact:"raw"` // what else the framework keeps, history and compensation records say
	Version           int64           `json:"version"`
	CreatedAt         Time            `json:"created_at"`
	UpdatedAt         Time            `json:"updated_at"`
}

// Normalize checks the task. The error is of kind invalid.
func (t Task) Normalize() (Task, error) {
	t.State = orDefault(t.State, TaskQueued)
	t.CompletedNodes = append([]string{}, t.CompletedNodes...)
	if t.Attempts < 0 || t.NextNodeIndex < 0 {
		return t, Errorf(KindInvalid, "check task", t.ID, "attempts and next node index must not be negative")
	}
	for _, n := range t.CompletedNodes {
		if err := CheckID("node id", n); err != nil {
			return t, err
		}
	}
	if len(t.Extra) > 0 {
		if err := checkJSON("extra", t.Extra); err != nil {
			return t, err
		}
	}
	return t, cmp.Or(
		CheckID("task id", t.ID),
		CheckOptionalID("request id", t.RequestID),
		CheckOptionalID("session id", string(t.SessionID)),
		CheckOptionalID("approval id", t.PendingApprovalID),
		CheckOneOf("state", t.State, TaskStates()...),
		CheckText("goal", t.Goal, MaxContentBytes, Required),
		CheckText("last result", t.LastResult, MaxContentBytes, Lenient),
	)
}

// CheckSave checks that next may replace stored, whose version the caller
// must have seen: nil stored means the task is new. Backends call it inside
// their transaction. Errors: conflict when ifVersion is not the stored
// version, invalid when the table has no such transition.
func CheckSave(stored *Task, next Task, ifVersion int64) error {
	switch {
	case stored == nil && ifVersion != 0:
		return Errorf(KindConflict, "save task", next.ID, "expected version %d, found no task of this id", ifVersion)
	case stored == nil && next.State != TaskQueued:
		return Errorf(KindInvalid, "save task", next.ID, "state of a new task is %s, want %s", next.State, TaskQueued)
	case stored == nil:
		return nil
	case stored.Version != ifVersion:
		return Errorf(KindConflict, "save task", next.ID, "expected version %d, found %d", ifVersion, stored.Version)
	case stored.State != next.State && !stored.State.CanBecome(next.State):
		return Errorf(KindInvalid, "save task", next.ID, "a task that is %s cannot become %s", stored.State, next.State)
	}
	return nil
}

// TaskQuery pages through tasks, newest first.
type TaskQuery struct {
	State     TaskState `json:"state,omitempty"` // empty: any
	SessionID SessionID `json:"session_id,omitempty"`
	Limit     int       `json:"limit,omitempty"` // 0: DefaultPageSize; at most MaxPageSize
	Cursor    Cursor    `json:"cursor,omitempty"`
}

// Tasks keeps task snapshots. Safe for concurrent use.
type Tasks interface {
	// SaveTask stores t if the stored version equals ifVersion (0 for a new
	// task, which must be queued) and the transition is in the table, and
	// returns it with its new version. Errors: invalid, conflict.
	SaveTask(ctx context.Context, t Task, ifVersion int64) (Task, error)
	// Task returns one task. Errors: not_found.
	Task(ctx context.Context, id string) (Task, error)
	// ListTasks returns a page of tasks. Errors: invalid.
	ListTasks(ctx context.Context, q TaskQuery) (Page[Task], error)
}
