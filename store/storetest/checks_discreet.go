package storetest

import (
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
)

// discreetChecks promise that the error of a conflict does not reveal stored text: a caller who may
// write and may not read gets such errors, too.
func discreetChecks() []check {
	return []check{
		{name: "conflict/of-a-session-names-no-binding", needs: []part{sessions}, run: discreetSession},
		{name: "conflict/of-a-loop-names-no-run", needs: []part{loops, sessions}, run: discreetLoop},
		{name: "conflict/of-an-approval-names-nobody", needs: []part{control}, run: discreetApproval},
		{name: "conflict/of-a-memory-holds-no-text", needs: []part{longTerm, memories, edits}, run: discreetMemory},
	}
}

// told is in every text that these checks store.
const told = "canary"

// discreet ends the check unless err is a conflict that does not hold the text
// that is stored.
func discreet(err error, what string) {
	refused(err, amber.KindConflict, "%s", what)
	hold(!strings.Contains(err.Error()+amber.HintOf(err), told), "%s: the error tells what is stored: %v", what, err)
}

func discreetSession(w *world) {
	must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s", Binding: told, Name: told}))
	_, err := w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s", Binding: "other"})
	discreet(err, "start of a session of another binding")
}

func discreetLoop(w *world) {
	must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s"}))
	must(w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: told, State: json.RawMessage(`"canary"`)}))
	_, err := w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "other", State: json.RawMessage(`1`), IfRevision: 1})
	discreet(err, "save of another run")
	discreet(w.Loops.ClearLoop(w.ctx, "s", "other"), "clearing of another run")
}

func discreetApproval(w *world) {
	r := approvalRequest("a")
	r.Summary, r.Payload = told, json.RawMessage(`"canary"`)
	w.request(r)
	_, err := w.Approvals.RequestApproval(w.ctx, approvalRequest("a"))
	discreet(err, "request of a known id")
	d := amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: told, Comment: told}
	must(w.Approvals.DecideApproval(w.ctx, d))
	_, err = w.Approvals.DecideApproval(w.ctx, amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalRejected, Actor: "other"})
	discreet(err, "second decision")
}

func discreetMemory(w *world) {
	w.write(amber.WriteRequest{Content: told, Title: told, IdempotencyKey: "k"})
	_, err := w.LongTerm.Write(w.ctx, amber.WriteRequest{Content: "other", IdempotencyKey: "k"})
	discreet(err, "write with a used key")
	other := w.write(amber.WriteRequest{Content: "other", Title: told}).ID
	_, err = w.Editor.Edit(w.ctx, amber.EditRequest{ID: other, Content: new(told)})
	discreet(err, "edit that would make a duplicate")
	_, err = w.Editor.Edit(w.ctx, amber.EditRequest{ID: other, Content: new("new"), IfRevision: 7})
	discreet(err, "edit of another revision")
}
