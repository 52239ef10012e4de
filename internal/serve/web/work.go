package web

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// workScreens are tasks, approvals and dead entries.
type workScreens struct{ *visit }

func workRoutes(p *Page) {
	p.get("/work", withStore(workScreens.work))
	p.get("/work/approvals/{id}", withStore(func(v workScreens, ctx context.Context, store amber.Store) error {
		return v.approval(ctx, store, "", "")
	}))
	p.post("/work/approvals/{id}", withStore(workScreens.decide))
	p.get("/work/tasks/{id}", withStore(workScreens.task))
	p.post("/work/dead", withStore(workScreens.publishAgain))
}

// workData is what the screen of work shows.
type workData struct {
	Pending []amber.Approval
	Next    amber.Cursor

	State  string
	States []amber.TaskState
	Tasks  amber.Page[amber.Task]

	Queue    amber.Backpressure
	Dead     []amber.DeadEntry
	NextDead amber.Cursor // "": these are the last
	Done     string
}

func (v workScreens) work(ctx context.Context, store amber.Store) error {
	d := workData{State: v.query("state"), States: amber.TaskStates(), Done: v.query("done")}
	pending, err := store.Approvals.ListApprovals(ctx, "", amber.Paging{Limit: pageSize, Cursor: amber.Cursor(v.query("from"))})
	if err != nil {
		return err
	}
	d.Pending, d.Next = pending.Items, pending.Next
	d.Tasks, err = store.Tasks.ListTasks(ctx, amber.TaskQuery{State: amber.TaskState(d.State), Limit: pageSize, Cursor: amber.Cursor(v.query("cursor"))})
	if err != nil {
		return err
	}
	if d.Queue, err = store.QueueKeeper.Backpressure(ctx); err != nil {
		return err
	}
	if err := d.bury(ctx, store, v.query("dead")); err != nil {
		return err
	}
	return v.render("work", screen{Title: "Work", Nav: "work", Command: v.command("approval", "list")}, d)
}

// deadShown is how many dead entries, which have long reasons, a page shows.
const deadShown = 10

// bury reads a page of dead entries.
func (d *workData) bury(ctx context.Context, store amber.Store, from string) error {
	dead, err := store.QueueKeeper.DeadEntries(ctx, amber.Paging{Limit: deadShown, Cursor: amber.Cursor(from)})
	d.Dead, d.NextDead = dead.Items, dead.Next
	return err
}

// approvalData is what the screen of one approval shows.
type approvalData struct {
	amber.Approval
	Text             long // the payload
	Problem, Comment string
	Show             string // the command that prints all of it
	Mine             bool   // the token of the visitor asked for it, so another must decide
}

func (v workScreens) approval(ctx context.Context, store amber.Store, problem, comment string) error {
	id := v.r.PathValue("id")
	a, err := store.Approvals.Approval(ctx, id)
	if err != nil {
		return err
	}
	d := approvalData{Approval: a, Text: payloadShown(a), Problem: problem, Comment: comment}
	d.Show = v.command("approval", "show", id)
	d.Mine = a.RequestedBy != "" && a.RequestedBy == string(v.grant.Token)
	return v.render("approval", screen{Title: "Approval", Nav: "work", Command: v.command("approval", "decide", id, "--approve", "--digest", a.Digest)}, d)
}

// payloadShown is what the screen shows of a payload. It is measured as the page draws it, so that no part of it
// is left out without a word.
func payloadShown(a amber.Approval) long { return fitted(string(a.Payload), shownWhole) }

// unread reports whether a payload of which a part is not shown would be approved by a visitor who has not said that
// all of it was read elsewhere.
func (v workScreens) unread(store amber.Store, id string) (bool, error) {
	if v.field("outcome") != string(amber.ApprovalApproved) || !v.may(wire.TokenApprove) {
		return false, nil
	}
	a, err := store.Approvals.Approval(v.r.Context(), id)
	return err == nil && payloadShown(a).Cut && v.field("read") != a.Digest, err
}

// decide answers an approval for the payload that the visitor saw: its digest is in the form, so another one is
// never approved by mistake.
func (v workScreens) decide(ctx context.Context, store amber.Store) error {
	id, comment := v.r.PathValue("id"), v.text("comment")
	outcome := amber.ApprovalStatus(v.field("outcome"))
	digest := v.field("digest")
	if digest == "" {
		return amber.Errorf(amber.KindInvalid, "decide approval", clip.Marked(id, 80), "the form has no digest of the payload that was looked at")
	}
	if unread, err := v.unread(store, id); err != nil {
		return err
	} else if unread {
		return v.approval(ctx, store, "Nothing was decided: a part of the payload is not shown here. Read all of it, then tick the box.", comment)
	}
	_, err := store.Approvals.DecideApproval(ctx, amber.ApprovalDecision{ID: id, Outcome: outcome, Actor: v.actor(), Comment: comment, Digest: digest})
	switch amber.KindOf(err) {
	case "":
		return v.redirect(v.path("work") + "?done=" + string(outcome))
	case amber.KindConflict, amber.KindInvalid:
		v.log.forget()
		return v.approval(ctx, store, err.Error(), comment)
	}
	return err
}

// actor is who a visitor decides as, as the API names the bearer of a token.
func (v workScreens) actor() string {
	if amber.CheckID("actor", v.grant.Name) == nil {
		return v.grant.Name
	}
	return cmp.Or(string(v.grant.Token), "local")
}

// taskData is what the screen of one task shows.
type taskData struct {
	Task      amber.Task
	Goal      long
	Replay    amber.ReplayReport
	Compacted int64 // events that were folded together
	Events    []amber.TaskEvent
	Next      int
	Results   []resultRow
	MoreRows  bool // results, or approvals, than are shown
	Approvals []amber.Approval
}

// resultRow is what a node produced, cut for the screen.
type resultRow struct {
	amber.Result
	Text long
}

// resultShown is how much of a result the screen of its task shows.
const resultShown = 1 << 10

func (v workScreens) task(ctx context.Context, store amber.Store) error {
	id := v.r.PathValue("id")
	replay, err := store.Events.Replay(ctx, id)
	if err != nil {
		return err
	}
	d := taskData{Replay: replay, Compacted: replay.EventCount - int64(len(replay.Events)) - replay.EventsLeft}
	if d.Task, err = store.Tasks.Task(ctx, id); err != nil {
		return err
	}
	d.Goal = fitted(d.Task.Goal, 2*conflictShown)
	d.Events, d.Next = part(replay.Events, v.query("from"))
	if err := d.fill(ctx, store); err != nil {
		return err
	}
	return v.render("task", screen{Title: "Task", Nav: "work", Command: v.command("task", "replay", id)}, d)
}

// fill reads what belongs to the task.
func (d *taskData) fill(ctx context.Context, store amber.Store) error {
	some := amber.Paging{Limit: 20}
	results, err := store.Results.ListResults(ctx, d.Task.ID, some)
	if err != nil {
		return err
	}
	approvals, err := store.Approvals.ListApprovals(ctx, d.Task.ID, some)
	if err != nil {
		return err
	}
	d.MoreRows = results.Next != "" || approvals.Next != ""
	d.Approvals = approvals.Items
	for _, r := range results.Items {
		d.Results = append(d.Results, resultRow{r, fitted(r.Payload, 2*resultShown)})
	}
	return nil
}

// publishAgain publishes the work of a dead entry under another id, since a used id does nothing. The id follows from
// the old one, so doing it twice is the same as once. The instant in the entry makes the second one another, which the
// queue refuses, and so the page knows.
func (v workScreens) publishAgain(ctx context.Context, store amber.Store) error {
	id := v.field("entry")
	again, err := deadEntry(ctx, store, id)
	if err != nil {
		return err
	}
	again.EntryID, again.NotBefore, again.Attempt = id+".again", amber.At(v.p.o.Clock()), 0
	switch err := store.Queue.Publish(ctx, again); amber.KindOf(err) {
	case "":
		return v.redirect(v.path("work") + "?done=published#dead")
	case amber.KindConflict:
		return v.redirect(v.path("work") + "?done=published-before#dead")
	default:
		return err
	}
}

// deadEntry looks for a dead entry, page by page. Errors: not_found.
func deadEntry(ctx context.Context, store amber.Store, id string) (amber.Envelope, error) {
	for p := (amber.Paging{Limit: amber.MaxPageSize}); ; {
		dead, err := store.QueueKeeper.DeadEntries(ctx, p)
		if err != nil {
			return amber.Envelope{}, err
		}
		for _, d := range dead.Items {
			if d.Envelope.EntryID == id {
				return d.Envelope, nil
			}
		}
		if p.Cursor = dead.Next; p.Cursor == "" {
			return amber.Envelope{}, amber.Errorf(amber.KindNotFound, "publish again", clip.Marked(id, 80), "there is no dead entry of this id")
		}
	}
}
