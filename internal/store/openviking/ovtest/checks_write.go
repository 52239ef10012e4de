package ovtest

import "strings"

// trailer is what the server writes behind a text.
const trailer = "<!-- MEMORY_FIELDS\n{\n  \"version\": 1\n}\n-->"

// written is what the server says of a write.
type written struct {
	URI      string
	Root     string `json:"root_uri"`
	Type     string `json:"context_type"`
	Mode     string
	Bytes    int    `json:"written_bytes"`
	Semantic string `json:"semantic_status"`
	Vector   string `json:"vector_status"`
	Task     string `json:"task_id"`
}

func writeChecks() []check {
	return []check{
		{"write/waits", func(w *world) {
			var got written
			w.put("notes/a.md", "gateway port").into(&got)
			want := written{
				URI: mine + "notes/a.md", Root: mine + "notes", Type: "memory", Mode: "create",
				Bytes: len("gateway port\n\n") + len(trailer), Semantic: "skipped", Vector: "complete",
			}
			same(got, want, "answer")
		}},
		{"write/does-not-wait", func(w *world) {
			var got written
			w.write(object{"uri": mine + "notes/a.md", "content": "gateway"}).into(&got)
			same(got.Vector+" "+got.Mode, "queued replace", "vector and mode")
			w.holds("notes/a.md", "gateway")
			w.until("the task is done", func() bool { return w.task(got.Task) == "completed" })
			equal(w.names("gateway", nil), []string{"notes/a.md"}, "found")
		}},
		{"write/unknown-field", func(w *world) {
			for _, field := range []string{"timeout", "zork"} {
				a := w.write(object{"uri": mine + "notes/a.md", "content": "x", field: 5})
				a.refused(400, "INVALID_ARGUMENT")
				same(len(a.Error.Details.Flaws), 1, "validation errors")
			}
			w.stat("notes/a.md").refused(404, "NOT_FOUND")
		}},
		{"write/missing-field", func(w *world) {
			w.write(object{"uri": mine + "notes/a.md"}).refused(400, "INVALID_ARGUMENT")
			w.write(object{"content": "x"}).refused(400, "INVALID_ARGUMENT")
		}},
		{"write/create-overwrites", func(w *world) {
			w.put("notes/a.md", "first")
			w.put("notes/a.md", "second")
			w.holds("notes/a.md", "second")
		}},
		{"write/replace-makes", func(w *world) {
			w.write(object{"uri": mine + "notes/a.md", "content": "x", "mode": "replace"}).ok()
			w.holds("notes/a.md", "x")
		}},
		{"write/append", func(w *world) {
			w.put("notes/a.md", "one")
			w.write(object{"uri": mine + "notes/a.md", "content": " two", "mode": "append", "wait": true}).ok()
			w.holds("notes/a.md", "one two")
		}},
		{"write/unknown-mode", func(w *world) {
			w.write(object{"uri": mine + "notes/a.md", "content": "x", "mode": "upsert"}).refused(400, "INVALID_ARGUMENT")
		}},
		{"write/names-are-rewritten", func(w *world) {
			var got written
			w.put("no tes/ we  ird.md", "x").into(&got)
			same(got.URI, mine+"no_tes/we_ird.md", "URI")
			w.holds("no_tes/we_ird.md", "x")
			w.stat("no tes/ we  ird.md").refused(404, "NOT_FOUND")
		}},
		{"write/names-that-stay", func(w *world) {
			for _, name := range []string{"UPPER.md", "ü.md", "a..b.md", "t.e-n_.md", "a+b&c#d.md", "a__b.md"} {
				var got written
				w.write(object{"uri": mine + "notes/" + name, "content": "x"}).into(&got)
				same(got.URI, mine+"notes/"+name, "URI")
			}
		}},
		{"write/own-root", func(w *world) {
			var got written
			w.write(object{"uri": "viking://~/memories/notes/a.md", "content": "x"}).into(&got)
			same(got.URI, mine+"notes/a.md", "URI")
		}},
		{"write/bad-uris", func(w *world) {
			for u, code := range map[string]string{
				"": "INVALID_URI", "http://x/a.md": "INVALID_URI", "viking://user/memories/notes/a.md": "INVALID_URI",
				mine + "../a.md": "INVALID_ARGUMENT", mine + `a\b.md`: "INVALID_ARGUMENT", mine: "INVALID_ARGUMENT",
				mine + "notes/a.exe": "INVALID_ARGUMENT", mine + "notes/a": "INVALID_ARGUMENT",
			} {
				w.write(object{"uri": u, "content": "x"}).refused(400, code)
			}
			for _, u := range []string{mine + "./a.md", mine + "c:a.md"} {
				w.write(object{"uri": u, "content": "x"}).refused(403, "PERMISSION_DENIED")
			}
		}},
		{"write/trailer-and-white-space", func(w *world) {
			w.put("notes/a.md", " \n two\n\nlines\t\n")
			w.holds("notes/a.md", "two\n\nlines")
			same(string(w.download("notes/a.md")), "two\n\nlines\n\n"+trailer, "bytes")
			var raw string
			w.send("GET", uri("/api/v1/content/read", mine+"notes/a.md", "&raw=true"), nil).into(&raw)
			same(raw, "two\n\nlines\n\n"+trailer, "raw text")
		}},
		{"write/trailer-inside", func(w *world) {
			w.put("notes/a.md", `one <!-- MEMORY_FIELDS {"k":1} --> two <!-- MEMORY_FIELDS {"l":1} --> three`)
			w.holds("notes/a.md", "one  two  three")
			raw := string(w.download("notes/a.md"))
			hold(strings.Contains(raw, `"k": 1`) && !strings.Contains(raw, `"l"`), "the file is %q", raw)
		}},
		{"write/empty", func(w *world) {
			var got written
			w.put("notes/a.md", " \n").into(&got)
			same(got.Vector, "skipped", "vector")
			same(string(w.download("notes/a.md")), trailer, "bytes")
			same(w.consistency("notes").Missing, 1, "files without a vector")
		}},
	}
}

// task returns the status of a task.
func (w *world) task(id string) string {
	var t struct{ Status string }
	w.send("GET", "/api/v1/tasks/"+id, nil).into(&t)
	return t.Status
}
