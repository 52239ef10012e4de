package amber

import (
	"cmp"
	"context"
)

// TaskEventKind says what a task event records.
type TaskEventKind string

// The kinds of task event.
const (
	EventStateTransition  TaskEventKind = "state_transition" // the default
	EventNodeCompleted    TaskEventKind = "node_completed"
	EventApprovalPending  TaskEventKind = "approval_pending"
	EventApprovalApproved TaskEventKind = "approval_approved"
	EventApprovalRejected TaskEventKind = "approval_rejected"
)

// ErrorClass says what kind of failure an event records.
type ErrorClass string

// The classes of failure.
const (
	ErrorValidation      ErrorClass = "validation"
	ErrorDependency      ErrorClass = "dependency"
	ErrorTimeout         ErrorClass = "timeout"
	ErrorSecurity        ErrorClass = "security"
	ErrorBudgetExhausted ErrorClass = "budget_exhausted"
	ErrorNonRetriable    ErrorClass = "non_retriable"
)

// TaskEvent is one entry of a task's history. The store assigns sequence and
// time; sequences of one task are 1, 2, 3 and so on.
type TaskEvent struct {
	TaskID     string        `json:"task_id" redact:"id,task id"`
	Seq        int64         `json:"seq"`
	At         Time          `json:"at"`
	From       TaskState     `json:"from" redact:"-"`
	To         TaskState     `json:"to" redact:"-"`
	Kind       TaskEventKind `json:"kind" redact:"-"`
	Reason     string        `json:"reason" redact:"text"`
	ErrorClass ErrorClass    `json:"error_class,omitempty" redact:"-"`
	NodeID     string        `json:"node_id,omitempty" redact:"id,node id"`
	NodeKind   string        `json:"node_kind,omitempty" redact:"id,node kind"`
	Attempt    int           `json:"attempt,omitempty"`
	// ApprovalID and Result feed the replay of approvals and results.
	ApprovalID string `json:"approval_id,omitempty" redact:"id,approval id"`
	Result     string `json:"result,omitempty" redact:"raw"`
}

// Normalize fills defaults and checks the event. A transition the table does
// not have is accepted: the log records what happened, and the replay report
// tells. The error is of kind invalid.
func (e TaskEvent) Normalize() (TaskEvent, error) {
	e.Kind = orDefault(e.Kind, EventStateTransition)
	e.To = orDefault(e.To, e.From)
	if e.Attempt < 0 {
		return e, Errorf(KindInvalid, "check event", e.TaskID, "attempt is %d, want 0 or more", e.Attempt)
	}
	if e.Kind == EventNodeCompleted && e.NodeID == "" {
		return e, Errorf(KindInvalid, "check event", e.TaskID, "event of a completed node has no node id")
	}
	if e.ErrorClass != "" {
		if err := CheckOneOf("error class", e.ErrorClass, ErrorValidation, ErrorDependency, ErrorTimeout,
			ErrorSecurity, ErrorBudgetExhausted, ErrorNonRetriable); err != nil {
			return e, err
		}
	}
	return e, cmp.Or(
		CheckID("task id", e.TaskID),
		CheckOneOf("from state", e.From, TaskStates()...),
		CheckOneOf("to state", e.To, TaskStates()...),
		CheckOneOf("event kind", e.Kind, EventStateTransition, EventNodeCompleted, EventApprovalPending, EventApprovalApproved, EventApprovalRejected),
		CheckOptionalID("node id", e.NodeID),
		CheckOptionalID("node kind", e.NodeKind),
		CheckOptionalID("approval id", e.ApprovalID),
		CheckText("reason", e.Reason, MaxSummaryBytes, Lenient),
		CheckText("result", e.Result, MaxContentBytes, Lenient),
	)
}

// TaskEvents is the append-only history of tasks. Safe for concurrent use.
type TaskEvents interface {
	// AppendEvent stores e at the end of its task's history and returns it
	// with sequence and time. Errors: invalid.
	AppendEvent(ctx context.Context, e TaskEvent) (TaskEvent, error)
	// ListEvents returns a page of the events that compaction kept, oldest first.
	// Errors: invalid.
	ListEvents(ctx context.Context, taskID string, p Paging) (Page[TaskEvent], error)
	// CompactEvents folds all but the last keep events into the replay
	// snapshot, in one transaction, and returns it. Errors: invalid,
	// not_found when the task has no events.
	CompactEvents(ctx context.Context, taskID string, keep int) (ReplaySnapshot, error)
	// Replay folds snapshot and events and compares the outcome with the
	// stored task, all in one view. Errors: not_found when the task is not
	// stored.
	Replay(ctx context.Context, taskID string) (ReplayReport, error)
}
