package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
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

// steps use every operation of the table, those that need something after those that make it: first what is empty, then
// the examples of the document, then what no example shows.
var steps = slices.Concat(emptySteps, exampleSteps, moreSteps)

// emptySteps ask an agent of which nothing is known yet, and make its first commit.
var emptySteps = []step{
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
	{id: "import.list", path: "imports"},
	{id: "concept.count", path: "concepts"},
	{id: "journal.status", path: "journal"},
	{id: "journal.open", path: "journal/open"},
	{id: "quarantine.list", path: "journal/quarantine"},
	{id: "quarantine.list", path: "journal/quarantine?session=s1"},
	{id: "quarantine.show", path: "journal/quarantine/s1/" + heldName},
	{id: "memory.recall", path: "recall", body: `{"text":"anything"}`},
	{id: "memory.context", path: "context", body: `{"goal":"anything"}`},
	{id: "memory.write_batch", path: "memories/batch", body: `{"items":[]}`},

	{id: "note.write", path: "notes/plan%2Fa.md", body: `{"content":"first"}`},
	{id: "note.get", path: "notes/plan%2Fa.md"},
	{id: "note.log", path: "notes/plan%2Fa.md/log"},
	{id: "note.at", path: "notes/plan%2Fa.md/log/d1e51192fc487a36a28bf3fb246dcd451ecc1227"}, // as the store in memory names its first commit
	{id: "note.delete", path: "notes/plan%2Fa.md"},
}

// moreSteps come behind the examples.
var moreSteps = []step{
	{id: "folder.list", path: "folders"},
	{id: "quarantine.list", path: "journal/quarantine"},
	{id: "quarantine.retry", path: "journal/quarantine/retry", body: `{}`},

	{id: "memory.write", path: "memories", body: `{"content":"We chose PostgreSQL for JSONB","tags":["db"],"metadata":{"a":"1","A":"2"}}`, keep: []string{"m1", "id"}},
	{id: "memory.write", path: "memories", body: `{"content":"The queue is in SQLite"}`, keep: []string{"m2", "id"}},
	{id: "memory.list", path: "memories?limit=2&all=true&kind=workspace_fact&since=2020-01-01T00:00:00Z"},
	{id: "relation.list", path: "memories/{m1}/relations"},
	{id: "relation.relate", path: "relations", body: `{"from":"{m1}","to":"{m2}","type":"related","strength":0.5}`, keep: []string{"r1", "id"}},
	{id: "relation.neighbours", path: "memories/{m1}/neighbours"},
	{id: "relation.neighbours", path: "memories/{m1}/neighbours?depth=1&limit=1&type=related&type=other&all=true"},
	{id: "relation.unrelate", path: "relations/{r1}"},
	{id: "relation.neighbours", path: "memories/{m1}/neighbours"},
	{id: "concept.list", path: "memories/{m1}/concepts"},

	{id: "session.start", path: "sessions", body: `{"id":"s1","name":"first"}`},
	{id: "session.list", path: "sessions?trusted=true"},
	{id: "session.select", path: "sessions/s1/select"},
	{id: "session.active", path: "active-session"},
	{id: "turn.list", path: "sessions/s1/turns"},
	{id: "turn.append", path: "sessions/s1/turns", body: `{"role":"user","content":"hello"}`},
	{id: "compaction.list", path: "sessions/s1/compactions"},
	{id: "activity.list", path: "sessions/s1/activity"},
	{id: "state.save", path: "sessions/s1/state", body: `{"document":{"a": 1}}`},
	{id: "state.get", path: "sessions/s1/state"},
	{id: "session.end", path: "sessions/s1/end", body: `{}`},
	{id: "journal.ingest", path: "journal/ingest", body: `{"journal":"00000000000000000000000000000002","host":"claude","session_id":"s2","through":1,"steps":[{"start":{"id":"s2"},"activity":[{"session_id":"s2","kind":"file","name":"a.go"}]}]}`},

	{id: "document.put", path: "state/extract_cursor", body: `{"document":{"at": 7}}`, header: []string{"If-None-Match", "*"}},
	{id: "document.get", path: "state/extract_cursor"},
	{id: "document.delete", path: "state/extract_cursor"},

	{id: "task.save", path: "tasks/t1", body: `{"request_id":"q","session_id":"s1","goal":"ship","extra":{"a": 1}}`},
	{id: "task.get", path: "tasks/t1"},
	{id: "task.events", path: "tasks/t1/events"},

	{id: "snapshot.restore_memory", path: "snapshots/{s1}/restore-memory", body: `{"memory":"{m1}"}`},
	{id: "snapshot.restore", path: "snapshots/{s1}/restore", body: `{}`},
	{id: "consolidation.begin", path: "consolidations", body: `{"run":"nightly"}`, keep: []string{"c1", "id"}},
	{id: "consolidation.end", path: "consolidations/{c1}/end", body: `{}`},
	{id: "tenant.gc", path: "/v1/tenants/acme/gc", body: `{}`},
	{id: "import.upload", path: "imports?name=a.jsonl&dry_run=true", body: aFile(1)},
	{id: "import.upload", path: "imports?name=a.jsonl&from=amber&user=ada&project=shop&as_own=true&since=2020-01-01T00:00:00Z&only=memories,notes", body: aFile(1)},

	{id: "audit.list", path: "/v1/audit?limit=2&tenant=acme&agent=ada&action=memory.write&actor=t-root&since=2020-01-01T00:00:00Z"},
	{id: "audit.list", path: "/v1/audit?tenant=acme", token: acme},
	{id: "agent.doctor", path: "doctor?deep=true"},
	{id: "agent.list", path: "/v1/agents"},
	{id: "agent.list", path: "/v1/agents?tenant=acme&agent=ada", token: acme},
	{id: "agent.list", path: "/v1/agents?tenant=nosuch"},
	{id: "token.list", path: "/v1/tokens"},
	{id: "token.list", path: "/v1/tokens?tenant=acme&agent=ada"},
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
	kept := map[string]string{}
	for i, s := range steps {
		o, c := r.callOf(s, kept)
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
		s.keepOf(a, kept)
	}
}

// take asks for one step with a token, and keeps what it says.
func (r *rig) take(s step, kept map[string]string, token string, header ...string) reply {
	r.t.Helper()
	_, c := r.callOf(s, kept)
	c.token, c.header = token, servertest.Header(append(header, s.header...)...)
	a := r.ask(c)
	if a.status < 300 {
		s.keepOf(a, kept)
	}
	return a
}

// callOf is the request of a step, with what steps before have kept.
func (r *rig) callOf(s step, kept map[string]string) (httpapi.Operation, call) {
	r.t.Helper()
	fill := func(text string) string {
		for name, value := range kept {
			text = strings.ReplaceAll(text, "{"+name+"}", value)
		}
		return text
	}
	for _, o := range r.api.Operations() {
		if o.ID == s.id {
			return o, call{method: o.Method, path: fill(s.path), body: fill(s.body), token: s.token, header: servertest.Header(s.header...)}
		}
	}
	r.t.Fatalf("there is no operation %s", s.id)
	return httpapi.Operation{}, call{}
}

// keepOf keeps what steps behind this one name.
func (s step) keepOf(a reply, kept map[string]string) {
	for i := 0; i < len(s.keep); i += 2 {
		kept[s.keep[i]] = a.text(s.keep[i+1])
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
			tenant := amber.TenantID("acme")
			if strings.HasPrefix(s.id, "token.") {
				tenant = "umbrella"
			}
			if e.Action != o.ID || e.Outcome != "ok" || e.Tenant != tenant || e.Actor != s.actor() || e.RequestID != a.header.Get("X-Request-Id") {
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
