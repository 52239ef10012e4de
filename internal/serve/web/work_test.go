package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// task stores a task of ada that has begun.
func (r *rig) task(id, goal string) amber.Store {
	r.t.Helper()
	store, ctx := r.store("acme", "ada"), r.t.Context()
	saved := must.Get(store.Tasks.SaveTask(ctx, amber.Task{ID: id, Goal: goal}, 0))(r.t)
	must.Get(store.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: id, From: amber.TaskQueued, To: amber.TaskPlanning, Reason: "because " + goal}))(r.t)
	saved.State = amber.TaskPlanning
	must.Get(store.Tasks.SaveTask(ctx, saved, saved.Version))(r.t)
	return store
}

func TestWorkIsEmptyAtFirst(t *testing.T) {
	t.Parallel()
	p := newRig(t).visitor("").get("work")
	p.shows(t, "Nobody waits for a decision", "No tasks yet", "No entry is dead", "0 waiting")
	p.harmless(t)
}

func TestApprovalsAreDecidedForThePayloadThatWasShown(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	store := r.task("t1", "ship")
	payload := must.Get(json.Marshal(map[string]string{"run": nasty}))(t)
	asked := must.Get(store.Approvals.RequestApproval(t.Context(), amber.ApprovalRequest{TaskID: "t1", NodeID: "n", Summary: "May I? " + nasty, Payload: payload}))(t)
	reader := r.visitor(adaRead)
	p := reader.get("work")
	p.shows(t, "1 waiting", "May I?", nastySeen)
	p.harmless(t)
	at := "work/approvals/" + asked.ID
	p = reader.get(at)
	p.shows(t, asked.Digest, `\u003cscript\u003ealert(1)`, "takes a token with the scope approve")
	p.harmless(t)
	must.Equal(t, "a form without its scope", p.has(adaHome+"/"+at), false)
	must.Equal(t, "status", reader.post(at, "digest", asked.Digest, "outcome", "approved").status, http.StatusForbidden)

	b := r.visitor(ada)
	must.Equal(t, "digest in the form", b.get(at).value("digest"), asked.Digest)
	p = b.post(at, "digest", strings.Repeat("0", 64), "outcome", "approved", "comment", "I looked")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "I looked", "the digest of the decision is not that of the payload")
	must.Equal(t, "without a digest", b.post(at, "outcome", "approved").status, http.StatusBadRequest)
	must.Equal(t, "approval", must.Get(store.Approvals.Approval(t.Context(), asked.ID))(t).Status, amber.ApprovalPending)
	b.post(at, "digest", asked.Digest, "outcome", "rejected", "comment", "not "+nasty).leads(t, adaHome+"/work?done=rejected")
	done := must.Get(store.Approvals.Approval(t.Context(), asked.ID))(t)
	must.Equal(t, "approval", done.Status, amber.ApprovalRejected)
	must.Equal(t, "actor", done.DecidedBy, "ada")
	p = b.get(at)
	p.lacks(t, "(says")
	p.shows(t, "rejected", "by ada", "not "+nastySeen)
	p.harmless(t)
	must.Equal(t, "a form of what is decided", p.has(adaHome+"/"+at), false)
	b.post(at, "digest", asked.Digest, "outcome", "approved").shows(t, "the approval is rejected already")
}

func TestAPayloadThatIsNotShownAsAWholeTakesATick(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	store := r.task("t1", "ship")
	for name, text := range map[string]string{
		"long":  strings.Repeat("x", 100_000),
		"marks": strings.Repeat("\u202e", 1000), // short, and much longer in the page
	} {
		payload := []byte(`{"run":"` + text + `","then":"delete everything"}`)
		asked := must.Get(store.Approvals.RequestApproval(t.Context(), amber.ApprovalRequest{TaskID: "t1", NodeID: "n", Summary: "May I?", Payload: payload}))(t)
		b, at := r.visitor(ada), "work/approvals/"+asked.ID
		p := b.get(at)
		p.lacks(t, "delete everything")
		p.shows(t, "Only the first part of", "I have read all of it", "amber approval show "+asked.ID)
		p.harmless(t)
		must.Equal(t, name+": what the tick is bound to", p.value("read"), asked.Digest)
		for _, read := range []string{"", "1", strings.Repeat("0", 64)} {
			p = b.post(at, "digest", asked.Digest, "outcome", "approved", "comment", "I looked", "read", read)
			p.shows(t, "Nothing was decided", "I looked")
			must.Equal(t, name, must.Get(store.Approvals.Approval(t.Context(), asked.ID))(t).Status, amber.ApprovalPending)
		}
		reader := r.visitor(adaRead)
		reader.get(at)
		must.Equal(t, "without the scope", reader.post(at, "digest", asked.Digest, "outcome", "approved").status, http.StatusForbidden)
		b.post(at, "digest", asked.Digest, "outcome", "approved", "read", asked.Digest).leads(t, adaHome+"/work?done=approved")
	}
	small := must.Get(store.Approvals.RequestApproval(t.Context(), amber.ApprovalRequest{TaskID: "t1", NodeID: "n", Summary: "And now?", Payload: []byte(`{}`)}))(t)
	p := r.visitor(ada).get("work/approvals/" + small.ID)
	must.Equal(t, "a tick that is not needed", p.value("read"), "")
}

func TestATaskIsReplayedOnALine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := r.task("t1", "ship "+nasty)
	must.Get(store.Results.SaveResult(t.Context(), amber.Result{TaskID: "t1", NodeID: "n1", Producer: "builder", Status: amber.ResultOK, Payload: nasty + strings.Repeat("x", 3000), Confidence: 0.5}))(t)
	must.Get(store.Approvals.RequestApproval(t.Context(), amber.ApprovalRequest{TaskID: "t1", NodeID: "n1", Summary: "go on?", Payload: []byte(`{}`)}))(t)
	b := r.visitor("")
	p := b.get("work/tasks/t1")
	p.shows(t, "ship "+nastySeen, "The history leads to the stored task", "queued", "planning", "because ship", "#1", "builder", "confidence 0.50", "The first part of", "go on?", "resume_ready")
	p.harmless(t)
	must.Equal(t, "status", b.get("work/tasks/nothing").status, http.StatusNotFound)
	p = b.get("work?state=planning")
	p.shows(t, "ship "+nastySeen, "t1")
	p.harmless(t)
	b.get("work?state=failed").shows(t, "No task is failed")
}

func TestTasksComeInPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 60 {
		r.task(fmt.Sprintf("task-%02d", i), strings.Repeat("a goal that is long ", 200))
	}
	b, seen := r.visitor(""), 0
	for at := "work"; at != ""; {
		p := b.get(at)
		if len(p.body) > 100_000 {
			t.Fatalf("the page has %d bytes", len(p.body))
		}
		at = ""
		for n := range p.all("a") {
			if attribute(n, "rel") == "next" {
				at = attribute(n, "href")
			}
			if strings.HasPrefix(attribute(n, "href"), adaHome+"/work/tasks/task-") {
				seen++
			}
		}
	}
	must.Equal(t, "tasks", seen, 60)
}

func TestDeadEntriesArePublishedAgain(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	store, ctx := r.store("acme", "ada"), t.Context()
	must.Do(t, store.Queue.Publish(ctx, amber.Envelope{EntryID: "e1", TaskID: "t1", NodeID: "n", Payload: "build " + nasty}))
	for must.Get(store.QueueKeeper.Backpressure(ctx))(t).Dead == 0 {
		c := must.Get(store.Queue.Claim(ctx, "c"))(t)
		must.Do(t, store.Queue.Nack(ctx, amber.Nack{Lease: c.Lease, Reason: "failed " + nasty, NotBefore: amber.UnixMilli(1)}))
	}
	b := r.visitor(ada)
	p := b.get("work")
	p.shows(t, "e1", "failed "+nastySeen, "build "+nastySeen, "Publish again")
	p.harmless(t)
	b.post("work/dead", "entry", "e1").leads(t, adaHome+"/work?done=published#dead")
	b.get("work?done=published").shows(t, "Published again")
	b.post("work/dead", "entry", "e1").leads(t, adaHome+"/work?done=published-before#dead")
	p = b.get("work?done=published-before")
	p.shows(t, "Nothing was published", "was published again before")
	must.Equal(t, "queued", must.Get(store.QueueKeeper.Backpressure(ctx))(t).Queued, 1)
	c := must.Get(store.Queue.Claim(ctx, "c"))(t)
	must.Equal(t, "entry", c.Envelope.EntryID, "e1.again")
	must.Equal(t, "payload", c.Envelope.Payload, "build "+nasty)
	must.Equal(t, "an entry that lives", b.post("work/dead", "entry", "e1.again").status, http.StatusNotFound)
	reader := r.visitor(adaRead)
	must.Equal(t, "a button without its scope", reader.get("work").has(adaHome+"/work/dead"), false)
	must.Equal(t, "status", reader.post("work/dead", "entry", "e1").status, http.StatusForbidden)
}

func TestMuchWorkStaysSmall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store, ctx := r.store("acme", "ada"), t.Context()
	long := strings.Repeat("a reason that is long ", 100)
	for i := range 25 {
		id := fmt.Sprintf("entry-%02d", i)
		must.Do(t, store.Queue.Publish(ctx, amber.Envelope{EntryID: id, TaskID: "t1", NodeID: "n", Payload: long}))
		for must.Get(store.QueueKeeper.Backpressure(ctx))(t).Dead == i {
			c := must.Get(store.Queue.Claim(ctx, "c"))(t)
			must.Do(t, store.Queue.Nack(ctx, amber.Nack{Lease: c.Lease, Reason: long, NotBefore: amber.UnixMilli(1)}))
		}
		must.Get(store.Approvals.RequestApproval(ctx, amber.ApprovalRequest{TaskID: id, NodeID: "n", Summary: long, Payload: []byte(`{}`)}))(t)
		r.task(id, long)
	}
	b := r.visitor("")
	p := b.get("work")
	p.shows(t, "25 waiting", "entry-24", "Older dead entries")
	if len(p.body) > 100_000 {
		t.Errorf("the page has %d bytes", len(p.body))
	}
	twenty := must.Get(store.QueueKeeper.DeadEntries(ctx, amber.Paging{Limit: 20}))(t)
	p = b.get("work?dead=" + string(twenty.Next))
	p.shows(t, "entry-04", "entry-00")
	must.Equal(t, "an older page", strings.Contains(p.text(), "Older dead entries"), false)
}
