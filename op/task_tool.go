package op

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// taskShows are the fields of a task in output schemas.
const taskShows = "id goal state version completed_nodes pending_approval_id last_result"

// taskPage is a task of which long parts are cut.
type taskPage struct {
	amber.Task
	// MoreNodes counts completed nodes that were left out, the oldest ones.
	MoreNodes int `json:"more_nodes,omitempty"`
}

// briefTask cuts texts to n bytes, and keeps as many nodes as fit into n.
func briefTask(t amber.Task, n int) taskPage {
	t.Goal, t.LastResult = clip.Marked(t.Goal, n), clip.Marked(t.LastResult, n)
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
	return fmt.Sprintf("%s is %s, version %d: %s", t.ID, t.State, t.Version, shown.OneLine(t.Goal, SnippetBytes))
}

func (c *Call) taskAnswer(t amber.Task, err error) (taskPage, string, error) {
	c.Subject = t.ID
	return briefTask(t, shown.PageBytes), printTask(t), err
}

type taskSaveArgs struct {
	ID                string           `json:"id" need:"yes"`
	Goal              *string          `json:"goal"`
	State             amber.TaskState  `json:"state"`
	Session           *amber.SessionID `json:"session"`
	Attempts          *int             `json:"attempts"`
	CompletedNodes    *[]string        `json:"completed_nodes"`
	NextNodeIndex     *int             `json:"next_node_index"`
	PendingApprovalID *string          `json:"pending_approval_id"`
	LastResult        *string          `json:"last_result"`
	IfVersion         int64            `json:"if_version" doc:"0: the task is new"`
}

// taskSave lays what was given over the task as it is stored.
var taskSave = NewTool(Tool{
	Op: TaskSave.Row, Name: "task_save", Title: "Save a task", Hints: Destroys, Shows: taskShows,
	Use: "Create a task, or move a task on: give the version that you last saw as if_version, and only what changes.",
}, func(ctx context.Context, c *Call, in taskSaveArgs) (taskPage, string, error) {
	t := amber.Task{ID: in.ID}
	if in.IfVersion != 0 {
		var err error
		if t, err = c.Store.Tasks.Task(ctx, in.ID); err != nil {
			return taskPage{}, "", err
		}
	}
	t.Goal, t.SessionID, t.CompletedNodes = orElse(in.Goal, t.Goal), orElse(in.Session, t.SessionID), orElse(in.CompletedNodes, t.CompletedNodes)
	t.PendingApprovalID, t.LastResult = orElse(in.PendingApprovalID, t.PendingApprovalID), orElse(in.LastResult, t.LastResult)
	t.Attempts, t.NextNodeIndex = orElse(in.Attempts, t.Attempts), orElse(in.NextNodeIndex, t.NextNodeIndex)
	if in.State != "" {
		t.State = in.State
	}
	return c.taskAnswer(c.Store.Tasks.SaveTask(ctx, t, in.IfVersion))
})

type taskGetArgs struct {
	ID string `json:"id" need:"yes"`
}

var taskGet = NewTool(Tool{
	Op: TaskGet.Row, Name: "task_get", Title: "Read a task", Use: "Where one task stands.", Shows: taskShows,
}, func(ctx context.Context, c *Call, in taskGetArgs) (taskPage, string, error) {
	return c.taskAnswer(c.Store.Tasks.Task(ctx, in.ID))
})

type taskListArgs struct {
	State   amber.TaskState `json:"state"`
	Session amber.SessionID `json:"session"`
	Limit   int             `json:"limit" doc:"default 10, at most 50" range:"1 50" default:"10"`
	Cursor  amber.Cursor    `json:"cursor"`
}

type taskPages struct {
	Tasks []taskPage   `json:"tasks" shows:"id goal state version completed_nodes pending_approval_id last_result"`
	Next  amber.Cursor `json:"next,omitempty"`
}

var taskList = NewTool(Tool{
	Op: TaskList.Row, Name: "task_list", Title: "List tasks", Use: "Tasks, newest first. For more call again with cursor = next.",
}, func(ctx context.Context, c *Call, in taskListArgs) (taskPages, string, error) {
	p, err := c.Store.Tasks.ListTasks(ctx, amber.TaskQuery{State: in.State, SessionID: in.Session, Limit: in.Limit, Cursor: in.Cursor})
	out, lines := taskPages{[]taskPage{}, p.Next}, []string{}
	for _, t := range p.Items {
		out.Tasks, lines = append(out.Tasks, briefTask(t, SnippetBytes)), append(lines, printTask(t))
	}
	return out, Lines(lines, "There are no such tasks."), err
})

type taskEventArgs struct {
	TaskID     string              `json:"task_id" need:"yes"`
	From       amber.TaskState     `json:"from" need:"yes"`
	To         amber.TaskState     `json:"to"`
	Kind       amber.TaskEventKind `json:"kind"`
	Reason     string              `json:"reason"`
	ErrorClass amber.ErrorClass    `json:"error_class"`
	NodeID     string              `json:"node_id"`
	NodeKind   string              `json:"node_kind"`
	Attempt    int                 `json:"attempt"`
	ApprovalID string              `json:"approval_id"`
	Result     string              `json:"result"`
}

type eventSaved struct {
	Seq    int64  `json:"seq"`
	TaskID string `json:"task_id"`
}

var taskEvent = NewTool(Tool{
	Op: TaskEvent.Row, Name: "task_event", Title: "Record what happened to a task", Shows: "task_id seq",
	Use: "Append to the history of a task; after a crash the task is recovered from its history.",
}, func(ctx context.Context, c *Call, in taskEventArgs) (eventSaved, string, error) {
	e, err := c.Store.Events.AppendEvent(ctx, amber.TaskEvent{
		TaskID: in.TaskID, From: in.From, To: in.To, Kind: in.Kind, Reason: in.Reason, ErrorClass: in.ErrorClass,
		NodeID: in.NodeID, NodeKind: in.NodeKind, Attempt: in.Attempt, ApprovalID: in.ApprovalID, Result: in.Result,
	})
	c.Subject = e.TaskID
	return eventSaved{e.Seq, e.TaskID}, fmt.Sprintf("Event %d of %s is recorded.", e.Seq, e.TaskID), err
})

type ofTaskArgs struct {
	TaskID string `json:"task_id" need:"yes"`
}

var taskReplay = NewTool(Tool{
	Op: TaskReplay.Row, Name: "task_replay", Title: "What a task's history amounts to",
	Use:   "After a crash: whether history and task agree, and whether the task can go on.",
	Shows: "task_id persisted_state replayed_state consistency_status recovery_eligibility resume_candidates",
}, func(ctx context.Context, c *Call, in ofTaskArgs) (amber.ReplayReport, string, error) {
	r, err := c.Store.Events.Replay(ctx, in.TaskID)
	// As many as there may be would not fit.
	r.Events, r.Replay.LastResult = []amber.TaskEvent{}, clip.Marked(r.Replay.LastResult, shown.PageBytes)
	r.ResumeCandidates = lastWithin(r.ResumeCandidates, shown.PageBytes)
	r.Replay.CompletedNodes, r.Replay.OpenNodes = lastWithin(r.Replay.CompletedNodes, shown.PageBytes), lastWithin(r.Replay.OpenNodes, shown.PageBytes)
	return r, fmt.Sprintf("%s is %s, its history says %s: %s, %s.", r.TaskID, r.PersistedState, r.ReplayedState, r.ConsistencyStatus, r.RecoveryEligibility), err
})

// briefApproval cuts texts to n bytes and leaves a longer payload out; its digest stays.
func briefApproval(ap amber.Approval, n int) amber.Approval {
	if len(ap.Payload) > n {
		ap.Payload = json.RawMessage(`"[cut]"`)
	}
	ap.Summary, ap.Comment = clip.Marked(ap.Summary, n), clip.Marked(ap.Comment, n)
	return ap
}

func printApproval(ap amber.Approval) string {
	return fmt.Sprintf("%s is %s: %s", ap.ID, ap.Status, shown.OneLine(ap.Summary, SnippetBytes))
}

type approvalArgs struct {
	ID      string          `json:"id"`
	TaskID  string          `json:"task_id" need:"yes"`
	NodeID  string          `json:"node_id" need:"yes"`
	Summary string          `json:"summary" need:"yes"`
	Payload json.RawMessage `json:"payload" type:"object" need:"yes"`
}

// approvalRequest asks for an approval; a person decides it: amber approval decide.
var approvalRequest = NewTool(Tool{
	Op: ApprovalRequest.Row, Name: "approval_request", Title: "Ask a person", Hints: Again, Shows: "id task_id node_id summary status digest",
	Use: "Ask for approval of exactly this payload; a person decides elsewhere. The same id again returns the same approval.",
}, func(ctx context.Context, c *Call, in approvalArgs) (amber.Approval, string, error) {
	ap, err := ApprovalRequest.Call(ctx, c, ApprovalRequestIn{amber.ApprovalRequest{
		ID: in.ID, TaskID: in.TaskID, NodeID: in.NodeID, Summary: in.Summary, Payload: in.Payload,
	}})
	return briefApproval(ap, shown.PageBytes), printApproval(ap), err
})

// Bounds of lists that have no cursor.
const (
	maxItems  = 50
	itemBytes = 1 << 10 // of a text of one item
)

type approvalsArgs struct {
	TaskID string `json:"task_id"`
}

type approvals struct {
	Approvals []amber.Approval `json:"approvals" shows:"id task_id node_id summary status digest"`
	More      int              `json:"more"`
}

var approvalList = NewTool(Tool{
	Op: ApprovalList.Row, Name: "approval_list", Title: "Look at approvals", Use: "Approvals of a task, or all that wait for a decision.",
}, func(ctx context.Context, c *Call, in approvalsArgs) (approvals, string, error) {
	out, lines := approvals{Approvals: []amber.Approval{}}, []string{}
	err := amber.Each(ctx, c.Store.Approvals.ListApprovals, in.TaskID, func(ap amber.Approval) error {
		if len(lines) == maxItems {
			out.More++
			return nil
		}
		out.Approvals, lines = append(out.Approvals, briefApproval(ap, itemBytes)), append(lines, printApproval(ap))
		return nil
	})
	return out, Lines(lines, "Nothing waits for approval."), err
})

type resultArgs struct {
	TaskID     string             `json:"task_id" need:"yes"`
	NodeID     string             `json:"node_id" need:"yes"`
	Producer   string             `json:"producer" need:"yes"`
	Status     amber.ResultStatus `json:"status" need:"yes" enum:"ok error"`
	Payload    string             `json:"payload"`
	Confidence float64            `json:"confidence" doc:"0 to 1"`
	Fence      int64              `json:"fence"`
}

// resultPage is a result with a page of its payload.
type resultPage struct {
	TaskID    string             `json:"task_id"`
	NodeID    string             `json:"node_id"`
	Producer  string             `json:"producer"`
	Status    amber.ResultStatus `json:"status"`
	Payload   string             `json:"payload"`
	Truncated bool               `json:"truncated,omitempty"`
	Fence     int64              `json:"fence"`
	UpdatedAt amber.Time         `json:"updated_at"`
}

func briefResult(r amber.Result, n int) resultPage {
	p := shown.PageAt(r.Payload, 0, n)
	return resultPage{r.TaskID, r.NodeID, r.Producer, r.Status, p.Content, p.Truncated, r.Fence, r.UpdatedAt}
}

var resultSave = NewTool(Tool{
	Op: ResultSave.Row, Name: "result_save", Title: "Save the result of a node", Hints: Destroys | Again, Shows: "task_id node_id status payload fence truncated",
	Use: "Keep what a node of a task produced, under the fence of your lease.",
}, func(ctx context.Context, c *Call, in resultArgs) (resultPage, string, error) {
	r, err := c.Store.Results.SaveResult(ctx, amber.Result{
		TaskID: in.TaskID, NodeID: in.NodeID, Producer: in.Producer, Status: in.Status, Payload: in.Payload, Confidence: in.Confidence, Fence: in.Fence,
	})
	if err == nil {
		c.Subject = r.TaskID + "/" + r.NodeID
	}
	return briefResult(r, shown.PageBytes), fmt.Sprintf("The result of %s/%s is saved.", r.TaskID, r.NodeID), err
})

type results struct {
	Results []resultPage `json:"results" shows:"task_id node_id status payload fence truncated"`
	More    int          `json:"more"`
}

var resultList = NewTool(Tool{
	Op: ResultList.Row, Name: "result_list", Title: "Read the results of a task", Use: "The newest result of each node.",
}, func(ctx context.Context, c *Call, in ofTaskArgs) (results, string, error) {
	out, some := results{Results: []resultPage{}}, []amber.Result{} // of the rest nothing is kept but their number
	err := amber.Each(ctx, c.Store.Results.ListResults, in.TaskID, func(r amber.Result) error {
		if len(some) == maxItems {
			out.More++
			return nil
		}
		if len(r.Payload) > shown.PageBytes+1 { // no answer has more of it, and one byte more shows that it goes on
			r.Payload = strings.Clone(r.Payload[:shown.PageBytes+1])
		}
		r.Evidence = nil
		some = append(some, r)
		return nil
	})
	n := shown.PageBytes // of a payload; many share the room of four
	if len(some) > 4 {
		n = max(itemBytes, 4*shown.PageBytes/len(some))
	}
	lines := []string{}
	for _, r := range some {
		out.Results = append(out.Results, briefResult(r, n))
		lines = append(lines, fmt.Sprintf("%s: %s, %s", r.NodeID, r.Status, shown.OneLine(r.Payload, SnippetBytes)))
	}
	return out, Lines(lines, "There are no results."), err
})
