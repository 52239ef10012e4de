package op

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/wire"
)

// TaskID names a task.
type TaskID struct {
	ID string `path:"id" doc:"the id of the task"`
}

// OfTaskIn asks for a page of what belongs to a task.
type OfTaskIn struct {
	Paging
	TaskID string `query:"task_id" doc:"the task"`
}

// Task is a task as it travels. Inside of another document JSON keeps what extra says, but not its white space; extra that has any goes
// along to the byte.
type Task struct {
	amber.Task
	Exact []byte `json:"extra_exact,omitempty"`
}

func newTask(t amber.Task) Task {
	if len(t.Extra) == 0 || isCompact(t.Extra) {
		return Task{Task: t}
	}
	return Task{t, []byte(t.Extra)}
}

// task is the task with extra to the byte. The error is of kind invalid.
func (b Task) task() (amber.Task, error) {
	switch {
	case b.Exact == nil:
	case b.Extra != nil:
		return b.Task, Invalid("field extra is given twice")
	default:
		b.Extra = b.Exact
	}
	return b.Task, nil
}

// TaskSaveIn asks to store a task.
type TaskSaveIn struct {
	TaskID
	IfMatch string `header:"If-Match" doc:"the ETag of the version that is replaced; leave out for a new task"`
	Body    Task   `body:"json" repeats:"id"`
}

// TaskSave stores a task.
var TaskSave = do(Row{
	ID: "task.save", HTTP: "PUT /tasks/{id}", Scope: wire.TokenWrite, Kind: Changes | Bound | Tagged, Holds: HoldsState,
	Sure: []string{"id=id"}, Doc: "Store a task, a new one or the next version",
}, func(ctx context.Context, c *Call, in TaskSaveIn) (Task, error) {
	t, err := in.Body.task()
	if err != nil {
		return Task{}, err
	}
	version, err := expectedExactly(in.IfMatch, 0)
	if err != nil {
		return Task{}, err
	}
	return c.task(c.Store.Tasks.SaveTask(ctx, t, version))
})

// TaskGet reads a task.
var TaskGet = do(Row{
	ID: "task.get", HTTP: "GET /tasks/{id}", Scope: wire.TokenRead, Kind: Bound | Tagged, Holds: HoldsState, Sure: []string{"id=id"}, Doc: "Read one task",
}, func(ctx context.Context, c *Call, in TaskID) (Task, error) {
	return c.task(c.Store.Tasks.Task(ctx, in.ID))
})

func (c *Call) task(t amber.Task, err error) (Task, error) {
	c.Tag = revision(t.Version)
	return newTask(t), err
}

// TasksIn asks for a page of tasks.
type TasksIn struct {
	Paging
	State   amber.TaskState `query:"state" doc:"only in this state"`
	Session amber.SessionID `query:"session_id" doc:"only of this session"`
}

// TaskList lists tasks.
var TaskList = list(Row{
	ID: "task.list", HTTP: "GET /tasks", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsStates, Doc: "List tasks, newest first",
}, func(ctx context.Context, c *Call, in TasksIn, p Paging) (amber.Page[Task], error) {
	tasks, err := c.Store.Tasks.ListTasks(ctx, amber.TaskQuery{State: in.State, SessionID: in.Session, Limit: p.Limit, Cursor: p.Cursor})
	out := amber.Page[Task]{Next: tasks.Next, SetAside: tasks.SetAside}
	for _, t := range tasks.Items {
		out.Items = append(out.Items, newTask(t))
	}
	return out, err
})

// TaskReplay compares a task with its history.
var TaskReplay = do(Row{
	ID: "task.replay", HTTP: "GET /tasks/{id}/replay", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsState, Doc: "Compare a task with its history",
}, func(ctx context.Context, c *Call, in TaskID) (amber.ReplayReport, error) {
	return c.Store.Events.Replay(ctx, in.ID)
})

// TaskEventIn asks to append an event.
type TaskEventIn struct {
	TaskID
	Body amber.TaskEvent `body:"json" repeats:"task_id=id"`
}

// TaskEvent appends an event to the history of a task.
var TaskEvent = do(Row{
	ID: "task.event", HTTP: "POST /tasks/{id}/events", Scope: wire.TokenWrite, Kind: Changes | Bound, Echo: []string{"task_id"}, Status: http.StatusCreated,
	Doc: "Append an event to the history of a task",
}, func(ctx context.Context, c *Call, in TaskEventIn) (amber.TaskEvent, error) {
	return c.Store.Events.AppendEvent(ctx, in.Body)
})

// TaskEventsIn asks for the history of a task.
type TaskEventsIn struct {
	TaskID
	Paging
}

// TaskEvents lists the history of a task.
var TaskEvents = list(Row{
	ID: "task.events", HTTP: "GET /tasks/{id}/events", Scope: wire.TokenRead, Kind: Bound, Doc: "Read the history of a task, oldest first",
}, func(ctx context.Context, c *Call, in TaskEventsIn, p Paging) (amber.Page[amber.TaskEvent], error) {
	return c.Store.Events.ListEvents(ctx, in.ID, p.paging())
})

// TaskCompactIn asks to fold events.
type TaskCompactIn struct {
	TaskID
	Body struct {
		Keep int `json:"keep"`
	} `body:"json"`
}

// TaskCompact folds all but the last events of a task.
var TaskCompact = do(Row{
	ID: "task.compact", HTTP: "POST /tasks/{id}/events/compact", Scope: wire.TokenWrite, Kind: Changes | Repeats | Lasting | Bound, Echo: []string{"task_id"},
	Doc: "Fold all but the last events of a task into its replay",
}, func(ctx context.Context, c *Call, in TaskCompactIn) (amber.ReplaySnapshot, error) {
	return c.Store.Events.CompactEvents(ctx, in.ID, in.Body.Keep)
})

// ApprovalRequestIn asks for an approval; it may be made twice when it says which one it is.
type ApprovalRequestIn struct {
	Body amber.ApprovalRequest `body:"json"`
}

func (r ApprovalRequestIn) repeats() bool { return r.Body.ID != "" }

// ApprovalRequest asks a person for an approval.
var ApprovalRequest = do(Row{
	ID: "approval.request", HTTP: "POST /approvals", Scope: wire.TokenWrite, Kind: Changes | Lasting | Bound, Echo: []string{"task_id", "node_id"}, Status: http.StatusCreated,
	Sure: []string{"id"}, Doc: "Ask a person for an approval",
}, func(ctx context.Context, c *Call, in ApprovalRequestIn) (amber.Approval, error) {
	q, err := RequestApproval(ctx, c.Caller, c.Store.Approvals, in.Body)
	c.Subject = q.ID
	return q, err
})

// ApprovalID names an approval.
type ApprovalID struct {
	ID string `path:"id" doc:"the id of the approval"`
}

// ApprovalDecideIn decides an approval.
type ApprovalDecideIn struct {
	ApprovalID
	Body amber.ApprovalDecision `body:"json" repeats:"id"`
}

// ApprovalDecide decides an approval once.
var ApprovalDecide = do(Row{
	ID: "approval.decide", HTTP: "POST /approvals/{id}/decision", Scope: wire.TokenApprove, Kind: Changes | Bound, Holds: HoldsState,
	Sure: []string{"id=id"}, Doc: "Decide an approval once; the token that requested the approval may not, and the recorded actor is the name of the token",
}, func(ctx context.Context, c *Call, in ApprovalDecideIn) (amber.Approval, error) {
	return DecideApproval(ctx, c.Caller, c.Store.Approvals, in.Body)
})

// ApprovalGet reads an approval.
var ApprovalGet = do(Row{
	ID: "approval.get", HTTP: "GET /approvals/{id}", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsState, Sure: []string{"id=id"}, Doc: "Read one approval",
}, func(ctx context.Context, c *Call, in ApprovalID) (amber.Approval, error) {
	return c.Store.Approvals.Approval(ctx, in.ID)
})

// ApprovalList lists approvals.
var ApprovalList = list(Row{
	ID: "approval.list", HTTP: "GET /approvals", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsStates,
	Doc: "List the approvals of a task, oldest first, or every pending one",
}, func(ctx context.Context, c *Call, in OfTaskIn, p Paging) (amber.Page[amber.Approval], error) {
	return c.Store.Approvals.ListApprovals(ctx, in.TaskID, p.paging())
})

// ResultSave stores what a node of a task produced.
var ResultSave = do(Row{
	ID: "result.save", HTTP: "POST /results", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound, Echo: []string{"task_id", "node_id"}, Holds: HoldsState,
	Doc: "Store what a node of a task produced",
}, func(ctx context.Context, c *Call, in Payload[amber.Result]) (amber.Result, error) {
	c.Subject = in.Body.NodeID
	return c.Store.Results.SaveResult(audited.About(ctx, in.Body.NodeID), in.Body)
})

// ResultID names the result of a node.
type ResultID struct {
	Task string `path:"task" doc:"the id of the task"`
	Node string `path:"node" doc:"the id of the node"`
}

// ResultGet reads the result of a node.
var ResultGet = do(Row{
	ID: "result.get", HTTP: "GET /results/{task}/{node}", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsState, Sure: []string{"task_id=task", "node_id=node"}, Doc: "Read the result of a node",
}, func(ctx context.Context, c *Call, in ResultID) (amber.Result, error) {
	return c.Store.Results.Result(ctx, in.Task, in.Node)
})

// ResultList lists the results of a task.
var ResultList = list(Row{
	ID: "result.list", HTTP: "GET /results", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsStates, Doc: "List the results of a task, by node",
}, func(ctx context.Context, c *Call, in OfTaskIn, p Paging) (amber.Page[amber.Result], error) {
	return c.Store.Results.ListResults(ctx, in.TaskID, p.paging())
})
