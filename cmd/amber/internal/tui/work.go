package tui

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
)

// workPage is screen 7: what waits for a person, what failed for good, and every task.
func (m workScreen) workPage() *window.Page {
	p := &window.Page{Title: "Work", Empty: "There are no tasks, no approvals and no dead entries."}
	p.Load = m.loadWork
	p.Detail = m.workDetail
	approval := func() (amber.Approval, bool) {
		r, _ := p.Current()
		a, ok := r.Value.(amber.Approval)
		return a, ok && a.Status == amber.ApprovalPending
	}
	asks := func() bool { _, ok := approval(); return ok }
	dead := func() bool {
		r, _ := p.Current()
		_, ok := r.Value.(amber.DeadEntry)
		return ok
	}
	p.Actions = []window.Action{
		window.Key("y", "approve", "approve the payload that is shown; it asks first", func() tea.Cmd {
			a, _ := approval()
			return m.approve(p, a)
		}, asks),
		window.Key("n", "reject", "reject; asks for a comment", func() tea.Cmd {
			a, _ := approval()
			return m.reject(p, a)
		}, asks),
		window.Key("p", "publish again", "put a dead entry back into the queue, under a new id", func() tea.Cmd {
			r, _ := p.Current()
			return m.publishAgain(p, r.Value.(amber.DeadEntry))
		}, dead),
	}
	return p
}

// loadWork lists pending approvals, the queue and dead entries, then tasks page by page.
func (m workScreen) loadWork(ctx context.Context, after string) (b window.Batch, err error) {
	if after == "" {
		if b.Rows, err = m.loadWaiting(ctx); err != nil {
			return b, err
		}
	}
	list, err := m.src.Store.Tasks.ListTasks(ctx, amber.TaskQuery{Limit: window.PageSize, Cursor: amber.Cursor(after)})
	b.Next = string(list.Next)
	for _, t := range list.Items {
		b.Rows = append(b.Rows, window.Row{
			ID: t.ID, Lead: "task     ", Title: t.Goal, Side: string(t.State) + " " + m.When(t.UpdatedAt), Text: t.Goal,
			Command: "amber event replay " + quoted(t.ID), Value: t,
		})
	}
	return b, err
}

// loadWaiting lists what comes before the tasks.
func (m workScreen) loadWaiting(ctx context.Context) (rows []window.Row, err error) {
	approvals, err := amber.All(ctx, m.src.Store.Approvals.ListApprovals, "")
	if err != nil {
		return nil, err
	}
	for _, a := range approvals[:min(len(approvals), amber.MaxPageSize)] {
		rows = append(rows, window.Row{
			ID: a.ID, Lead: "approval ", Title: a.Summary, Side: string(a.Status) + " " + m.When(a.CreatedAt), Text: string(a.Payload),
			Command: "amber approval show " + quoted(a.ID), Value: a,
		})
	}
	queue, err := m.src.Store.QueueKeeper.Backpressure(ctx)
	if err != nil {
		return nil, err
	}
	if queue.Queued+queue.Leased+queue.Dead > 0 {
		rows = append(rows, window.Row{
			ID: "queue", Lead: "queue    ", Title: fmt.Sprintf("%d queued, %d leased, %d dead", queue.Queued, queue.Leased, queue.Dead),
			Command: "amber queue stats", Value: queue,
		})
	}
	dead, err := m.src.Store.QueueKeeper.DeadEntries(ctx, amber.Paging{Limit: window.PageSize})
	if err != nil {
		return nil, err
	}
	for _, e := range dead.Items {
		rows = append(rows, window.Row{
			ID: e.Envelope.EntryID, Lead: "dead     ", Title: e.Envelope.EntryID + " of " + e.Envelope.TaskID, Side: m.When(e.DeadAt), Text: e.Envelope.Payload,
			Command: "amber queue dead", Value: e,
		})
	}
	return rows, nil
}

func (m workScreen) workDetail(ctx context.Context, r window.Row) (window.Document, error) {
	switch v := r.Value.(type) {
	case amber.Approval:
		d := window.Document{}.Head(v.Summary).Facts(string(v.Status), "task "+v.TaskID, "node "+v.NodeID, m.When(v.CreatedAt))
		d = d.Fact("asked by", v.RequestedBy).Fact("digest", v.Digest).Blank().Head("this runs, byte for byte, if it is approved")
		return d.Text(string(v.Payload)), nil
	case amber.Backpressure:
		return window.Document{}.Head("queue").Text(fmt.Sprintf("%d queued\n%d leased of at most %d\n%d dead", v.Queued, v.Leased, v.MaxInFlight, v.Dead)), nil
	case amber.DeadEntry:
		d := window.Document{}.Head(v.Envelope.EntryID).Facts("task "+v.Envelope.TaskID, "node "+v.Envelope.NodeID, words.Count(int64(v.Envelope.Attempt), "attempt", "attempts"), "died "+m.When(v.DeadAt))
		for i, reason := range v.Reasons {
			d = d.Text(fmt.Sprintf("attempt %d: %s", i+1, reason))
		}
		return d.Blank().Head("payload").Text(v.Envelope.Payload), nil
	case amber.Task:
		return m.taskDocument(ctx, v)
	}
	return nil, nil
}

// taskDocument is a task and its history.
func (m workScreen) taskDocument(ctx context.Context, t amber.Task) (window.Document, error) {
	d := window.Document{}.Head(t.Goal).Facts(t.ID, string(t.State), words.Count(int64(t.Attempts), "attempt", "attempts"), fmt.Sprintf("version %d", t.Version), m.When(t.UpdatedAt))
	d = d.Fact("done", strings.Join(t.CompletedNodes, ", ")).Fact("waits for approval", t.PendingApprovalID).Fact("last result", t.LastResult)
	report, err := m.src.Store.Events.Replay(ctx, t.ID)
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	d = d.Fact("replay", string(report.ConsistencyStatus))
	events, err := amber.All(ctx, m.src.Store.Events.ListEvents, t.ID)
	if err != nil || len(events) == 0 {
		return d, err
	}
	d = d.Blank().Head("history")
	for _, e := range events[max(len(events)-200, 0):] {
		d = d.Text(strings.TrimSpace(fmt.Sprintf("%s  %s -> %s  %s %s", e.At.Time().Format("2006-01-02 15:04:05"), e.From, e.To, e.NodeID, e.Reason)))
	}
	return d, nil
}

// approve asks before it approves what is shown.
func (m workScreen) approve(p *window.Page, a amber.Approval) tea.Cmd {
	if len(a.Payload) > window.MaxShown {
		return m.Fail(amber.Errorf(amber.KindRefused, "approve", a.ID, "the payload has %d bytes, and only %d are shown here", len(a.Payload), window.MaxShown).
			WithHint("amber approval show " + quoted(a.ID)))
	}
	about := window.Document{}.Head(a.Summary).Fact("digest", a.Digest).Blank().Text(string(a.Payload))
	if window.Clean(string(a.Payload)) != string(a.Payload) {
		about = about.Warn("The payload holds characters that are shown as marks, or not at all.")
	}
	return m.Confirm("Approve? An answer is final.", about, func() tea.Cmd { return m.decide(p, a, amber.ApprovalApproved, "") })
}

// reject asks for a comment and rejects.
func (m workScreen) reject(p *window.Page, a amber.Approval) tea.Cmd {
	return m.Prompt("reject, because", "enter reject · esc do not", func(comment string) tea.Cmd {
		return m.decide(p, a, amber.ApprovalRejected, comment)
	})
}

// decide answers an approval for the payload that was shown.
func (m workScreen) decide(p *window.Page, a amber.Approval, outcome amber.ApprovalStatus, comment string) tea.Cmd {
	d := amber.ApprovalDecision{ID: a.ID, Outcome: outcome, Actor: m.src.Actor, Comment: comment, Digest: a.Digest}
	return window.Ask(m.Shell, func(ctx context.Context) (amber.Approval, error) { return m.src.Store.Approvals.DecideApproval(ctx, d) }, func(now amber.Approval, err error) tea.Cmd {
		return m.Done(p, fmt.Sprintf("%s is %s", now.ID, now.Status), err)
	})
}

// attempted ends the id of an entry that was published again.
var attempted = regexp.MustCompile(`^(.*)\.again-(\d{1,6})$`)

// againID is the id of an entry that is published again. The same dead entry has the same one each
// time, so that pressing a key twice publishes once.
func againID(id string) string {
	if parts := attempted.FindStringSubmatch(id); parts != nil {
		n, _ := strconv.Atoi(parts[2]) // at most six digits
		return parts[1] + ".again-" + strconv.Itoa(n+1)
	}
	return id + ".again-1"
}

// publishAgain puts a dead entry back into the queue.
func (m workScreen) publishAgain(p *window.Page, e amber.DeadEntry) tea.Cmd {
	next := e.Envelope
	next.EntryID, next.Attempt, next.NotBefore = againID(e.Envelope.EntryID), 0, amber.Time{}
	return window.Do(m.Shell, func(ctx context.Context) error { return m.src.Store.Queue.Publish(ctx, next) }, func(err error) tea.Cmd {
		return m.Done(p, "published again as "+next.EntryID, err)
	})
}
