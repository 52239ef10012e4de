package storetest

import (
	"context"

	"github.com/amber-memory/amber"
)

func cancelChecks() []check {
	return []check{
		{name: "cancel/memory-mutations", needs: []part{longTerm, memories}, run: cancelMemories},
		{name: "cancel/session-mutations", run: cancelSessions},
		{name: "cancel/control-mutations", needs: []part{control}, run: cancelControl},
		{name: "cancel/document-mutations", needs: []part{documents}, run: cancelDocuments},
	}
}

// mutation is one call that would change a populated store.
type mutation struct {
	name  string
	needs part
	call  func(ctx context.Context) error
}

// cancelled checks that each mutation fails under a context that has ended
// and leaves the store as it was.
func (w *world) cancelled(all []mutation) {
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	has := w.parts()
	before := tree(w.dump())
	for _, m := range all {
		if has[m.needs] {
			hold(m.call(ctx) != nil, "%s succeeds under a cancelled context", m.name)
			equal(w.dump(), before, "store after a cancelled %s", m.name)
		}
	}
}

func cancelMemories(w *world) {
	w.populate()
	id := w.list(amber.ListQuery{Filter: amber.Filter{Identities: ids()}})[0].ID
	other := w.fact("another")
	w.cancelled([]mutation{
		{"write", longTerm, func(ctx context.Context) error {
			return only(w.LongTerm.Write(ctx, amber.WriteRequest{Content: "new"}))
		}},
		{"duplicate", longTerm, func(ctx context.Context) error {
			return only(w.LongTerm.Write(ctx, amber.WriteRequest{Content: "another"}))
		}},
		{"delete", longTerm, func(ctx context.Context) error { return w.LongTerm.Delete(ctx, id) }},
		{"batch", batches, func(ctx context.Context) error { return only(w.Batch.WriteBatch(ctx, batchOf(3))) }},
		{"edit", edits, func(ctx context.Context) error {
			return only(w.Editor.Edit(ctx, amber.EditRequest{ID: id, Summary: new("x")}))
		}},
		{"erase", erasure, func(ctx context.Context) error { return only(w.Eraser.Erase(ctx, id)) }},
		{"relate", relations, func(ctx context.Context) error {
			return only(w.Relations.Relate(ctx, amber.Relation{From: id, To: other, Type: "x"}))
		}},
		{"concepts", concepts, func(ctx context.Context) error { return w.Concepts.SetConcepts(ctx, id, []string{"x"}) }},
	})
}

func cancelSessions(w *world) {
	w.populate()
	w.cancelled([]mutation{
		{"start", sessions, func(ctx context.Context) error {
			return only(w.Sessions.StartSession(ctx, amber.SessionStart{ID: "new"}))
		}},
		{"end", sessions, func(ctx context.Context) error {
			return only(w.Names.EndSession(ctx, amber.SessionEnd{ID: "full"}))
		}},
		{"rename", sessions, func(ctx context.Context) error { return only(w.Names.RenameSession(ctx, "full", "x")) }},
		{"select", sessions, func(ctx context.Context) error { return only(w.Active.SelectSession(ctx, "ended")) }},
		{"delete", sessions, func(ctx context.Context) error { return w.Sessions.DeleteSession(ctx, "full") }},
		{"turn", turns, func(ctx context.Context) error {
			return only(w.Turns.AppendTurn(ctx, amber.Turn{SessionID: "full", Role: amber.RoleUser, Content: "x"}))
		}},
		{"delete turns", turns, func(ctx context.Context) error { return only(w.Turns.DeleteTurns(ctx, "full")) }},
		{"state", states, func(ctx context.Context) error { return only(w.States.SaveState(ctx, "full", []byte(`1`), 1)) }},
		{"delete state", states, func(ctx context.Context) error { return w.States.DeleteState(ctx, "full") }},
		{"loop", loops, func(ctx context.Context) error {
			return only(w.Loops.SaveLoop(ctx, amber.LoopSave{SessionID: "full", RunID: "run", State: []byte(`1`), IfRevision: 1}))
		}},
		{"clear loop", loops, func(ctx context.Context) error { return w.Loops.ClearLoop(ctx, "full", "") }},
		{"compaction", compactions, func(ctx context.Context) error {
			return only(w.Compactions.AddCompaction(ctx, amber.Compaction{SessionID: "full", Summary: "x"}))
		}},
		{"ingestion", ingest, func(ctx context.Context) error {
			return only(w.Ingest.Ingest(ctx, ingestion("journaled", 2, 3, w.everyPart("journaled", native("cancelled")))))
		}},
	})
}

func cancelControl(w *world) {
	w.populate()
	w.entry("due")
	lease := w.claim("c").Lease
	w.cancelled([]mutation{
		{"task", control, func(ctx context.Context) error {
			return only(w.Tasks.SaveTask(ctx, amber.Task{ID: "new", Goal: "g"}, 0))
		}},
		{"event", control, func(ctx context.Context) error {
			return only(w.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: "career", From: amber.TaskQueued}))
		}},
		{"compact", control, func(ctx context.Context) error { return only(w.Events.CompactEvents(ctx, "career", 0)) }},
		{"request", control, func(ctx context.Context) error {
			return only(w.Approvals.RequestApproval(ctx, approvalRequest("new")))
		}},
		{"decide", control, func(ctx context.Context) error {
			return only(w.Approvals.DecideApproval(ctx, amber.ApprovalDecision{ID: "open", Outcome: amber.ApprovalApproved, Actor: "x"}))
		}},
		{"result", control, func(ctx context.Context) error { return only(w.Results.SaveResult(ctx, resultOf("free", 0, "y"))) }},
		{"publish", control, func(ctx context.Context) error { return w.Queue.Publish(ctx, entryNamed("new")) }},
		{"claim", control, func(ctx context.Context) error { return only(w.Queue.Claim(ctx, "c")) }},
		{"nack", control, func(ctx context.Context) error { return w.Queue.Nack(ctx, amber.Nack{Lease: lease, Reason: "x"}) }},
		{"renew", control, func(ctx context.Context) error { return only(w.QueueKeeper.Renew(ctx, lease)) }},
		{"ack", control, func(ctx context.Context) error { return w.Queue.Ack(ctx, lease) }},
	})
}

func cancelDocuments(w *world) {
	w.populate()
	w.cancelled([]mutation{
		{"put", documents, func(ctx context.Context) error {
			return only(w.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "new", Document: []byte(`1`)}))
		}},
		{"replace", documents, func(ctx context.Context) error {
			return only(w.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "extract_cursor", Document: []byte(`1`)}))
		}},
		{"delete", documents, func(ctx context.Context) error { return w.Documents.DeleteDocument(ctx, "extract_cursor", "") }},
	})
}
