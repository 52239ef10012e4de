package tui

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
)

// workPage is screen 7: what waits for a person, what failed for good, and every task.
func (m workScreen) workPage() *page {
	p := &page{title: "Work", empty: "There are no tasks, no approvals and no dead entries."}
	p.load = m.loadWork
	p.detail = m.workDetail
	approval := func() (amber.Approval, bool) {
		r, _ := p.current()
		a, ok := r.value.(amber.Approval)
		return a, ok && a.Status == amber.ApprovalPending
	}
	asks := func() bool { _, ok := approval(); return ok }
	dead := func() bool {
		r, _ := p.current()
		_, ok := r.value.(amber.DeadEntry)
		return ok
	}
	p.actions = []action{
		{"y", "approve", "approve the payload that is shown; it asks first", func() tea.Cmd {
			a, _ := approval()
			return m.approve(p, a)
		}, asks},
		{"n", "reject", "reject; asks for a comment", func() tea.Cmd {
			a, _ := approval()
			return m.reject(p, a)
		}, asks},
		{"p", "publish again", "put a dead entry back into the queue, under a new id", func() tea.Cmd {
			r, _ := p.current()
			return m.publishAgain(p, r.value.(amber.DeadEntry))
		}, dead},
	}
	return p
}

// loadWork lists pending approvals, the queue and dead entries, then tasks page by page.
func (m workScreen) loadWork(ctx context.Context, after string) (b batch, err error) {
	if after == "" {
		if b.rows, err = m.loadWaiting(ctx); err != nil {
			return b, err
		}
	}
	list, err := m.src.Store.Tasks.ListTasks(ctx, amber.TaskQuery{Limit: pageSize, Cursor: amber.Cursor(after)})
	b.next = string(list.Next)
	for _, t := range list.Items {
		b.rows = append(b.rows, row{
			id: t.ID, lead: "task     ", title: t.Goal, side: string(t.State) + " " + m.when(t.UpdatedAt), text: t.Goal,
			command: "amber event replay " + quoted(t.ID), value: t,
		})
	}
	return b, err
}

// loadWaiting lists what comes before the tasks.
func (m workScreen) loadWaiting(ctx context.Context) (rows []row, err error) {
	approvals, err := amber.All(ctx, m.src.Store.Approvals.ListApprovals, "")
	if err != nil {
		return nil, err
	}
	for _, a := range approvals[:min(len(approvals), amber.MaxPageSize)] {
		rows = append(rows, row{
			id: a.ID, lead: "approval ", title: a.Summary, side: string(a.Status) + " " + m.when(a.CreatedAt), text: string(a.Payload),
			command: "amber approval show " + quoted(a.ID), value: a,
		})
	}
	queue, err := m.src.Store.QueueKeeper.Backpressure(ctx)
	if err != nil {
		return nil, err
	}
	if queue.Queued+queue.Leased+queue.Dead > 0 {
		rows = append(rows, row{
			id: "queue", lead: "queue    ", title: fmt.Sprintf("%d queued, %d leased, %d dead", queue.Queued, queue.Leased, queue.Dead),
			command: "amber queue stats", value: queue,
		})
	}
	dead, err := m.src.Store.QueueKeeper.DeadEntries(ctx, amber.Paging{Limit: pageSize})
	if err != nil {
		return nil, err
	}
	for _, e := range dead.Items {
		rows = append(rows, row{
			id: e.Envelope.EntryID, lead: "dead     ", title: e.Envelope.EntryID + " of " + e.Envelope.TaskID, side: m.when(e.DeadAt), text: e.Envelope.Payload,
			command: "amber queue dead", value: e,
		})
	}
	return rows, nil
}

func (m workScreen) workDetail(ctx context.Context, r row) (document, error) {
	switch v := r.value.(type) {
	case amber.Approval:
		d := document{}.head(v.Summary).facts(string(v.Status), "task "+v.TaskID, "node "+v.NodeID, m.when(v.CreatedAt))
		d = d.fact("asked by", v.RequestedBy).fact("digest", v.Digest).blank().head("this runs, byte for byte, if it is approved")
		return d.text(string(v.Payload)), nil
	case amber.Backpressure:
		return document{}.head("queue").text(fmt.Sprintf("%d queued\n%d leased of at most %d\n%d dead", v.Queued, v.Leased, v.MaxInFlight, v.Dead)), nil
	case amber.DeadEntry:
		d := document{}.head(v.Envelope.EntryID).facts("task "+v.Envelope.TaskID, "node "+v.Envelope.NodeID, words.Count(int64(v.Envelope.Attempt), "attempt", "attempts"), "died "+m.when(v.DeadAt))
		for i, reason := range v.Reasons {
			d = d.text(fmt.Sprintf("attempt %d: %s", i+1, reason))
		}
		return d.blank().head("payload").text(v.Envelope.Payload), nil
	case amber.Task:
		return m.taskDocument(ctx, v)
	}
	return nil, nil
}

// taskDocument is a task and its history.
func (m workScreen) taskDocument(ctx context.Context, t amber.Task) (document, error) {
	d := document{}.head(t.Goal).facts(t.ID, string(t.State), words.Count(int64(t.Attempts), "attempt", "attempts"), fmt.Sprintf("version %d", t.Version), m.when(t.UpdatedAt))
	d = d.fact("done", strings.Join(t.CompletedNodes, ", ")).fact("waits for approval", t.PendingApprovalID).fact("last result", t.LastResult)
	report, err := m.src.Store.Events.Replay(ctx, t.ID)
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	d = d.fact("replay", string(report.ConsistencyStatus))
	events, err := amber.All(ctx, m.src.Store.Events.ListEvents, t.ID)
	if err != nil || len(events) == 0 {
		return d, err
	}
	d = d.blank().head("history")
	for _, e := range events[max(len(events)-200, 0):] {
		d = d.text(strings.TrimSpace(fmt.Sprintf("%s  %s -> %s  %s %s", e.At.Time().Format("2006-01-02 15:04:05"), e.From, e.To, e.NodeID, e.Reason)))
	}
	return d, nil
}

// approve asks before it approves what is shown.
func (m workScreen) approve(p *page, a amber.Approval) tea.Cmd {
	if len(a.Payload) > maxShown {
		return m.fail(amber.Errorf(amber.KindRefused, "approve", a.ID, "the payload has %d bytes, and only %d are shown here", len(a.Payload), maxShown).
			WithHint("amber approval show " + quoted(a.ID)))
	}
	about := document{}.head(a.Summary).fact("digest", a.Digest).blank().text(string(a.Payload))
	if clean(string(a.Payload)) != string(a.Payload) {
		about = about.warn("The payload holds characters that are shown as marks, or not at all.")
	}
	return m.confirm("Approve? An answer is final.", about, func() tea.Cmd { return m.decide(p, a, amber.ApprovalApproved, "") })
}

// reject asks for a comment and rejects.
func (m workScreen) reject(p *page, a amber.Approval) tea.Cmd {
	return m.prompt("reject, because", "enter reject · esc do not", func(comment string) tea.Cmd {
		return m.decide(p, a, amber.ApprovalRejected, comment)
	})
}

// decide answers an approval for the payload that was shown.
func (m workScreen) decide(p *page, a amber.Approval, outcome amber.ApprovalStatus, comment string) tea.Cmd {
	d := amber.ApprovalDecision{ID: a.ID, Outcome: outcome, Actor: m.src.Actor, Comment: comment, Digest: a.Digest}
	return ask(m.shell, func(ctx context.Context) (amber.Approval, error) { return m.src.Store.Approvals.DecideApproval(ctx, d) }, func(now amber.Approval, err error) tea.Cmd {
		return m.done(p, fmt.Sprintf("%s is %s", now.ID, now.Status), err)
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
func (m workScreen) publishAgain(p *page, e amber.DeadEntry) tea.Cmd {
	next := e.Envelope
	next.EntryID, next.Attempt, next.NotBefore = againID(e.Envelope.EntryID), 0, amber.Time{}
	return do(m.shell, func(ctx context.Context) error { return m.src.Store.Queue.Publish(ctx, next) }, func(err error) tea.Cmd {
		return m.done(p, "published again as "+next.EntryID, err)
	})
}
