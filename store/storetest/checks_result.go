package storetest

import (
	"math"
	"time"

	"github.com/amber-memory/amber"
)

func resultChecks() []check {
	needs := []part{control}
	return []check{
		{name: "result/save-keeps-every-field", needs: needs, run: resultKept},
		{name: "result/work-of-no-queue", needs: needs, run: resultWithoutQueue},
		{name: "result/old-fence-is-refused", needs: needs, run: resultFenced},
		{name: "result/fence-never-issued-is-refused", needs: needs, run: resultFenceFromNowhere},
		{name: "result/list-by-node", needs: needs, run: resultsListed},
		{name: "result/refuses-invalid", needs: needs, run: resultRefusesInvalid},
	}
}

func resultOf(node string, fence int64, payload string) amber.Result {
	return amber.Result{TaskID: "t", NodeID: node, Producer: "worker", Status: amber.ResultOK, Payload: payload, Fence: fence}
}

// save stores a result.
func (w *world) save(r amber.Result) amber.Result { return must(w.Results.SaveResult(w.ctx, r)) }

func resultKept(w *world) {
	r := amber.Result{
		TaskID: "t", NodeID: "n", Producer: "p", SchemaVersion: "v9", Status: amber.ResultError, Payload: "it\nfailed\x1b",
		Evidence: []amber.Evidence{{Kind: "log", Value: "b\x07"}, {Kind: "file", Value: "a"}}, Confidence: 0.1, UpdatedAt: amber.UnixMilli(5),
	}
	w.tick()
	got := w.save(r)
	r.UpdatedAt = w.now()
	equal(got, r, "saved result")
	equal(must(w.Results.Result(w.ctx, "t", "n")), r, "result read back")
	equal(w.save(resultOf("m", 0, "")).SchemaVersion, "result.v1", "default schema version")
	for _, key := range [][2]string{{"t", "x"}, {"x", "n"}} {
		refused(only(w.Results.Result(w.ctx, key[0], key[1])), amber.KindNotFound, "read an unknown result")
	}
}

func resultWithoutQueue(w *world) {
	w.save(resultOf("n", 0, "one"))
	w.save(resultOf("n", 0, "two"))
	equal(must(w.Results.Result(w.ctx, "t", "n")).Payload, "two", "the newest result")
}

func resultFenced(w *world) {
	w.publish(amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"})
	first := w.claim("c1").Lease
	w.save(resultOf("n", first.Fence, "by the first"))
	w.save(resultOf("n", first.Fence, "by the first again"))
	refused(only(w.Results.SaveResult(w.ctx, resultOf("n", 0, "by nobody"))), amber.KindConflict, "result without a fence where one was issued")
	w.clock.Advance(time.Minute)
	second := w.claim("c2").Lease
	_, err := w.Results.SaveResult(w.ctx, resultOf("n", first.Fence, "too late"))
	refused(err, amber.KindConflict, "result under the first fence after a second was issued")
	equal(must(w.Results.Result(w.ctx, "t", "n")).Payload, "by the first again", "result after a refused one")
	w.save(resultOf("n", second.Fence, "by the second"))
	must0(w.Queue.Ack(w.ctx, second))
	w.save(resultOf("n", second.Fence, "after the ack"))
	_, err = w.Results.SaveResult(w.ctx, resultOf("n", first.Fence, "far too late"))
	refused(err, amber.KindConflict, "result under the first fence after the ack of the second")
	equal(must(w.Results.Result(w.ctx, "t", "n")).Payload, "after the ack", "the newest result")
}

func resultFenceFromNowhere(w *world) {
	refused(only(w.Results.SaveResult(w.ctx, resultOf("n", 1, "x"))), amber.KindConflict, "result under a fence where none was issued")
	w.publish(amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"})
	l := w.claim("c").Lease
	_, err := w.Results.SaveResult(w.ctx, resultOf("n", l.Fence+1, "x"))
	refused(err, amber.KindConflict, "result under a fence that will be issued later")
	refused(only(w.Results.SaveResult(w.ctx, resultOf("n", math.MaxInt64, "x"))), amber.KindConflict, "result under the largest fence")
	refused(only(w.Results.SaveResult(w.ctx, resultOf("other", l.Fence, "x"))), amber.KindConflict, "result under the fence of another node")
	w.save(resultOf("other", 0, "another node is not fenced"))
	refused(only(w.Results.Result(w.ctx, "t", "n")), amber.KindNotFound, "read what refused calls stored")
}

func resultsListed(w *world) {
	for _, n := range []string{"b", "c", "a"} {
		w.save(resultOf(n, 0, n))
	}
	other := resultOf("z", 0, "other")
	other.TaskID = "t2"
	w.save(other)
	var got []string
	for _, r := range must(amber.All(w.ctx, w.Results.ListResults, "t")) {
		got = append(got, r.NodeID)
	}
	equal(got, []string{"a", "b", "c"}, "results of a task by node")
	equal(len(must(amber.All(w.ctx, w.Results.ListResults, "unknown"))), 0, "results of an unknown task")
}

func resultRefusesInvalid(w *world) {
	for name, change := range map[string]func(*amber.Result){
		"no task":              func(r *amber.Result) { r.TaskID = "" },
		"no node":              func(r *amber.Result) { r.NodeID = "" },
		"no producer":          func(r *amber.Result) { r.Producer = "" },
		"no status":            func(r *amber.Result) { r.Status = "" },
		"a negative fence":     func(r *amber.Result) { r.Fence = -1 },
		"too much confidence":  func(r *amber.Result) { r.Confidence = 1.1 },
		"confidence no number": func(r *amber.Result) { r.Confidence = math.NaN() },
		"evidence of no kind":  func(r *amber.Result) { r.Evidence = []amber.Evidence{{Value: "v"}} },
		"a NUL":                func(r *amber.Result) { r.Payload = "\x00" },
	} {
		r := resultOf("n", 0, "x")
		change(&r)
		refused(only(w.Results.SaveResult(w.ctx, r)), amber.KindInvalid, "result with %s", name)
	}
	equal(len(must(amber.All(w.ctx, w.Results.ListResults, "t"))), 0, "results stored by refused calls")
}
