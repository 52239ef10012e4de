package ovtest

import (
	"crypto/sha256"
	"encoding/hex"
)

// batched is what the server says of a batch.
type batched struct {
	Created, Updated, Unchanged []string
	Vector                      string `json:"vector_status"`
	Task                        string `json:"task_id"`
}

func batchChecks() []check {
	return []check{
		{"batch/creates-and-updates", func(w *world) {
			w.mkdir("notes")
			var got batched
			w.batch("notes", true, upsert("notes/b.md", "two"), upsert("notes/a.md", "one")).into(&got)
			equal(got.Created, []string{mine + "notes/a.md", mine + "notes/b.md"}, "created")
			same(got.Vector, "complete", "vectors")
			w.batch("notes", true, upsert("notes/a.md", "uno"), upsert("notes/sub/c.md", "three")).into(&got)
			equal(got.Created, []string{mine + "notes/sub/c.md"}, "created")
			equal(got.Updated, []string{mine + "notes/a.md"}, "updated")
			w.holds("notes/a.md", "uno")
			w.holds("notes/sub/c.md", "three")
		}},
		{"batch/makes-folders-below-its-root", func(w *world) {
			w.mkdir("notes")
			var got batched
			w.batch("notes", true, upsert("notes/x/y/a.md", "gateway"), upsert("notes/z/y/b.md", "gateway and port")).into(&got)
			equal(got.Created, []string{mine + "notes/x/y/a.md", mine + "notes/z/y/b.md"}, "created")
			equal(w.names("gateway", nil), []string{"notes/x/y/a.md", "notes/z/y/b.md"}, "found")
		}},
		{"batch/does-not-wait", func(w *world) {
			w.mkdir("notes")
			var got batched
			w.batch("notes", false, upsert("notes/a.md", "gateway")).into(&got)
			same(got.Vector, "queued", "vectors")
			w.until("the task is done", func() bool { return w.task(got.Task) == "completed" })
			equal(w.names("gateway", nil), []string{"notes/a.md"}, "found")
		}},
		{"batch/same-content-is-updated", func(w *world) {
			w.mkdir("notes")
			w.batch("notes", true, upsert("notes/a.md", "one")).ok()
			var got batched
			w.batch("notes", true, upsert("notes/a.md", "one")).into(&got)
			equal(got.Updated, []string{mine + "notes/a.md"}, "updated")
		}},
		{"batch/root-is-missing", func(w *world) {
			w.batch("notes", true, upsert("notes/a.md", "one")).refused(404, "NOT_FOUND")
		}},
		{"batch/compare-and-swap", compareAndSwap},
		{"batch/conflict-changes-nothing", func(w *world) {
			w.mkdir("notes")
			w.batch("notes", true, upsert("notes/b.md", "one")).ok()
			stale := upsert("notes/b.md", "two")
			stale["expected_sha256"] = hex.EncodeToString(make([]byte, 32))
			w.batch("notes", true, upsert("notes/a.md", "new"), stale).refused(409, "CONFLICT")
			w.holds("notes/b.md", "one")
			w.stat("notes/a.md").refused(404, "NOT_FOUND")
		}},
		{"batch/create-overwrites-and-replace-makes", func(w *world) {
			w.put("notes/a.md", "one")
			w.batch("notes", true,
				object{"uri": mine + "notes/a.md", "content": "two", "mode": "create"},
				object{"uri": mine + "notes/b.md", "content": "three", "mode": "replace"}).ok()
			w.holds("notes/a.md", "two")
			w.holds("notes/b.md", "three")
		}},
		{"batch/names-are-not-rewritten", func(w *world) {
			w.mkdir("notes")
			w.batch("notes", true, upsert("notes/we ird.md", "one")).ok()
			w.holds("notes/we ird.md", "one")
		}},
		{"batch/bad-requests", func(w *world) {
			w.mkdir("notes")
			good := upsert("notes/a.md", "one")
			extra := upsert("notes/a.md", "one")
			extra["zork"] = 1
			w.batch("notes", true).refused(400, "INVALID_ARGUMENT")
			w.batch("notes", true, extra).refused(400, "INVALID_ARGUMENT")
			w.batch("notes", true, good, good).refused(400, "INVALID_ARGUMENT")
			w.batch("notes", true, good, upsert("other/a.md", "x")).refused(400, "INVALID_ARGUMENT")
			w.batch("notes", true, upsert("notes/a.exe", "x")).refused(400, "INVALID_ARGUMENT")
			w.batch("notes", true, object{"uri": mine + "notes/a.md", "content_base64": "eA=="}).refused(400, "INVALID_ARGUMENT")
			w.batch("", true, good).refused(400, "INVALID_ARGUMENT")
			w.send("POST", "/api/v1/content/batch-write", object{"root_uri": mine + "notes", "operations": []object{good}, "timeout": 5}).refused(400, "INVALID_ARGUMENT")
			w.stat("notes/a.md").refused(404, "NOT_FOUND")
		}},
		{"batch/deferred-is-not-indexed", func(w *world) {
			w.mkdir("notes")
			w.settle()
			body := object{"root_uri": mine + "notes", "operations": []object{upsert("notes/a.md", "gateway")}, "wait": false, "defer_processing": true}
			var got batched
			w.send("POST", "/api/v1/content/batch-write", body).into(&got)
			same(got.Vector, "deferred", "vectors")
			w.settle()
			equal(w.names("gateway", nil), nil, "found")
			w.holds("notes/a.md", "gateway")
		}},
		{"mkdir/makes-folders", func(w *world) {
			w.mkdir("a/b c/d")
			var got struct {
				IsDir bool `json:"isDir"`
				Count int
			}
			w.stat("a/b c/d").into(&got)
			hold(got.IsDir && got.Count == 0, "the folder is %+v", got)
			w.stat("a").ok()
		}},
		{"mkdir/twice", func(w *world) {
			w.mkdir("a")
			a := w.send("POST", "/api/v1/fs/mkdir", object{"uri": mine + "a"}).refused(409, "CONFLICT")
			hold(!a.Error.Details.Retryable, "the conflict is called retryable")
		}},
	}
}

func compareAndSwap(w *world) {
	w.put("notes/a.md", "one")
	swap := func(name, content string, expected []byte) answer {
		op := upsert(name, content)
		sum := sha256.Sum256(expected)
		op["expected_sha256"] = hex.EncodeToString(sum[:])
		return w.batch("notes", true, op)
	}
	first := w.download("notes/a.md")
	swap("notes/a.md", "two", first).ok()
	w.holds("notes/a.md", "two")
	a := swap("notes/a.md", "three", first).refused(409, "CONFLICT")
	hold(!a.Error.Details.Retryable, "the conflict is called retryable")
	w.holds("notes/a.md", "two")
	swap("notes/none.md", "three", first).refused(409, "CONFLICT")
	w.stat("notes/none.md").refused(404, "NOT_FOUND")
	bad := upsert("notes/a.md", "x")
	bad["expected_sha256"] = "zz"
	w.batch("notes", true, bad).refused(400, "INVALID_ARGUMENT")
}
