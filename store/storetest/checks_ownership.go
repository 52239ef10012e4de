package storetest

import (
	"encoding/json"

	"github.com/amber-memory/amber"
)

func ownershipChecks() []check {
	return []check{
		{name: "ownership/memories", needs: []part{longTerm, memories, edits}, run: ownMemories},
		{name: "ownership/idempotency-answers", needs: []part{longTerm}, run: ownAnswers},
		{name: "ownership/batches", needs: []part{batches, memories}, run: ownBatches},
		{name: "ownership/beside-memories", needs: []part{longTerm, memories, concepts}, run: ownBeside},
		{name: "ownership/documents", needs: []part{states, loops}, run: ownDocuments},
		{name: "ownership/ingestions", needs: []part{ingest, sessions, turns, longTerm, memories}, run: ownIngestions},
		{name: "ownership/control-plane", needs: []part{control}, run: ownControl},
	}
}

// spoil overwrites everything in a memory that is shared by reference.
func spoil(m amber.Memory) {
	for i := range m.Tags {
		m.Tags[i] = "spoiled"
	}
	for k := range m.Metadata {
		m.Metadata[k] = "spoiled"
	}
	for i := range m.SourceRefs {
		m.SourceRefs[i].Value = "spoiled"
	}
}

func ownMemories(w *world) {
	r := fullRequest()
	ack := w.write(r)
	want := tree(w.get(ack.ID))
	unchanged := func(what string) { equal(w.get(ack.ID), want, "memory after spoiling %s", what) }
	spoil(amber.Memory{Tags: r.Tags, Metadata: r.Metadata, SourceRefs: r.SourceRefs})
	unchanged("the request")
	spoil(ack.Memory)
	unchanged("the answer")
	spoil(w.get(ack.ID))
	unchanged("a memory read")
	spoil(w.everything()[0])
	unchanged("a memory listed")
	spoil(w.history(ack.ID)[0])
	unchanged("a revision")
	spoil(must(w.Memories.Timeline(w.ctx, ack.ID, 0, 0))[0])
	unchanged("a memory on a timeline")
	e := amber.EditRequest{ID: ack.ID, Tags: new([]string{"a", "b"}), Metadata: new(map[string]string{"k": "v"})}
	edited := w.edit(e)
	want = tree(w.get(ack.ID))
	spoil(amber.Memory{Tags: *e.Tags, Metadata: *e.Metadata})
	spoil(edited)
	unchanged("an edit and its answer")
}

func ownAnswers(w *world) {
	r := fullRequest()
	r.IdempotencyKey = "k"
	first := w.write(r)
	want := tree(first)
	spoil(first.Memory)
	again := w.write(r)
	equal(again, want, "answer of a key after spoiling the first answer")
	spoil(again.Memory)
	equal(w.write(r), want, "answer of a key after spoiling the second answer")
}

func ownBatches(w *world) {
	rs := []amber.WriteRequest{fullRequest()}
	acks := must(w.Batch.WriteBatch(w.ctx, rs))
	want := tree(w.get(acks[0].ID))
	spoil(amber.Memory{Tags: rs[0].Tags, Metadata: rs[0].Metadata, SourceRefs: rs[0].SourceRefs})
	spoil(acks[0].Memory)
	equal(w.get(acks[0].ID), want, "memory after spoiling a batch and its answers")
}

func ownBeside(w *world) {
	id := w.fact("a")
	words := []string{"one", "two"}
	must0(w.Concepts.SetConcepts(w.ctx, id, words))
	words[0] = "spoiled"
	must(w.Concepts.Concepts(w.ctx, id))[1] = "spoiled"
	equal(must(w.Concepts.Concepts(w.ctx, id)), []string{"one", "two"}, "concepts after spoiling")
}

func ownDocuments(w *world) {
	doc := json.RawMessage(`{"a":1}`)
	saved := must(w.States.SaveState(w.ctx, "s", doc, 0))
	loop := must(w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: doc}))
	loaded := must(w.States.LoadState(w.ctx, "s"))
	for _, b := range [][]byte{doc, saved.Document, loaded.Document, loop.State, must(w.Loops.LoadLoop(w.ctx, "s")).State} {
		b[1] = 'X'
		hold(string(must(w.States.LoadState(w.ctx, "s")).Document) == `{"a":1}`, "a state was changed from outside")
		hold(string(must(w.Loops.LoadLoop(w.ctx, "s")).State) == `{"a":1}`, "a loop was changed from outside")
	}
}

func ownIngestions(w *world) {
	s := w.everyPart("s", native("a"))
	r := fullRequest()
	s.Memories = []amber.WriteRequest{r}
	w.ingest("s", s)
	want := tree(w.dumpOf("s"))
	spoil(amber.Memory{Tags: r.Tags, Metadata: r.Metadata, SourceRefs: r.SourceRefs})
	s.Turns[0].Content, s.Activity[0].Name, s.Compaction.Summary, s.End.Summary = "spoiled", "spoiled", "spoiled", "spoiled"
	w.did("s", "")[0].Name = "spoiled"
	equal(w.dumpOf("s"), want, "store after spoiling an ingestion and an answer")
}

func ownControl(w *world) {
	in := amber.Task{ID: "t", Goal: "g", CompletedNodes: []string{"n"}, Extra: json.RawMessage(`{"a":1}`)}
	out := w.saveTask(in, 0)
	want := tree(must(w.Tasks.Task(w.ctx, "t")))
	for _, t := range []amber.Task{in, out, must(w.Tasks.Task(w.ctx, "t")), must(w.Tasks.ListTasks(w.ctx, amber.TaskQuery{})).Items[0]} {
		t.CompletedNodes[0], t.Extra[1] = "spoiled", 'X'
		equal(must(w.Tasks.Task(w.ctx, "t")), want, "task after spoiling")
	}
	req := approvalRequest("a")
	a := w.request(req)
	read, listed := must(w.Approvals.Approval(w.ctx, "a")), must(amber.All(w.ctx, w.Approvals.ListApprovals, ""))
	for _, p := range [][]byte{req.Payload, a.Payload, read.Payload, listed[0].Payload} {
		p[1] = 'X'
		hold(string(must(w.Approvals.Approval(w.ctx, "a")).Payload) == string(approvalRequest("").Payload), "a payload was changed from outside")
	}
	r := resultOf("n", 0, "x")
	r.Evidence = []amber.Evidence{{Kind: "k", Value: "v"}}
	saved := w.save(r)
	for _, r := range []amber.Result{r, saved, must(w.Results.Result(w.ctx, "t", "n")), must(amber.All(w.ctx, w.Results.ListResults, "t"))[0]} {
		r.Evidence[0].Value = "spoiled"
		equal(must(w.Results.Result(w.ctx, "t", "n")).Evidence, []amber.Evidence{{Kind: "k", Value: "v"}}, "evidence after spoiling")
	}
}
