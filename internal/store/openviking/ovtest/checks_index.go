package ovtest

import "fmt"

func indexChecks() []check {
	return []check{
		{"consistency/counts", func(w *world) {
			w.put("notes/a.md", "one")
			w.put("notes/sub/b.md", "two")
			got := w.consistency("notes")
			hold(got.OK && got.Expected == 2 && got.Missing == 0 && len(got.Records) == 0, "consistency says %+v", got)
		}},
		{"consistency/bad-requests", func(w *world) {
			w.put("notes/a.md", "one")
			w.send("POST", "/api/v1/system/consistency", object{"uri": mine + "none"}).refused(404, "NOT_FOUND")
			w.send("POST", "/api/v1/system/consistency", object{"uri": mine + "notes/a.md"}).refused(400, "INVALID_ARGUMENT")
			w.send("POST", "/api/v1/system/consistency", object{}).refused(400, "INVALID_ARGUMENT")
		}},
		{"consistency/shows-twenty", func(w *world) {
			w.deferred(25)
			got := w.consistency("notes")
			hold(!got.OK && got.Missing == 25 && len(got.Records) == 20 && got.Truncated, "consistency says %+v", got)
			hold(got.Records[0].Level == 2, "the first record is %+v", got.Records[0])
		}},
		{"reindex/mends", func(w *world) {
			w.deferred(2)
			same(w.reindex("notes").Failed, 0, "failed")
			hold(w.consistency("notes").OK, "consistency says %+v", w.consistency("notes"))
			same(len(w.hits("gateway", nil)), 2, "hits")
		}},
		{"reindex/file", func(w *world) {
			w.deferred(2)
			same(w.reindex("notes/f0.md"), reindexed{"completed", 1, 0}, "answer")
			equal(w.names("gateway", nil), []string{"notes/f0.md"}, "found")
		}},
		{"reindex/takes-the-trailer-for-text", func(w *world) {
			w.put("notes/a.md", "gateway")
			before := w.hits("gateway", nil)[0].Score
			w.reindex("notes/a.md")
			after := w.hits("gateway", nil)[0]
			hold(before > 0.999 && after.Score < 0.95 && after.Score > 0.6, "the score was %v and is %v", before, after.Score)
			same(after.Abstract, "gateway", "abstract")
		}},
		{"reindex/bad-requests", func(w *world) {
			w.put("notes/a.md", "one")
			reindex := func(name, mode string) answer {
				return w.send("POST", "/api/v1/content/reindex", object{"uri": mine + name, "mode": mode})
			}
			reindex("none", "vectors_only").refused(404, "NOT_FOUND")
			reindex("notes/a.md", "zork").refused(400, "UNSUPPORTED_MODE")
		}},
		{"tasks/of-other-accounts", func(w *world) {
			var got written
			w.write(object{"uri": mine + "notes/a.md", "content": "gateway"}).into(&got)
			w.until("the task is done", func() bool { return w.task(got.Task) == "completed" })
			w.as(w.newAccount(w.account+"x", "u1"), "GET", "/api/v1/tasks/"+got.Task, nil).refused(404, "NOT_FOUND")
			w.send("GET", "/api/v1/tasks/none", nil).refused(404, "NOT_FOUND")
		}},
		{"delete/before-the-vector", func(w *world) {
			w.put("notes/b.md", "gateway port")
			w.write(object{"uri": mine + "notes/a.md", "content": "gateway", "wait": false}).ok()
			w.remove("notes/a.md", "").ok()
			w.settle()
			w.remove("notes/a.md", "").ok() // see delete/while-the-vector-is-made
			w.stat("notes/a.md").refused(404, "NOT_FOUND")
			equal(w.names("gateway", nil), []string{"notes/b.md"}, "found")
		}},
	}
}

// deferred writes files that get no vector.
func (w *world) deferred(n int) {
	w.put("notes/x.md", "x")
	w.remove("notes/x.md", "").ok()
	var ops []object
	for i := range n {
		ops = append(ops, upsert(fmt.Sprintf("notes/f%d.md", i), "gateway"))
	}
	w.send("POST", "/api/v1/content/batch-write", object{
		"root_uri": mine + "notes", "operations": ops, "wait": false, "defer_processing": true,
	}).ok()
}
