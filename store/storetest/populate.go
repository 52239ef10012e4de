package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

// populated names what populate creates.
func populated() names {
	return names{
		sessions: []amber.SessionID{"full", "ended", "loose", "journaled"},
		bindings: []string{amber.DefaultBinding, "chat", "journal"},
		tasks:    []string{"career", "t", "loose"},
		journals: []string{journalOf("journaled")},
	}
}

// dump reads everything a populated store holds.
func (w *world) dump() map[string]any { return dump(w.ctx, w.Store, w.parts(), populated()) }

// populate fills every part the store has with something of each kind.
func (w *world) populate() {
	has := w.parts()
	if has[longTerm] {
		w.populateMemories(has)
	}
	w.populateSessions(has)
	if has[ingest] {
		w.populateJournal()
	}
	if has[control] {
		w.populateControl()
	}
	if has[documents] {
		w.document("extract_cursor", `{"at": 7}`)
		w.document("last_consolidation", `{"run": "r"}`)
	}
}

func (w *world) populateMemories(has map[part]bool) {
	a := w.write(fullRequest()).ID
	w.tick()
	r := fullRequest()
	r.Topic, r.IdempotencyKey = "topic", "key"
	b := w.write(r).ID
	w.fact("deduplicated")
	w.fact("deduplicated")
	must0(w.LongTerm.Delete(w.ctx, w.fact("deleted")))
	if has[edits] {
		w.edit(amber.EditRequest{ID: b, Content: new("edited"), Tags: new([]string{})})
	}
	if has[erasure] {
		must(w.Eraser.Erase(w.ctx, w.fact("erased")))
	}
	if has[relations] {
		must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 0.5}))
		gone := must(w.Relations.Relate(w.ctx, amber.Relation{From: b, To: a, Type: "related", Strength: 0.5}))
		must0(w.Relations.Unrelate(w.ctx, gone.ID))
	}
	if has[concepts] {
		must0(w.Concepts.SetConcepts(w.ctx, a, []string{"one", "two"}))
	}
}

func (w *world) populateSessions(has map[part]bool) {
	if has[sessions] {
		w.start(amber.SessionStart{ID: "full", Name: "Full", Project: "p", Directory: "/d"})
		w.start(amber.SessionStart{ID: "ended", Binding: "chat", Parent: "full"})
		must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "ended", Summary: "over"}))
	}
	for _, id := range []amber.SessionID{"full", "loose"} {
		w.tick()
		if has[turns] {
			w.say(id, "one")
			w.say(id, "two\x1b")
		}
		if has[states] {
			must(w.States.SaveState(w.ctx, id, []byte(`{"a": 1}`), 0))
		}
		if has[loops] {
			w.saveLoop(id, "run", `{"b": 2}`, 0)
		}
		if has[compactions] {
			must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{SessionID: id, Summary: "sum", Turns: 2}))
		}
	}
}

func (w *world) populateJournal() {
	in := ingestion("journaled", 0, 2, w.everyPart("journaled", native("populated")), w.saying("journaled", observed("populated", 0), "and more"))
	in.Steps[1].Reopen = true
	in.LastAt, in.Process = w.now(), amber.HostProcess{PID: 1, Start: 2, Boot: "b", Namespace: "n"}
	must(w.Ingest.Ingest(w.ctx, in))
}

func (w *world) populateControl() {
	w.career("career")
	must(w.Events.CompactEvents(w.ctx, "career", 2))
	w.event(amber.TaskEvent{TaskID: "loose", From: amber.TaskQueued, To: amber.TaskFailed})
	w.request(approvalRequest("open"))
	w.request(approvalRequest("decided"))
	must(w.Approvals.DecideApproval(w.ctx, amber.ApprovalDecision{ID: "decided", Outcome: amber.ApprovalApproved, Actor: "ada"}))
	for i := range 4 {
		w.publish(amber.Envelope{EntryID: fmt.Sprint("e", i), TaskID: "t", NodeID: fmt.Sprint("n", i), Payload: "p", Priority: i % 2})
	}
	l := w.claim("c").Lease
	w.save(resultOf("n1", l.Fence, "done"))
	must0(w.Queue.Ack(w.ctx, l))
	nacked := w.claim("c").Lease
	must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: nacked, Reason: "later", NotBefore: w.now().Add(time.Hour)}))
	w.claim("c")
	w.save(resultOf("free", 0, "done"))
}
