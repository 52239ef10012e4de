package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// taskID is in the path of what concerns one task.
type taskID struct {
	ID string `path:"id" doc:"the id of the task"`
}

// ofTask is in the query of listings of what belongs to a task.
type ofTask struct {
	paging
	TaskID string `query:"task_id" doc:"the task"`
}

// taskBody is a task as it travels. Inside of another document JSON keeps what
// extra says, but not its white space; extra that has any goes along to the
// byte.
type taskBody struct {
	amber.Task
	Exact []byte `json:"extra_exact,omitempty"`
}

func newTaskBody(t amber.Task) taskBody {
	var compact bytes.Buffer
	if len(t.Extra) == 0 || json.Compact(&compact, t.Extra) == nil && bytes.Equal(compact.Bytes(), t.Extra) {
		return taskBody{Task: t}
	}
	return taskBody{t, []byte(t.Extra)}
}

// task is the task with extra to the byte. The error is of kind invalid.
func (b taskBody) task() (amber.Task, error) {
	switch {
	case b.Exact == nil:
	case b.Extra != nil:
		return b.Task, invalid("field extra is given twice")
	default:
		b.Extra = b.Exact
	}
	return b.Task, nil
}

func taskRoutes(a *API) {
	type save struct {
		taskID
		IfMatch string   `header:"If-Match" doc:"the ETag of the version that is replaced; leave out for a new task"`
		Body    taskBody `body:"json"`
	}
	handle(a, operation{
		id: "task.save", bound: true, method: "PUT", path: agentPath + "/tasks/{id}", scope: wire.TokenWrite, mutates: true,
		summary: "Store a task, a new one or the next version",
	}, func(ctx context.Context, ag *server.Agent, in save) (answer[taskBody], error) {
		t, err := in.Body.task()
		if err == nil {
			err = agree("task", in.ID, &t.ID)
		}
		if err != nil {
			return answer[taskBody]{}, err
		}
		version, err := expectedExactly(in.IfMatch, 0)
		if err != nil {
			return answer[taskBody]{}, err
		}
		return taggedTask(ag.Store.Tasks.SaveTask(ctx, t, version))
	})

	handle(a, operation{
		id: "task.get", bound: true, method: "GET", path: agentPath + "/tasks/{id}", scope: wire.TokenRead, summary: "Read one task",
	}, func(ctx context.Context, ag *server.Agent, in taskID) (answer[taskBody], error) {
		return taggedTask(ag.Store.Tasks.Task(ctx, in.ID))
	})

	type listing struct {
		paging
		State   amber.TaskState `query:"state" doc:"only in this state"`
		Session amber.SessionID `query:"session_id" doc:"only of this session"`
	}
	handleList(a, operation{
		id: "task.list", bound: true, method: "GET", path: agentPath + "/tasks", scope: wire.TokenRead, summary: "List tasks, newest first",
	}, func(ctx context.Context, ag *server.Agent, in listing, p paging) (amber.Page[taskBody], error) {
		tasks, err := ag.Store.Tasks.ListTasks(ctx, amber.TaskQuery{State: in.State, SessionID: in.Session, Limit: p.Limit, Cursor: p.Cursor})
		out := amber.Page[taskBody]{Next: tasks.Next, SetAside: tasks.SetAside}
		for _, t := range tasks.Items {
			out.Items = append(out.Items, newTaskBody(t))
		}
		return out, err
	})

	handle(a, operation{
		id: "task.replay", bound: true, method: "GET", path: agentPath + "/tasks/{id}/replay", scope: wire.TokenRead,
		summary: "Compare a task with its history",
	}, func(ctx context.Context, ag *server.Agent, in taskID) (answer[amber.ReplayReport], error) {
		return got(ag.Store.Events.Replay(ctx, in.ID))
	})
}

func taggedTask(t amber.Task, err error) (answer[taskBody], error) {
	return tagged(newTaskBody(t), revision(t.Version), err)
}

func taskEventRoutes(a *API) {
	type add struct {
		taskID
		Body amber.TaskEvent `body:"json"`
	}
	handle(a, operation{
		id: "task.event", bound: true, method: "POST", path: agentPath + "/tasks/{id}/events", scope: wire.TokenWrite, mutates: true, echo: []string{"task_id"},
		status: http.StatusCreated, summary: "Append an event to the history of a task",
	}, func(ctx context.Context, ag *server.Agent, in add) (answer[amber.TaskEvent], error) {
		if err := agree("task", in.ID, &in.Body.TaskID); err != nil {
			return answer[amber.TaskEvent]{}, err
		}
		return got(ag.Store.Events.AppendEvent(ctx, in.Body))
	})

	type events struct {
		taskID
		paging
	}
	handleList(a, operation{
		id: "task.events", bound: true, method: "GET", path: agentPath + "/tasks/{id}/events", scope: wire.TokenRead, summary: "Read the history of a task, oldest first",
	}, func(ctx context.Context, ag *server.Agent, in events, p paging) (amber.Page[amber.TaskEvent], error) {
		return ag.Store.Events.ListEvents(ctx, in.ID, p.paging())
	})

	type compact struct {
		taskID
		Body struct {
			Keep int `json:"keep"`
		} `body:"json"`
	}
	handle(a, operation{
		id: "task.compact", bound: true, method: "POST", path: agentPath + "/tasks/{id}/events/compact", scope: wire.TokenWrite, mutates: true, echo: []string{"task_id"}, repeatable: true, lasting: true,
		summary: "Fold all but the last events of a task into its replay",
	}, func(ctx context.Context, ag *server.Agent, in compact) (answer[amber.ReplaySnapshot], error) {
		return got(ag.Store.Events.CompactEvents(ctx, in.ID, in.Body.Keep))
	})
}

// approvalRequest may be made twice when it says which one it is.
type approvalRequest struct {
	Body amber.ApprovalRequest `body:"json"`
}

func (r approvalRequest) repeats() bool { return r.Body.ID != "" }

func approvalRoutes(a *API) {
	handle(a, operation{
		id: "approval.request", bound: true, method: "POST", path: agentPath + "/approvals", scope: wire.TokenWrite, mutates: true, echo: []string{"task_id", "node_id"}, lasting: true,
		status: http.StatusCreated, summary: "Ask a person for an approval",
	}, func(ctx context.Context, ag *server.Agent, in approvalRequest) (answer[amber.Approval], error) {
		q, err := server.RequestApproval(ctx, ag.Store.Approvals, in.Body)
		return answer[amber.Approval]{body: q, subject: q.ID}, err
	})

	type approvalID struct {
		ID string `path:"id" doc:"the id of the approval"`
	}
	type decide struct {
		approvalID
		Body amber.ApprovalDecision `body:"json"`
	}
	handle(a, operation{
		id: "approval.decide", bound: true, method: "POST", path: agentPath + "/approvals/{id}/decision", scope: wire.TokenApprove, mutates: true,
		summary: "Decide an approval once; the token that requested the approval may not, and the recorded actor is the name of the token",
	}, func(ctx context.Context, ag *server.Agent, in decide) (answer[amber.Approval], error) {
		if err := agree("approval", in.ID, &in.Body.ID); err != nil {
			return answer[amber.Approval]{}, err
		}
		return got(server.DecideApproval(ctx, ag.Store.Approvals, in.Body))
	})

	handle(a, operation{
		id: "approval.get", bound: true, method: "GET", path: agentPath + "/approvals/{id}", scope: wire.TokenRead, summary: "Read one approval",
	}, func(ctx context.Context, ag *server.Agent, in approvalID) (answer[amber.Approval], error) {
		return got(ag.Store.Approvals.Approval(ctx, in.ID))
	})

	handleList(a, operation{
		id: "approval.list", bound: true, method: "GET", path: agentPath + "/approvals", scope: wire.TokenRead,
		summary: "List the approvals of a task, oldest first, or every pending one",
	}, func(ctx context.Context, ag *server.Agent, in ofTask, p paging) (amber.Page[amber.Approval], error) {
		return ag.Store.Approvals.ListApprovals(ctx, in.TaskID, p.paging())
	})
}

func resultRoutes(a *API) {
	handle(a, operation{
		id: "result.save", bound: true, method: "POST", path: agentPath + "/results", scope: wire.TokenWrite, mutates: true, echo: []string{"task_id", "node_id"}, repeatable: true,
		summary: "Store what a node of a task produced",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Result]) (answer[amber.Result], error) {
		r, err := ag.Store.Results.SaveResult(server.About(ctx, in.Body.NodeID), in.Body)
		return answer[amber.Result]{body: r, subject: in.Body.NodeID}, err
	})

	type one struct {
		Task string `path:"task" doc:"the id of the task"`
		Node string `path:"node" doc:"the id of the node"`
	}
	handle(a, operation{
		id: "result.get", bound: true, method: "GET", path: agentPath + "/results/{task}/{node}", scope: wire.TokenRead, summary: "Read the result of a node",
	}, func(ctx context.Context, ag *server.Agent, in one) (answer[amber.Result], error) {
		return got(ag.Store.Results.Result(ctx, in.Task, in.Node))
	})

	handleList(a, operation{
		id: "result.list", bound: true, method: "GET", path: agentPath + "/results", scope: wire.TokenRead, summary: "List the results of a task, by node",
	}, func(ctx context.Context, ag *server.Agent, in ofTask, p paging) (amber.Page[amber.Result], error) {
		return ag.Store.Results.ListResults(ctx, in.TaskID, p.paging())
	})
}
