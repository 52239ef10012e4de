package storetest

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/amber-memory/amber"
)

func approvalChecks() []check {
	needs := []part{control}
	return []check{
		{name: "approval/request-freezes-the-payload", needs: needs, run: approvalRequested},
		{name: "approval/request-is-idempotent", needs: needs, run: approvalIdempotent},
		{name: "approval/decide-once", needs: needs, run: approvalDecided},
		{name: "approval/decide-once-of-eight-at-once", needs: needs, run: approvalRace},
		{name: "approval/other-digest-conflicts", needs: needs, run: approvalDigest},
		{name: "approval/list-oldest-first", needs: needs, run: approvalsListed},
		{name: "approval/refuses-invalid", needs: needs, run: approvalRefusesInvalid},
	}
}

func approvalRequest(id string) amber.ApprovalRequest {
	return amber.ApprovalRequest{ID: id, TaskID: "t", NodeID: "n", Summary: "run it?", Payload: json.RawMessage(`{"cmd":"rm","n":12345678901234567890}`)}
}

// request asks for an approval.
func (w *world) request(r amber.ApprovalRequest) amber.Approval {
	return must(w.Approvals.RequestApproval(w.ctx, r))
}

func approvalRequested(w *world) {
	r := approvalRequest("a")
	r.RequestedBy = "asker"
	want := amber.Approval{
		RequestedBy: "asker",
		ID:          "a", TaskID: r.TaskID, NodeID: r.NodeID, Summary: r.Summary, Status: amber.ApprovalPending,
		Payload: r.Payload, Digest: amber.ContentDigest(string(r.Payload)), CreatedAt: w.now(),
	}
	equal(w.request(r), want, "requested approval")
	got := must(w.Approvals.Approval(w.ctx, "a"))
	equal(got, want, "approval read back")
	hold(string(got.Payload) == string(r.Payload), "payload %s came back as %s", r.Payload, got.Payload)
	r.ID, r.Payload = "", json.RawMessage("{ \"b\" : 1.0 ,\n\t\"a\": \"<&>\u2028\" }")
	const compact = "{\"b\":1.0,\"a\":\"<&>\u2028\"}"
	hold(string(w.request(r).Payload) == compact, "a payload is not stored in its compact form")
	one, two := w.request(r), w.request(r)
	hold(one.ID != "" && two.ID != "" && one.ID != two.ID, "ids %q and %q are not two ids", one.ID, two.ID)
	refused(only(w.Approvals.Approval(w.ctx, "unknown")), amber.KindNotFound, "read an unknown approval")
}

func approvalIdempotent(w *world) {
	first := w.request(approvalRequest("a"))
	w.tick()
	equal(w.request(approvalRequest("a")), first, "approval requested twice")
	r := approvalRequest("a")
	r.RequestedBy = "another"
	equal(w.request(r), first, "approval requested again by somebody else")
	r.Payload = json.RawMessage(`{ "cmd": "rm",  "n": 12345678901234567890 }`)
	equal(w.request(r), first, "approval of the same document, laid out otherwise")
	for name, change := range map[string]func(*amber.ApprovalRequest){
		"payload": func(r *amber.ApprovalRequest) { r.Payload = json.RawMessage(`{"cmd":"rm","n":12345678901234567891}`) },
		"task":    func(r *amber.ApprovalRequest) { r.TaskID = "x" },
		"node":    func(r *amber.ApprovalRequest) { r.NodeID = "x" },
		"summary": func(r *amber.ApprovalRequest) { r.Summary = "x" },
	} {
		r := approvalRequest("a")
		change(&r)
		refused(only(w.Approvals.RequestApproval(w.ctx, r)), amber.KindConflict, "request of a known id with another %s", name)
	}
	equal(must(w.Approvals.Approval(w.ctx, "a")), first, "approval after a refused request")
	decided := must(w.Approvals.DecideApproval(w.ctx, amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalRejected, Actor: "ada"}))
	equal(w.request(approvalRequest("a")), decided, "approval requested again after the decision")
}

func approvalDecided(w *world) {
	for _, outcome := range []amber.ApprovalStatus{amber.ApprovalApproved, amber.ApprovalRejected, amber.ApprovalCancelled} {
		want := w.request(approvalRequest(string(outcome)))
		w.tick()
		d := amber.ApprovalDecision{ID: want.ID, Outcome: outcome, Actor: "ada", ClaimedBy: "grace", Comment: "well\nthen", Digest: want.Digest}
		got := must(w.Approvals.DecideApproval(w.ctx, d))
		want.Status, want.DecidedBy, want.ClaimedBy, want.Comment, want.DecidedAt = outcome, d.Actor, d.ClaimedBy, d.Comment, w.now()
		equal(got, want, "%s approval", outcome)
		equal(must(w.Approvals.Approval(w.ctx, want.ID)), want, "approval read back")
		for _, second := range []amber.ApprovalStatus{outcome, amber.ApprovalApproved, amber.ApprovalCancelled} {
			_, err := w.Approvals.DecideApproval(w.ctx, amber.ApprovalDecision{ID: want.ID, Outcome: second, Actor: "bob"})
			refused(err, amber.KindConflict, "second decision, %s after %s", second, outcome)
		}
		equal(must(w.Approvals.Approval(w.ctx, want.ID)), want, "approval after a second decision")
	}
	_, err := w.Approvals.DecideApproval(w.ctx, amber.ApprovalDecision{ID: "unknown", Outcome: amber.ApprovalApproved, Actor: "ada"})
	refused(err, amber.KindNotFound, "decision on an unknown approval")
}

func approvalRace(w *world) {
	for round := range 5 {
		id := fmt.Sprint("a", round)
		w.request(approvalRequest(id))
		var won atomic.Int64
		var winner atomic.Value
		together(8, func(i int) {
			d := amber.ApprovalDecision{ID: id, Outcome: amber.ApprovalApproved, Actor: fmt.Sprint("actor ", i)}
			got, err := w.Approvals.DecideApproval(w.ctx, d)
			if err != nil {
				refused(err, amber.KindConflict, "decision that lost")
				return
			}
			won.Add(1)
			winner.Store(got.DecidedBy)
		})
		equal(won.Load(), 1, "decisions that won")
		equal(must(w.Approvals.Approval(w.ctx, id)).DecidedBy, winner.Load(), "who decided")
	}
}

func approvalDigest(w *world) {
	a := w.request(approvalRequest("a"))
	d := amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: "ada", Digest: amber.ContentDigest("another")}
	refused(only(w.Approvals.DecideApproval(w.ctx, d)), amber.KindConflict, "decision about another payload")
	equal(must(w.Approvals.Approval(w.ctx, "a")), a, "approval after a refused decision")
	d.Digest = ""
	equal(must(w.Approvals.DecideApproval(w.ctx, d)).Status, amber.ApprovalApproved, "decision without a digest")
}

func approvalsListed(w *world) {
	var all []amber.Approval
	for i := range 4 {
		r := approvalRequest(fmt.Sprint("z", 9-i))
		r.TaskID = fmt.Sprint("t", i%2)
		all = append(all, w.request(r))
		w.tick()
	}
	all[0] = must(w.Approvals.DecideApproval(w.ctx, amber.ApprovalDecision{ID: all[0].ID, Outcome: amber.ApprovalApproved, Actor: "ada"}))
	equal(must(amber.All(w.ctx, w.Approvals.ListApprovals, "t0")), []amber.Approval{all[0], all[2]}, "approvals of a task")
	equal(must(amber.All(w.ctx, w.Approvals.ListApprovals, "")), all[1:], "pending approvals of every task")
	equal(len(must(amber.All(w.ctx, w.Approvals.ListApprovals, "unknown"))), 0, "approvals of an unknown task")
}

func approvalRefusesInvalid(w *world) {
	w.request(approvalRequest("a"))
	for name, change := range map[string]func(*amber.ApprovalRequest){
		"no task":        func(r *amber.ApprovalRequest) { r.TaskID = "" },
		"no node":        func(r *amber.ApprovalRequest) { r.NodeID = "" },
		"no summary":     func(r *amber.ApprovalRequest) { r.Summary = " " },
		"no payload":     func(r *amber.ApprovalRequest) { r.Payload = nil },
		"broken payload": func(r *amber.ApprovalRequest) { r.Payload = []byte(`{`) },
	} {
		r := approvalRequest("b")
		change(&r)
		refused(only(w.Approvals.RequestApproval(w.ctx, r)), amber.KindInvalid, "request with %s", name)
	}
	for name, d := range map[string]amber.ApprovalDecision{
		"no actor":           {ID: "a", Outcome: amber.ApprovalApproved},
		"pending as outcome": {ID: "a", Outcome: amber.ApprovalPending, Actor: "ada"},
		"no outcome":         {ID: "a", Actor: "ada"},
		"no id":              {Outcome: amber.ApprovalApproved, Actor: "ada"},
	} {
		refused(only(w.Approvals.DecideApproval(w.ctx, d)), amber.KindInvalid, "decision with %s", name)
	}
	equal(len(must(amber.All(w.ctx, w.Approvals.ListApprovals, ""))), 1, "pending approvals")
}
