package ovtest

func outageChecks() []check {
	return []check{
		held("delete/while-the-vector-is-made", func(w *world) {
			w.put("notes/b.md", "gateway port")
			id := w.inFlight(func() answer {
				return w.write(object{"uri": mine + "notes/a.md", "content": "gateway", "wait": false})
			})
			w.remove("notes/a.md", "").ok()
			w.release(id)
			w.stat("notes/a.md").refused(404, "NOT_FOUND")
			equal(w.names("gateway", nil), []string{"notes/a.md", "notes/b.md"}, "found, with the deleted file")
			hold(w.consistency("notes").OK, "consistency notices it")
			same(w.deleted("notes/a.md", ""), 1, "vectors that a second deletion removes")
			equal(w.names("gateway", nil), []string{"notes/b.md"}, "found after the second deletion")
		}),
		held("batch/files-are-busy-until-indexed", func(w *world) {
			w.put("notes/b.md", "gateway")
			id := w.inFlight(func() answer { return w.batch("notes", false, upsert("notes/a.md", "gateway port")) })
			w.busy(w.send("POST", "/api/v1/content/batch-write", object{"root_uri": mine + "notes", "operations": []object{upsert("notes/a.md", "x")}}))
			w.busy(w.write(object{"uri": mine + "notes/a.md", "content": "x"}))
			w.busy(w.remove("notes/a.md", ""))
			w.busy(w.remove("notes", "&recursive=true"))
			w.write(object{"uri": mine + "notes/c.md", "content": "x"}).ok()
			w.remove("notes/b.md", "").ok()
			w.holds("notes/a.md", "gateway port")
			w.release(id)
			w.remove("notes/a.md", "").ok()
		}),
		outage("outage/what-failed-stays-unindexed", unindexed),
		outage("outage/overwritten-file-keeps-its-vector", func(w *world) {
			w.put("notes/a.md", "purple")
			id := w.outage(func() answer { return w.write(object{"uri": mine + "notes/a.md", "content": "gateway"}) })
			same(w.task(id), "failed", "task")
			w.holds("notes/a.md", "gateway")
			w.answers()
			hits := w.hits("purple", nil)
			hold(len(hits) == 1 && hits[0].Score > 0.999 && hits[0].Abstract == "purple", "hits are %+v", hits)
			hold(w.consistency("notes").OK, "consistency notices the old vector")
		}),
		outage("outage/made-folder-lacks-its-summary", func(w *world) {
			w.put("notes/a.md", "gateway")
			w.outage(func() answer {
				w.mkdir("made")
				return w.write(object{"uri": mine + "notes/b.md", "content": "gateway"})
			})
			w.answers()
			got := w.consistency("made")
			hold(got.Missing == 1 && got.Records[0].Level == 0 && got.Records[0].URI == mine+"made", "consistency says %+v", got)
			w.reindex("made")
			hold(w.consistency("made").OK, "consistency says %+v after reindex", w.consistency("made"))
		}),
		outage("outage/reindex-tells-what-failed", func(w *world) {
			w.put("notes/a.md", "gateway")
			w.target.EmbedderDown(true)
			got := w.reindex("notes/a.md")
			w.target.EmbedderDown(false)
			same(got, reindexed{"completed", 0, 1}, "answer")
			w.answers()
			same(len(w.hits("gateway", nil)), 1, "hits")
		}),
	}
}

// unindexed follows two files that were written while the embedder was away.
func unindexed(w *world) {
	w.put("notes/ok.md", "gateway port berlin")
	id := w.outage(func() answer {
		a := w.write(object{"uri": mine + "notes/a.md", "content": "gateway"})
		w.write(object{"uri": mine + "notes/b.md", "content": "gateway port", "wait": true}).refused(500, "PROCESSING_ERROR")
		w.holds("notes/b.md", "gateway port")
		w.find("gateway", nil).refused(503, "UNAVAILABLE")
		same(w.health(w.key).Status, "ok", "health in an outage")
		same(w.as("", "GET", "/ready", nil).Status, 200, "ready in an outage")
		return a
	})
	same(w.task(id), "failed", "task")
	w.answers()
	w.settle()
	equal(w.names("gateway", nil), []string{"notes/ok.md"}, "found after the outage")
	got := w.consistency("notes")
	hold(!got.OK && got.Expected == 3 && got.Missing == 2, "consistency says %+v", got)
	same(w.reindex("notes").Failed, 0, "failed records of reindex")
	hold(w.consistency("notes").OK, "consistency says %+v after reindex", w.consistency("notes"))
	same(len(w.hits("gateway", nil)), 3, "hits after reindex")
}

// inFlight has a write wait for the embedder, and returns its task.
func (w *world) inFlight(write func() answer) string {
	w.settle()
	w.target.EmbedderHold(true)
	var got written
	write().into(&got)
	w.until("the task is running", func() bool { return w.task(got.Task) == "running" })
	return got.Task
}

// release lets the embedder go on, and waits for a task.
func (w *world) release(id string) {
	w.target.EmbedderHold(false)
	w.until("the task is done", func() bool { return w.task(id) == "completed" })
}

// busy ends the check unless a request was refused for a while.
func (w *world) busy(a answer) {
	a.refused(409, "CONFLICT")
	hold(a.Error.Details.Retryable && a.Error.Details.Conflict == "path_busy", "%s: the conflict is %s", a.request, a.raw)
}

// outage writes while the embedder is away, waits for the end of the write's task and
// returns the task.
func (w *world) outage(write func() answer) string {
	w.settle()
	w.target.EmbedderDown(true)
	defer w.target.EmbedderDown(false)
	var got written
	write().into(&got)
	w.until("the task has ended", func() bool { s := w.task(got.Task); return s == "failed" || s == "completed" })
	return got.Task
}

// answers waits until questions are answered again: a server that saw its embedder
// fail some times does not ask it for a while.
func (w *world) answers() {
	w.until("questions are answered", func() bool {
		a := w.find("anything", nil)
		return a.Status == 200
	})
}
