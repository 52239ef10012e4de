package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
)

// step asks for one operation. Path and body name what steps before have kept,
// as in {m1}.
type step struct {
	id, path, body string
	header         []string
	keep           []string // name, field, name, field
	token          string   // "" is root's
}

// steps use every operation of the table, those that need something after
// those that make it. Empty results come first.
var steps = []step{
	{id: "memory.list", path: "memories"},
	{id: "session.list", path: "sessions"},
	{id: "task.list", path: "tasks"},
	{id: "change.list", path: "changes"},
	{id: "control_change.list", path: "control-changes"},
	{id: "note.list", path: "notes"},
	{id: "document.list", path: "state"},
	{id: "snapshot.list", path: "snapshots"},
	{id: "approval.list", path: "approvals?task_id=t1"},
	{id: "result.list", path: "results?task_id=t1"},
	{id: "queue.dead", path: "queue/dead"},
	{id: "journal.status", path: "journal"},
	{id: "journal.open", path: "journal/open"},
	{id: "folder.list", path: "folders"},
	{id: "folder.trust", path: "folders/trust", body: `{"place":"/srv/copy","asks":"git.example/acme/shop"}`},
	{id: "folder.list", path: "folders"},
	{id: "quarantine.list", path: "journal/quarantine"},
	{id: "quarantine.list", path: "journal/quarantine?session=s1"},
	{id: "quarantine.show", path: "journal/quarantine/s1/" + heldName},
	{id: "quarantine.retry", path: "journal/quarantine/retry", body: `{"session":"s1","name":"` + heldName + `"}`},
	{id: "quarantine.list", path: "journal/quarantine"},
	{id: "quarantine.retry", path: "journal/quarantine/retry", body: `{}`},
	{id: "memory.recall", path: "recall", body: `{"text":"anything"}`},
	{id: "memory.context", path: "context", body: `{"goal":"anything"}`},
	{id: "memory.write_batch", path: "memories/batch", body: `{"items":[]}`},

	{id: "memory.write", path: "memories", body: `{"content":"We chose PostgreSQL for JSONB","tags":["db"],"metadata":{"a":"1","A":"2"}}`, keep: []string{"m1", "id"}},
	{id: "memory.write", path: "memories", body: `{"content":"The queue is in SQLite"}`, keep: []string{"m2", "id"}},
	{id: "memory.write_batch", path: "memories/batch", body: `{"items":[{"content":"one"},{"content":"two"}]}`},
	{id: "memory.recall", path: "recall", body: `{"text":"PostgreSQL","explain":true}`},
	{id: "memory.list", path: "memories?limit=2&all=true&kind=workspace_fact&since=2020-01-01T00:00:00Z"},
	{id: "memory.get", path: "memories/{m1}"},
	{id: "memory.edit", path: "memories/{m1}", body: `{"content":"We chose PostgreSQL 17"}`, header: []string{"If-Match", `"1"`}},
	{id: "memory.history", path: "memories/{m1}/history"},
	{id: "memory.timeline", path: "memories/{m1}/timeline?before=2&after=2"},
	{id: "memory.context", path: "context", body: `{"goal":"which PostgreSQL","explain":true}`},
	{id: "relation.list", path: "memories/{m1}/relations"},
	{id: "relation.relate", path: "relations", body: `{"from":"{m1}","to":"{m2}","type":"related","strength":0.5}`, keep: []string{"r1", "id"}},
	{id: "relation.get", path: "relations/{r1}"},
	{id: "relation.list", path: "memories/{m1}/relations"},
	{id: "relation.get", path: "relations/{r1}"},
	{id: "relation.neighbours", path: "memories/{m1}/neighbours"},
	{id: "relation.neighbours", path: "memories/{m1}/neighbours?depth=1&limit=1&type=related&type=other&all=true"},
	{id: "relation.unrelate", path: "relations/{r1}"},
	{id: "relation.neighbours", path: "memories/{m1}/neighbours"},
	{id: "concept.list", path: "memories/{m1}/concepts"},
	{id: "concept.count", path: "concepts"},
	{id: "concept.set", path: "memories/{m1}/concepts", body: `{"items":["databases"]}`},
	{id: "concept.list", path: "memories/{m1}/concepts"},
	{id: "memory.forget", path: "memories/{m2}"},
	{id: "memory.erase", path: "memories/{m2}/erase"},

	{id: "session.start", path: "sessions", body: `{"id":"s1","name":"first"}`},
	{id: "session.list", path: "sessions?trusted=true"},
	{id: "session.get", path: "sessions/s1"},
	{id: "session.rename", path: "sessions/s1", body: `{"name":"renamed"}`},
	{id: "session.select", path: "sessions/s1/select"},
	{id: "session.active", path: "active-session"},
	{id: "turn.list", path: "sessions/s1/turns"},
	{id: "turn.append", path: "sessions/s1/turns", body: `{"role":"user","content":"hello"}`},
	{id: "turn.list", path: "sessions/s1/turns?limit=1"},
	{id: "turn.append", path: "sessions/s1/turns", body: `{"id":"t1","role":"assistant","content":"hello you"}`},
	{id: "turn.get", path: "turns/t1"},
	{id: "turn.page", path: "sessions/s1/conversation?order=oldest&excerpt=2"},
	{id: "compaction.list", path: "sessions/s1/compactions"},
	{id: "compaction.add", path: "sessions/s1/compactions", body: `{"summary":"we said hello"}`},
	{id: "compaction.list", path: "sessions/s1/compactions"},
	{id: "activity.list", path: "sessions/s1/activity"},
	{id: "activity.named", path: "activity?kind=tool&name=Bash"},
	{id: "state.save", path: "sessions/s1/state", body: `{"document":{"a": 1}}`},
	{id: "state.get", path: "sessions/s1/state"},
	{id: "state.delete", path: "sessions/s1/state"},
	{id: "loop.save", path: "sessions/s1/loop", body: `{"run_id":"run","state_json":{"i":1}}`},
	{id: "loop.get", path: "sessions/s1/loop"},
	{id: "loop.clear", path: "sessions/s1/loop?run_id=run"},
	{id: "journal.ingest", path: "journal/ingest", body: `{"journal":"00000000000000000000000000000001","host":"claude","session_id":"s2","through":1,"steps":[{"start":{"id":"s2"},"activity":[{"session_id":"s2","kind":"file","name":"a.go"}]}]}`},
	{id: "journal.cursor", path: "journal/cursors/00000000000000000000000000000001"},
	{id: "journal.open", path: "journal/open"},
	{id: "activity.list", path: "sessions/s2/activity"},
	{id: "turn.delete", path: "sessions/s1/turns"},
	{id: "session.end", path: "sessions/s1/end", body: `{}`},
	{id: "session.delete", path: "sessions/s1"},

	{id: "note.write", path: "notes/plan%2Fa.md", body: `{"content":"first"}`},
	{id: "note.get", path: "notes/plan%2Fa.md"},
	{id: "note.list", path: "notes"},
	{id: "note.log", path: "notes/plan%2Fa.md/log"},
	{id: "note.at", path: "notes/plan%2Fa.md/log/d1e51192fc487a36a28bf3fb246dcd451ecc1227"}, // as the store in memory names its first commit
	{id: "note.delete", path: "notes/plan%2Fa.md"},

	{id: "document.put", path: "state/extract_cursor", body: `{"document":{"at": 7}}`, header: []string{"If-None-Match", "*"}},
	{id: "document.get", path: "state/extract_cursor"},
	{id: "document.list", path: "state"},
	{id: "document.delete", path: "state/extract_cursor"},

	{id: "change.list", path: "changes?limit=3"},
	{id: "change.head", path: "changes/head"},

	{id: "task.save", path: "tasks/t1", body: `{"request_id":"q","session_id":"s1","goal":"ship","extra":{"a": 1}}`},
	{id: "task.get", path: "tasks/t1"},
	{id: "task.list", path: "tasks?state=queued"},
	{id: "task.events", path: "tasks/t1/events"},
	{id: "task.event", path: "tasks/t1/events", body: `{"from":"queued","to":"planning","reason":"go"}`},
	{id: "task.events", path: "tasks/t1/events"},
	{id: "task.replay", path: "tasks/t1/replay"},
	{id: "task.compact", path: "tasks/t1/events/compact", body: `{"keep":0}`},
	{id: "approval.request", path: "approvals", body: `{"task_id":"t1","node_id":"n","summary":"may I","payload":{"x":1}}`, keep: []string{"a1", "id"}},
	{id: "approval.get", path: "approvals/{a1}"},
	{id: "approval.list", path: "approvals?task_id=t1"},
	{id: "approval.decide", path: "approvals/{a1}/decision", body: `{"outcome":"approved","actor":"me"}`, token: acme}, // who asked does not decide
	{id: "result.save", path: "results", body: `{"task_id":"t1","node_id":"n","producer":"p","status":"ok","payload":"x","confidence":1}`},
	{id: "result.get", path: "results/t1/n"},
	{id: "result.list", path: "results?task_id=t1"},
	{id: "queue.publish", path: "queue", body: `{"entry_id":"e1","task_id":"t1","node_id":"n","payload":"p"}`},
	{id: "queue.show", path: "queue"},
	{id: "queue.claim", path: "queue/claim", body: `{"consumer_id":"c"}`, keep: []string{"token", "lease.token", "until", "lease.expires_at"}},
	{id: "queue.renew", path: "queue/renew", body: `{"entry_id":"e1","consumer_id":"c","token":"{token}","fence":1,"expires_at":"{until}"}`, keep: []string{"until", "expires_at"}},
	{id: "queue.nack", path: "queue/nack", body: `{"lease":{"entry_id":"e1","consumer_id":"c","token":"{token}","fence":1,"expires_at":"{until}"},"reason":"later","not_before":"2020-01-01T00:00:00Z"}`},
	{id: "queue.claim", path: "queue/claim", body: `{"consumer_id":"c"}`, keep: []string{"token", "lease.token", "until", "lease.expires_at"}},
	{id: "queue.ack", path: "queue/ack", body: `{"entry_id":"e1","consumer_id":"c","token":"{token}","fence":2,"expires_at":"{until}"}`},
	{id: "control_change.list", path: "control-changes"},
	{id: "control_change.head", path: "control-changes/head"},

	{id: "snapshot.take", path: "snapshots", body: `{"label":"one"}`, keep: []string{"s1", "id"}},
	{id: "snapshot.take", path: "snapshots", body: `{"label":"two"}`, keep: []string{"s2", "id"}},
	{id: "snapshot.list", path: "snapshots?limit=1"},
	{id: "snapshot.show", path: "snapshots/{s1}"},
	{id: "snapshot.diff", path: "snapshots/diff", body: `{"a":"{s1}","b":"{s2}","rows":true}`},
	{id: "snapshot.verify", path: "snapshots/{s1}/verify", body: `{"read_data":true}`},
	{id: "snapshot.pin", path: "snapshots/{s1}/pin", body: `{"pinned":true}`},
	{id: "snapshot.recall", path: "snapshots/{s1}/recall", body: `{"text":"PostgreSQL"}`},
	{id: "snapshot.memories", path: "snapshots/{s1}/memories"},
	{id: "snapshot.memory", path: "snapshots/{s1}/memories/{m1}"},
	{id: "snapshot.restore_memory", path: "snapshots/{s1}/restore-memory", body: `{"memory":"{m1}"}`},
	{id: "snapshot.restore", path: "snapshots/{s1}/restore", body: `{"dry_run":true}`},
	{id: "snapshot.restore", path: "snapshots/{s1}/restore", body: `{}`},
	{id: "snapshot.prune", path: "snapshots/prune", body: `{"keep_last":2,"dry_run":true}`},
	{id: "snapshot.delete", path: "snapshots/{s2}"},
	{id: "consolidation.begin", path: "consolidations", body: `{"run":"nightly"}`, keep: []string{"c1", "id"}},
	{id: "consolidation.open", path: "consolidations/open"},
	{id: "consolidation.end", path: "consolidations/{c1}/end", body: `{}`},
	{id: "tenant.gc", path: "/v1/tenants/acme/gc", body: `{}`},
	{id: "tenant.check", path: "/v1/tenants/acme/check", body: `{"read_data":true}`},

	{id: "import.list", path: "imports"},
	{id: "import.upload", path: "imports?name=a.jsonl&dry_run=true", body: aFile(1)},
	{id: "import.upload", path: "imports?name=a.jsonl&from=amber&user=ada&project=shop&as_own=true&since=2020-01-01T00:00:00Z&only=memories,notes", body: aFile(1), keep: []string{"i1", "id"}},
	{id: "import.list", path: "imports"},
	{id: "import.undo", path: "imports/{i1}/undo"},

	{id: "agent.capabilities", path: "capabilities"},
	{id: "agent.stats", path: "stats"},
	{id: "agent.health", path: "health"},
	{id: "agent.generation", path: "generation"},
	{id: "agent.doctor", path: "doctor?deep=true"},
	{id: "agent.sync", path: "sync?place=origin"},

	{id: "audit.list", path: "/v1/audit?limit=2&tenant=acme&agent=ada&action=memory.write&actor=t-root&since=2020-01-01T00:00:00Z"},
	{id: "audit.list", path: "/v1/audit?tenant=acme", token: acme},
	{id: "audit.verify", path: "/v1/audit/verify"},
	{id: "agent.list", path: "/v1/agents"},
	{id: "agent.list", path: "/v1/agents?tenant=acme&agent=ada", token: acme},
	{id: "agent.list", path: "/v1/agents?tenant=nosuch"},
	{id: "token.list", path: "/v1/tokens"},
	{id: "token.create", path: "/v1/tokens", body: `{"name":"ci","tenant":"acme","agent":"ada","scopes":["read"]}`, keep: []string{"t1", "id"}},
	{id: "token.list", path: "/v1/tokens?tenant=acme&agent=ada"},
	{id: "token.revoke", path: "/v1/tokens/{t1}"},
}

// walk takes the steps and calls seen with every answer.
func (r *rig) walk(seen func(o httpapi.Operation, s step, a reply)) {
	r.t.Helper()
	r.walkWith(nil, func(o httpapi.Operation, s step, _ call, a reply) { seen(o, s, a) })
}

// walkWith is walk with headers of the step with a number.
func (r *rig) walkWith(header func(i int) []string, seen func(o httpapi.Operation, s step, c call, a reply)) {
	r.t.Helper()
	r.takeSteps(steps, header, nil, seen)
}

// takeSteps takes steps; before is called with each call before it is made.
func (r *rig) takeSteps(steps []step, header func(i int) []string, before func(o httpapi.Operation, c call), seen func(o httpapi.Operation, s step, c call, a reply)) {
	r.t.Helper()
	rows := map[string]httpapi.Operation{}
	for _, o := range r.api.Operations() {
		rows[o.ID] = o
	}
	kept := map[string]string{}
	fill := func(s string) string {
		for name, value := range kept {
			s = strings.ReplaceAll(s, "{"+name+"}", value)
		}
		return s
	}
	for i, s := range steps {
		o, ok := rows[s.id]
		if !ok {
			r.t.Fatalf("there is no operation %s", s.id)
		}
		c := call{method: o.Method, path: fill(s.path), body: fill(s.body), token: s.token, header: servertest.Header(s.header...)}
		if header != nil {
			c.header = servertest.Header(append(header(i), s.header...)...)
		}
		if before != nil {
			before(o, c)
		}
		a := r.ask(c)
		if a.status >= 300 {
			r.t.Fatalf("%s: status %d: %s", s.id, a.status, a.body)
		}
		seen(o, s, c, a)
		for i := 0; i < len(s.keep); i += 2 {
			kept[s.keep[i]] = a.text(s.keep[i+1])
		}
	}
}

// Every operation of the table answers in the shape that the document describes, with something and with nothing to
// show; every change is in the audit log and nothing else is.
func TestEveryOperationAnswersAsDocumented(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	walked, changes := map[string]bool{"event.stream": true, "export.download": true}, 0 // streams have tests of their own
	r.walk(func(o httpapi.Operation, s step, a reply) {
		walked[s.id] = true
		d.checkAnswer(t, s.id, a)
		entries := s.entries(o)
		changes += entries
		if n := len(r.book.Entries(0)); n != changes {
			t.Errorf("%s: %d entries in the audit log, want %d", s.id, n, changes)
		} else if entries > 0 {
			e := r.book.Entries(0)[n-1]
			if e.Action != o.ID || e.Outcome != "ok" || e.Tenant != "acme" || e.Actor != s.actor() || e.RequestID != a.header.Get("X-Request-Id") {
				t.Errorf("%s: the audit log says %+v", s.id, e)
			}
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") == "" {
			t.Errorf("%s: headers %v", s.id, a.header)
		}
	})
	var want []string
	for _, o := range r.api.Operations() {
		want = append(want, o.ID)
	}
	slices.Sort(want)
	must.Equal(t, "operations without a step", slices.Sorted(maps.Keys(walked)), want)
}

// actor is who takes the step, as the audit log names them.
func (s step) actor() string {
	if s.token == "" {
		return "t-" + root
	}
	return "t-" + s.token
}

// entries is how many entries of the audit log a step makes: one for each thing
// that is changed, and none for asking what would be.
func (s step) entries(o httpapi.Operation) int {
	switch {
	case !o.Mutates || strings.Contains(s.body, `"dry_run":true`) || strings.Contains(s.path, "dry_run=true"):
		return 0
	case o.ID == "memory.write_batch":
		return max(strings.Count(s.body, `"content"`), 1)
	}
	return 1
}

// Unknown parameters and fields are errors, everywhere; so is a value of another type.
func TestEveryOperationRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	r.walk(func(o httpapi.Operation, s step, _ reply) {
		path := s.path
		if strings.Contains(path, "{") || strings.Contains(s.body, "{m") {
			return // what it names is in another state now
		}
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		ask := func(path, body string, header ...string) reply {
			return r.ask(call{method: o.Method, path: path, body: body, header: servertest.Header(header...)})
		}
		before := len(r.book.Entries(0))
		ask(path+sep+"nobody=1", s.body).failed("invalid")
		ask(path+sep+"x=%zz", s.body).failed("invalid")
		for _, p := range d.call(t, s.id).Parameters {
			if p.In != "query" || strings.Contains(path, p.Name+"=") {
				continue
			}
			if p.Schema.Type == "integer" || p.Schema.Type == "boolean" || p.Schema.Format == "date-time" {
				ask(path+sep+p.Name+"=never", s.body).failed("invalid")
			}
			if p.Schema.Type != "array" {
				ask(path+sep+p.Name+"=1&"+p.Name+"=1", s.body).failed("invalid")
			}
			ask(path+sep+p.Name+"=%ff", s.body).failed("invalid")
		}
		if !o.HasBody {
			ask(path, `{"a":1}`).failed("invalid")
			return
		}
		if o.Raw { // what is in a file is looked at elsewhere
			ask(path, "").failed("invalid")
			ask(path, s.body, "Content-Type", "text/plain").failed("invalid")
			ask(path, s.body, "Content-Encoding", "gzip").failed("invalid")
			return
		}
		for _, body := range []string{
			"", "{", "[]", "1", `"x"`, "{}{}", "{} x", `{"nobody":1}`, "\xff", strings.Repeat(`{"a":`, 12000), strings.Repeat("[", 100000),
		} {
			if a := ask(path, body); a.status != http.StatusBadRequest {
				t.Errorf("%s with %.20q: %d %s", s.id, body, a.status, a.body)
			}
		}
		for name, p := range d.bodyOf(t, s.id).Properties {
			if wrong := wrongFor(d, p); wrong != "" {
				ask(path, fmt.Sprintf(`{%q:%s}`, name, wrong)).failed("invalid")
			}
			ask(path, fmt.Sprintf(`{%q:null,%q:null}`, name, strings.ToUpper(name))).failed("invalid") // one name twice
		}
		ask(path, s.body, "Content-Type", "text/plain").failed("invalid")
		ask(path, s.body, "Content-Type", "application/x-www-form-urlencoded").failed("invalid")
		ask(path, s.body, "Content-Encoding", "br").failed("invalid")
		ask(path, s.body, "Content-Encoding", "gzip").failed("invalid") // it is not
		for _, e := range r.book.Entries(before) {
			t.Errorf("%s: the audit log says %+v", s.id, e)
		}
		r.book.Cut(before)
	})
}

// bodyOf is the schema of what an operation is asked with.
func (d document) bodyOf(t testing.TB, id string) schema {
	t.Helper()
	body := d.call(t, id).RequestBody
	if body == nil {
		t.Fatalf("%s has no body", id)
	}
	return d.resolved(body.Content["application/json"].Schema)
}

func (d document) resolved(s schema) schema {
	if s.Ref != "" {
		return d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// wrongFor is a value that a schema does not allow; "" where it allows all.
func wrongFor(d document, s schema) string {
	s = d.resolved(s)
	switch {
	case s.Type == nil:
		return ""
	case s.allows("object"):
		return "7"
	default:
		return `{"no":1}`
	}
}
