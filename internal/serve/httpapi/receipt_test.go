package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// canary is in every text that was stored before a token that may not read asks.
const canary = "canary7f3a"

// planting stores the canary wherever text is kept.
var planting = []step{
	{id: "memory.write", path: "memories", body: `{"content":"known text","summary":"canary7f3a","tags":["canary7f3a"],"metadata":{"k":"canary7f3a"},"source_refs":[{"kind":"file","value":"canary7f3a"}]}`, keep: []string{"m1", "id"}},
	{id: "memory.write", path: "memories", body: `{"content":"canary7f3a content","title":"canary7f3a title"}`, keep: []string{"m2", "id"}},
	{id: "memory.write", path: "memories", body: `{"content":"canary7f3a plan","topic":"plan","tags":["canary7f3a"]}`, keep: []string{"m3", "id"}},
	{id: "session.start", path: "sessions", body: `{"id":"s1","name":"canary7f3a","directory":"canary7f3a","project":"canary7f3a"}`},
	{id: "session.end", path: "sessions/s1/end", body: `{"summary":"canary7f3a"}`},
	{id: "turn.append", path: "sessions/s1/turns", body: `{"id":"turn1","role":"user","content":"canary7f3a"}`},
	{id: "compaction.add", path: "sessions/s1/compactions", body: `{"id":"comp1","summary":"canary7f3a"}`},
	{id: "state.save", path: "sessions/s1/state", body: `{"document":{"a":"canary7f3a"}}`},
	{id: "document.put", path: "state/cursor", body: `{"document":{"a":"canary7f3a"}}`},
	{id: "loop.save", path: "sessions/s1/loop", body: `{"run_id":"run","state_json":{"a":"canary7f3a"}}`},
	{id: "relation.relate", path: "relations", body: `{"from":"{m1}","to":"{m2}","type":"related","strength":0.5}`, keep: []string{"r1", "id"}},
	{id: "concept.set", path: "memories/{m1}/concepts", body: `{"items":["canary7f3a"]}`},
	{id: "note.write", path: "notes/a.md", body: `{"content":"canary7f3a"}`},
	{id: "task.save", path: "tasks/t1", body: `{"request_id":"canary7f3a","session_id":"s1","goal":"canary7f3a","last_result":"canary7f3a","extra":{"a":"canary7f3a"}}`},
	{id: "task.event", path: "tasks/t1/events", body: `{"from":"queued","to":"planning","reason":"canary7f3a","result":"canary7f3a"}`},
	{id: "approval.request", path: "approvals", body: `{"id":"a1","task_id":"t1","node_id":"n","summary":"canary7f3a","payload":{"x":"canary7f3a"}}`},
	{id: "approval.request", path: "approvals", body: `{"id":"a2","task_id":"t1","node_id":"n","summary":"canary7f3a","payload":{"x":"canary7f3a"}}`},
	{id: "approval.decide", path: "approvals/a2/decision", body: `{"outcome":"approved","actor":"canary7f3a","comment":"canary7f3a"}`},
	{id: "result.save", path: "results", body: `{"task_id":"t1","node_id":"n","producer":"canary7f3a","status":"ok","payload":"canary7f3a","confidence":1}`},
	{id: "queue.publish", path: "queue", body: `{"entry_id":"e1","task_id":"t1","node_id":"n","payload":"canary7f3a"}`},
	{id: "journal.ingest", path: "journal/ingest", body: `{"journal":"00000000000000000000000000000001","host":"claude","session_id":"s2","through":1,"steps":[{"start":{"id":"s2","name":"canary7f3a"}}]}`},
	{id: "import.upload", path: "imports?name=canary7f3a", body: strings.ReplaceAll(aFile(1), `"Queue"`, `"canary7f3a"`), keep: []string{"i1", "id"}},
	{id: "consolidation.begin", path: "consolidations", body: `{"run":"canary7f3a"}`, keep: []string{"run1", "id"}},
	{id: "snapshot.take", path: "snapshots", body: `{"label":"canary7f3a"}`, keep: []string{"snap", "id"}},
	{id: "snapshot.take", path: "snapshots", body: `{"label":"canary7f3a"}`, keep: []string{"snap2", "id"}},
}

// probes are changes by a caller that may not read: those that change nothing, those that meet a stored record, and
// those that end in a conflict. Every operation that changes something has one.
var probes = []step{
	{id: "memory.write", path: "memories", body: `{"content":"known text"}`},
	{id: "memory.write", path: "memories", body: `{"content":"known text","summary":"x","tags":["x"],"metadata":{"k":"x"}}`},
	{id: "memory.write", path: "memories", body: `{"content":"another plan","topic":"plan"}`},
	{id: "memory.write_batch", path: "memories/batch", body: `{"items":[{"content":"known text","metadata":{"k":"y"}},{"content":"another plan","topic":"plan"}]}`},
	{id: "memory.edit", path: "memories/{m1}", body: `{}`},
	{id: "memory.edit", path: "memories/{m1}", body: `{}`, header: []string{"If-Match", `"999"`}},
	{id: "memory.edit", path: "memories/{m2}", body: `{"content":"known text","title":""}`},
	{id: "memory.edit", path: "memories/{m2}", body: `{"kind":"user_fact"}`},
	{id: "relation.relate", path: "relations", body: `{"from":"{m1}","to":"{m2}","type":"related","strength":0.25}`},
	{id: "relation.unrelate", path: "relations/{r1}"},
	{id: "concept.set", path: "memories/{m1}/concepts", body: `{"items":[]}`},
	{id: "session.start", path: "sessions", body: `{"id":"s1"}`},
	{id: "session.select", path: "sessions/s1/select"},
	{id: "session.end", path: "sessions/s1/end", body: `{}`},
	{id: "turn.append", path: "sessions/s1/turns", body: `{"id":"turn1","role":"user","content":"x"}`},
	{id: "compaction.add", path: "sessions/s1/compactions", body: `{"id":"comp1","summary":"x"}`},
	{id: "state.save", path: "sessions/s1/state", body: `{"document":{}}`},
	{id: "state.save", path: "sessions/s1/state", body: `{"document":{},"if_version":1}`},
	{id: "state.delete", path: "sessions/s1/state"},
	{id: "document.put", path: "state/cursor", body: `{"document":{}}`, header: []string{"If-None-Match", "*"}},
	{id: "document.put", path: "state/cursor", body: `{"document":{}}`, header: []string{"If-Match", `"999"`}},
	{id: "document.put", path: "state/cursor", body: `{"document":{}}`},
	{id: "document.delete", path: "state/cursor", header: []string{"If-Match", `"999"`}},
	{id: "document.delete", path: "state/cursor"},
	{id: "loop.save", path: "sessions/s1/loop", body: `{"run_id":"other","state_json":{}}`},
	{id: "loop.save", path: "sessions/s1/loop", body: `{"run_id":"run","state_json":{},"if_revision":1}`},
	{id: "loop.clear", path: "sessions/s1/loop?run_id=other"},
	{id: "note.write", path: "notes/a.md", body: `{"content":"x"}`, header: []string{"If-Match", `"x"`}},
	{id: "note.write", path: "notes/b.md", body: `{"content":"x"}`},
	{id: "note.delete", path: "notes/a.md", header: []string{"If-Match", `"x"`}},
	{id: "journal.ingest", path: "journal/ingest", body: `{"journal":"00000000000000000000000000000001","host":"claude","session_id":"s2","through":1,"steps":[{"start":{"id":"s2"}}]}`},
	{id: "quarantine.retry", path: "journal/quarantine/retry", body: `{"session":"s1"}`},
	{id: "task.save", path: "tasks/t1", body: `{"request_id":"q","session_id":"s1","goal":"ship"}`},
	{id: "task.save", path: "tasks/t1", body: `{"request_id":"q","session_id":"s1","goal":"ship"}`, header: []string{"If-Match", `"1"`}},
	{id: "task.event", path: "tasks/t1/events", body: `{"from":"queued","to":"executing"}`},
	{id: "task.compact", path: "tasks/t1/events/compact", body: `{"keep":0}`},
	{id: "approval.request", path: "approvals", body: `{"id":"a1","task_id":"t1","node_id":"n","summary":"x","payload":{}}`},
	{id: "approval.decide", path: "approvals/a2/decision", body: `{"outcome":"approved","actor":"me"}`},
	{id: "approval.decide", path: "approvals/a1/decision", body: `{"outcome":"approved","actor":"me","digest":"x"}`},
	{id: "approval.decide", path: "approvals/a1/decision", body: `{"outcome":"approved","actor":"me"}`},
	{id: "result.save", path: "results", body: `{"task_id":"t1","node_id":"n","producer":"p","status":"ok","payload":"x","confidence":1,"fence":1}`},
	{id: "result.save", path: "results", body: `{"task_id":"t1","node_id":"n","producer":"p","status":"ok","payload":"x","confidence":1}`},
	{id: "queue.publish", path: "queue", body: `{"entry_id":"e1","task_id":"t1","node_id":"n","payload":"x"}`},
	{id: "queue.claim", path: "queue/claim", body: `{"consumer_id":"c"}`},
	{id: "queue.ack", path: "queue/ack", body: `{"entry_id":"e1","consumer_id":"c","token":"x","fence":1,"expires_at":"2030-01-01T00:00:00Z"}`},
	{id: "queue.nack", path: "queue/nack", body: `{"lease":{"entry_id":"e1","consumer_id":"c","token":"x","fence":1,"expires_at":"2030-01-01T00:00:00Z"},"reason":"x"}`},
	{id: "queue.renew", path: "queue/renew", body: `{"entry_id":"e1","consumer_id":"c","token":"x","fence":1,"expires_at":"2030-01-01T00:00:00Z"}`},
	{id: "snapshot.take", path: "snapshots", body: `{"label":"x"}`},
	{id: "consolidation.begin", path: "consolidations", body: `{"run":"x"}`},
	{id: "consolidation.begin", path: "consolidations", body: `{"run":"x","abandon":"{run1}"}`},
	{id: "consolidation.end", path: "consolidations/{run1}/end", body: `{}`},
	{id: "snapshot.pin", path: "snapshots/{snap}/pin", body: `{"pinned":true}`},
	{id: "snapshot.prune", path: "snapshots/prune", body: `{"keep_last":2,"dry_run":true}`},
	{id: "snapshot.restore_memory", path: "snapshots/{snap}/restore-memory", body: `{"memory":"{m1}","dry_run":true}`},
	{id: "snapshot.restore_memory", path: "snapshots/{snap}/restore-memory", body: `{"memory":"{m1}"}`},
	{id: "snapshot.restore", path: "snapshots/{snap}/restore", body: `{"dry_run":true}`},
	{id: "snapshot.restore", path: "snapshots/{snap}/restore", body: `{}`},
	{id: "snapshot.delete", path: "snapshots/{snap2}"},
	{id: "import.upload", path: "imports?name=a.jsonl", body: aFile(1)},
	{id: "import.undo", path: "imports/{i1}/undo"},
	{id: "session.rename", path: "sessions/s1", body: `{"name":"x"}`},
	{id: "turn.delete", path: "sessions/s1/turns"},
	{id: "session.delete", path: "sessions/s1"},
	{id: "memory.forget", path: "memories/{m1}"},
	{id: "memory.erase", path: "memories/{m1}/erase"},
}

// TestWhoMayNotReadIsToldNothingThatWasStored asks for every change there is
// with a token that has every scope but read and admin, over an agent full of
// canaries: no answer, header or error holds one, nor a digest of one, nor does
// the answer that a reader's request with the same key was given.
func TestWhoMayNotReadIsToldNothingThatWasStored(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	now := r.clock.Read()
	reader, _ := d.token(now, "acme", "ada", 0, everyScope...)
	blind, _ := d.token(now, "acme", "ada", 0, slices.DeleteFunc(slices.Clone(everyScope), func(s wire.TokenScope) bool { return s == wire.TokenRead })...)
	decider, _ := d.token(now, "acme", "ada", 0, everyScope...)
	kept := map[string]string{}
	for i, s := range planting {
		who := reader
		if s.id == "approval.decide" {
			who = decider
		}
		a := r.take(s, kept, who, "Idempotency-Key", "plant-"+s.id+string(rune('a'+i)))
		if a.status >= 300 {
			t.Fatalf("%s: %d %s", s.id, a.status, a.body)
		}
	}
	secrets := []string{canary}
	for _, text := range r.stored(t) {
		secrets = append(secrets, amber.ContentDigest(text))
	}
	leaks := func(a reply) string {
		head := &bytes.Buffer{}
		_ = a.header.Write(head)
		for _, s := range secrets {
			if bytes.Contains(a.body, []byte(s)) || strings.Contains(head.String(), s) {
				return s
			}
		}
		return ""
	}
	for i, s := range planting { // the answers of others
		if a := r.take(s, kept, blind, "Idempotency-Key", "plant-"+s.id+string(rune('a'+i))); leaks(a) != "" {
			t.Errorf("%s with the key of a reader: %d %s has %s", s.id, a.status, a.body, leaks(a))
		}
	}
	probed := map[string]bool{}
	for _, s := range probes {
		probed[s.id] = true
		if a := r.take(s, kept, blind); leaks(a) != "" || a.status >= 500 {
			t.Errorf("%s %s: %d %s has %q", s.id, s.body, a.status, a.body, leaks(a))
		}
	}
	for _, o := range r.api.Operations() {
		if o.Mutates && o.Scope != wire.TokenAdmin && !probed[o.ID] {
			t.Errorf("%s changes something and has no probe", o.ID)
		}
	}
}

// stored returns the contents and documents that ada's store holds.
func (r *rig) stored(t testing.TB) (texts []string) {
	t.Helper()
	ctx, s := context.Background(), r.store("acme/ada")
	page := must.Get(s.Memories.List(ctx, amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(t)
	for _, m := range page.Items {
		if m.Content != "known text" { // the request says it
			texts = append(texts, m.Content)
		}
	}
	state := must.Get(s.States.LoadState(ctx, "s1"))(t)
	loop := must.Get(s.Loops.LoadLoop(ctx, "s1"))(t)
	return append(texts, canary, string(state.Document), string(loop.State), `{"x":"canary7f3a"}`)
}

// TestAReceiptIsEnoughToGoOnWith is what a token that may not read works with:
// the id of what it has stored, and the version that its next change is based
// on.
func TestAReceiptIsEnoughToGoOnWith(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	blind, _ := d.token(r.clock.Read(), "acme", "ada", 0, wire.TokenWrite)
	ask := func(method, path, body string, header ...string) reply {
		return r.ask(call{method: method, path: path, body: body, token: blind, header: servertest.Header(header...)})
	}
	saved := ask("POST", "memories", `{"content":"of mine"}`).want(http.StatusCreated)
	must.Equal(t, "the receipt is as wanted", equalJSON(t, saved.body, `{"id":"`+saved.text("id")+`","revision":1}`), true)
	must.Equal(t, "ETag", saved.header.Get("ETag"), `"1"`)
	ask("PATCH", "memories/"+saved.text("id"), `{"content":"changed"}`, "If-Match", `"1"`).want(http.StatusOK)
	ask("PATCH", "memories/"+saved.text("id"), `{"content":"late"}`, "If-Match", `"1"`).failed(amber.KindConflict)
	batch := ask("POST", "memories/batch", `{"items":[{"content":"a"},{"content":"b"}]}`).want(http.StatusOK)
	if n := len(batch.field("items").([]any)); n != 2 || batch.text("items.0.id") == "" {
		t.Errorf("the receipt of a batch is %s", batch.body)
	}
	started := ask("POST", "sessions", `{"id":"s1"}`).want(http.StatusOK)
	if !equalJSON(t, started.body, `{"id":"s1"}`) {
		t.Errorf("the receipt of a session is %s", started.body)
	}
	state := ask("PUT", "sessions/s1/state", `{"document":{"n":1}}`).want(http.StatusOK)
	ask("PUT", "sessions/s1/state", `{"document":{"n":2}}`, "If-Match", state.header.Get("ETag")).want(http.StatusOK)
	ask("POST", "queue/claim", `{"consumer_id":"c"}`).failed(amber.KindRefused)
}

func equalJSON(t testing.TB, got []byte, want string) bool {
	t.Helper()
	var g, w any
	must.Do(t, json.Unmarshal(got, &g))
	must.Do(t, json.Unmarshal([]byte(want), &w))
	a, _ := json.Marshal(g)
	b, _ := json.Marshal(w)
	return bytes.Equal(a, b)
}
