package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

var updateExamples = flag.Bool("examples", false, "rewrite the examples of the OpenAPI document; then run with -update")

// exampleSteps make the examples of the OpenAPI document: one for each operation that speaks JSON.
var exampleSteps = []step{
	{id: "memory.write", path: "memories", keep: []string{"m1", "id"}, body: `{"content":"We chose PostgreSQL because the reports need JSONB.","title":"Database","kind":"project_fact","project_id":"shop","tags":["database"],` +
		`"metadata":{"ticket":"SHOP-12"},"source_refs":[{"kind":"file","value":"docs/decisions/12.md"}]}`},
	{id: "memory.write", path: "memories", body: `{"content":"Invoices are sent on the first day of the month.","id":"0198c0de-0000-7000-8000-0000000000bb","origin":{"device":"laptop","counter":2,"clock":"2026-07-01T12:00:00.000Z-0001"},"revision":2,"created_at":"2026-07-01T12:00:00.000Z"}`},
	{id: "memory.write_batch", path: "memories/batch", keep: []string{"m2", "items.0.id"}, body: `{"items":[{"content":"The nightly job exports the orders at 02:00 UTC.","project_id":"shop"},{"content":"Ada prefers short answers.","kind":"user_preference","user_id":"ada"}]}`},
	{id: "memory.recall", path: "recall", body: `{"text":"which database did we pick","project_id":"shop","limit":3,"explain":true}`},
	{id: "memory.list", path: "memories?limit=2&project_id=shop&kind=project_fact&tag=database"},
	{id: "memory.get", path: "memories/{m1}"},
	{id: "memory.edit", path: "memories/{m1}", header: []string{"If-Match", `"1"`}, body: `{"content":"We chose PostgreSQL 17 because the reports need JSONB.","tags":["database","postgresql"]}`},
	{id: "memory.history", path: "memories/{m1}/history"},
	{id: "memory.timeline", path: "memories/{m1}/timeline?before=2&after=2"},
	{id: "memory.context", path: "context", body: `{"goal":"Which PostgreSQL database do the reports need?","project_id":"shop","max_bytes":2048,"known":[{"layer":"memory","owner":"{m2}","digest":"0123456789abcdef"}]}`},
	{id: "relation.relate", path: "relations", keep: []string{"r1", "id"}, body: `{"from":"{m1}","to":"{m2}","type":"related","strength":0.5}`},
	{id: "relation.get", path: "relations/{r1}"},
	{id: "relation.list", path: "memories/{m1}/relations"},
	{id: "relation.get", path: "relations/{r1}"},
	{id: "relation.neighbours", path: "memories/{m1}/neighbours?depth=1&limit=10&type=related&project_id=shop"},
	{id: "relation.unrelate", path: "relations/{r1}"},
	{id: "concept.set", path: "memories/{m1}/concepts", body: `{"items":["databases","reporting"]}`},
	{id: "concept.list", path: "memories/{m1}/concepts"},
	{id: "concept.count", path: "concepts"},
	{id: "memory.forget", path: "memories/{m2}"},
	{id: "memory.erase", path: "memories/{m2}/erase"},

	{id: "session.start", path: "sessions", body: `{"id":"review-42","name":"Review of the report","binding":"cli","project":"shop","directory":"/home/ada/shop"}`},
	{id: "session.list", path: "sessions?limit=2&project=shop&binding=cli"},
	{id: "session.get", path: "sessions/review-42"},
	{id: "session.rename", path: "sessions/review-42", body: `{"name":"Review of the monthly report"}`},
	{id: "session.select", path: "sessions/review-42/select"},
	{id: "session.active", path: "active-session?binding=cli"},
	{id: "turn.append", path: "sessions/review-42/turns", body: `{"id":"turn-1","role":"user","content":"Why is the monthly report slow?","project_id":"shop"}`},
	{id: "turn.list", path: "sessions/review-42/turns?limit=10"},
	{id: "turn.page", path: "sessions/review-42/conversation?order=oldest&excerpt=200&limit=10"},
	{id: "turn.get", path: "turns/turn-1"},
	{id: "compaction.add", path: "sessions/review-42/compactions", body: `{"id":"summary-1","summary":"The report scans all orders; an index was proposed.","turns":12}`},
	{id: "compaction.list", path: "sessions/review-42/compactions"},
	{id: "state.save", path: "sessions/review-42/state", body: `{"document":{"mode":"review","file":"report.sql"}}`},
	{id: "state.get", path: "sessions/review-42/state"},
	{id: "state.delete", path: "sessions/review-42/state"},
	{id: "loop.save", path: "sessions/review-42/loop", body: `{"run_id":"run-7","state_json":{"step":3,"waiting_for":"approval"}}`},
	{id: "loop.get", path: "sessions/review-42/loop"},
	{id: "loop.clear", path: "sessions/review-42/loop?run_id=run-7"},
	{id: "journal.ingest", path: "journal/ingest", body: `{"journal":"00000000000000000000000000000001","host":"claude","session_id":"review-43","through":2,"last_at":"2026-08-01T12:00:00.000Z",` +
		`"process":{"pid":4711,"start":1785585600},"steps":[{"event":{"id":"0123456789abcdef0123456789abcdef","native":true},"at":"2026-08-01T12:00:00.000Z","start":{"id":"review-43","project":"shop"},` +
		`"turns":[{"id":"turn-2","session_id":"review-43","role":"user","content":"Run the tests."}],"activity":[{"session_id":"review-43","kind":"tool","name":"Bash","status":"completed","count":1}],` +
		`"memories":[{"content":"The tests of the shop need Docker.","project_id":"shop"}],"links":[{"memory":0,"to":"{m1}","type":"related","strength":0.5}],` +
		`"compaction":{"id":"summary-2","session_id":"review-43","summary":"The tests were run.","turns":1}}]}`},
	{id: "journal.cursor", path: "journal/cursors/00000000000000000000000000000001"},
	{id: "journal.open", path: "journal/open"},
	{id: "journal.status", path: "journal"},
	{id: "folder.list", path: "folders"},
	{id: "folder.trust", path: "folders/trust", body: `{"place":"/srv/copy","asks":"git.example/acme/shop"}`},
	{id: "quarantine.list", path: "journal/quarantine?session=s1", token: ada},
	{id: "quarantine.show", path: "journal/quarantine/s1/" + heldName, token: ada},
	{id: "quarantine.retry", path: "journal/quarantine/retry", body: `{"session":"s1","name":"` + heldName + `"}`, token: ada},
	{id: "activity.list", path: "sessions/review-43/activity?kind=tool"},
	{id: "activity.named", path: "activity?kind=tool&name=Bash"},
	{id: "turn.delete", path: "sessions/review-42/turns"},
	{id: "session.end", path: "sessions/review-42/end", body: `{"reason":"ended","summary":"The report needs an index on the date of orders."}`},
	{id: "session.delete", path: "sessions/review-42"},

	{id: "note.write", path: "notes/plans%2Frelease", body: `{"content":"# Release\n\n- freeze on Friday\n"}`},
	{id: "note.get", path: "notes/plans%2Frelease", keep: []string{"commit", "commit"}},
	{id: "note.list", path: "notes"},
	{id: "note.log", path: "notes/plans%2Frelease/log?limit=5"},
	{id: "note.at", path: "notes/plans%2Frelease/log/{commit}"},
	{id: "note.delete", path: "notes/plans%2Frelease"},

	{id: "document.put", path: "state/extract_cursor", header: []string{"If-None-Match", "*"}, body: `{"document":{"position":7}}`, keep: []string{"d1", "revision"}},
	{id: "document.get", path: "state/extract_cursor"},
	{id: "document.list", path: "state"},
	{id: "document.delete", path: "state/extract_cursor?if_revision={d1}"},
	{id: "change.list", path: "changes?limit=2&order=oldest"},
	{id: "change.head", path: "changes/head"},

	{id: "task.save", path: "tasks/task-1", body: `{"request_id":"request-1","session_id":"review-43","goal":"Ship version 2 of the shop","state":"queued","extra":{"owner":"ada"}}`},
	{id: "task.get", path: "tasks/task-1"},
	{id: "task.list", path: "tasks?state=queued&session_id=review-43&limit=2"},
	{id: "task.event", path: "tasks/task-1/events", body: `{"from":"queued","to":"planning","reason":"a worker took the task"}`},
	{id: "task.events", path: "tasks/task-1/events"},
	{id: "task.replay", path: "tasks/task-1/replay"},
	{id: "task.compact", path: "tasks/task-1/events/compact", body: `{"keep":0}`},
	{id: "approval.request", path: "approvals", keep: []string{"a1", "id"}, body: `{"id":"approval-1","task_id":"task-1","node_id":"deploy","summary":"Deploy version 2 to production?","payload":{"command":"make deploy","version":2}}`},
	{id: "approval.get", path: "approvals/{a1}", keep: []string{"digest", "digest"}},
	{id: "approval.list", path: "approvals?task_id=task-1"},
	{id: "approval.decide", path: "approvals/{a1}/decision", token: acme, body: `{"outcome":"approved","actor":"grace","comment":"The tests are green.","digest":"{digest}"}`},
	{id: "result.save", path: "results", body: `{"task_id":"task-1","node_id":"deploy","producer":"deployer","status":"ok","payload":"version 2 is live","confidence":1,"evidence":[{"kind":"url","value":"https://shop.example/version"}]}`},
	{id: "result.get", path: "results/task-1/deploy"},
	{id: "result.list", path: "results?task_id=task-1"},
	{id: "queue.publish", path: "queue", body: `{"entry_id":"entry-1","task_id":"task-1","node_id":"notify","payload":"{\"to\":\"team\"}","priority":5}`},
	{id: "queue.show", path: "queue"},
	{id: "queue.claim", path: "queue/claim", body: `{"consumer_id":"worker-1"}`, keep: []string{"token", "lease.token", "until", "lease.expires_at"}},
	{id: "queue.renew", path: "queue/renew", body: `{"entry_id":"entry-1","consumer_id":"worker-1","token":"{token}","fence":1,"expires_at":"{until}"}`, keep: []string{"until", "expires_at"}},
	{id: "queue.nack", path: "queue/nack", body: `{"lease":{"entry_id":"entry-1","consumer_id":"worker-1","token":"{token}","fence":1,"expires_at":"{until}"},"reason":"the mail server does not answer","not_before":"2026-08-01T12:00:00.000Z"}`},
	{id: "queue.claim", path: "queue/claim", body: `{"consumer_id":"worker-1"}`, keep: []string{"token", "lease.token", "until", "lease.expires_at"}},
	{id: "queue.ack", path: "queue/ack", body: `{"entry_id":"entry-1","consumer_id":"worker-1","token":"{token}","fence":2,"expires_at":"{until}"}`},
	{id: "queue.dead", path: "queue/dead?limit=5"},
	{id: "control_change.list", path: "control-changes?limit=2"},
	{id: "control_change.head", path: "control-changes/head"},

	{id: "snapshot.take", path: "snapshots", body: `{"label":"before the release","pin":true}`, keep: []string{"s1", "id"}},
	{id: "snapshot.take", path: "snapshots", body: `{"label":"after the release"}`, keep: []string{"s2", "id"}},
	{id: "snapshot.list", path: "snapshots?limit=2"},
	{id: "snapshot.show", path: "snapshots/{s1}"},
	{id: "snapshot.diff", path: "snapshots/diff", body: `{"a":"{s1}","b":"{s2}","rows":true}`},
	{id: "snapshot.verify", path: "snapshots/{s1}/verify", body: `{"read_data":true}`},
	{id: "snapshot.pin", path: "snapshots/{s1}/pin", body: `{"pinned":true}`},
	{id: "snapshot.recall", path: "snapshots/{s1}/recall", body: `{"text":"which database did we pick","project_id":"shop"}`},
	{id: "snapshot.memories", path: "snapshots/{s1}/memories?project_id=shop&limit=2"},
	{id: "snapshot.memory", path: "snapshots/{s1}/memories/{m1}"},
	{id: "snapshot.restore_memory", path: "snapshots/{s1}/restore-memory", body: `{"memory":"{m1}","dry_run":true}`},
	{id: "snapshot.restore", path: "snapshots/{s1}/restore", body: `{"only":["memory","notes"],"dry_run":true}`},
	{id: "snapshot.prune", path: "snapshots/prune", body: `{"keep_last":3,"keep_daily":7,"dry_run":true}`},
	{id: "snapshot.delete", path: "snapshots/{s2}"},
	{id: "consolidation.begin", path: "consolidations", body: `{"run":"nightly"}`, keep: []string{"c1", "id"}},
	{id: "consolidation.open", path: "consolidations/open"},
	{id: "consolidation.end", path: "consolidations/{c1}/end", body: `{"outcome":"done"}`},
	{id: "tenant.gc", path: "/v1/tenants/acme/gc", body: `{"dry_run":true}`},
	{id: "tenant.check", path: "/v1/tenants/acme/check", body: `{"read_data":true}`},

	{id: "import.upload", path: "imports?name=memories.jsonl&from=amber&user=ada&project=shop", body: aFile(1), keep: []string{"i1", "id"}},
	{id: "import.list", path: "imports"},
	{id: "import.undo", path: "imports/{i1}/undo"},

	{id: "agent.capabilities", path: "capabilities"},
	{id: "agent.stats", path: "stats"},
	{id: "agent.health", path: "health"},
	{id: "agent.generation", path: "generation"},
	{id: "agent.doctor", path: "doctor?deep=true", token: acme}, // without the places of a machine
	{id: "agent.sync", path: "sync?place=origin"},
	{id: "agent.list", path: "/v1/agents?tenant=acme"},
	{id: "audit.list", path: "/v1/audit?limit=2&tenant=acme&agent=ada&action=memory.write&since=2026-08-01T00:00:00Z"},
	{id: "audit.verify", path: "/v1/audit/verify"},
	{id: "token.create", path: "/v1/tokens", body: `{"name":"ci","tenant":"umbrella","agent":"eve","scopes":["read","write"],"expires_at":"2027-08-01T00:00:00.000Z"}`, keep: []string{"t1", "id"}},
	{id: "token.list", path: "/v1/tokens?tenant=umbrella&agent=eve"},
	{id: "token.revoke", path: "/v1/tokens/{t1}"},
}

const exampleFile = "examples.json"

// madeExample is what a step was asked and what was answered.
type madeExample struct {
	Parameters map[string]any  `json:"parameters,omitempty"`
	Request    json.RawMessage `json:"request,omitempty"`
	Answer     json.RawMessage `json:"answer,omitempty"`
}

// plainText puts something that is always the same in the place of what is random.
type plainText struct{ ids map[string]string }

var (
	anyUUID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anySecret = regexp.MustCompile(`amber_[a-z0-9]+_[A-Za-z0-9_-]+`)
	anyNonce  = regexp.MustCompile(`amber-memory [0-9a-f]{32}`)
	anyToken  = regexp.MustCompile(`(/v1/tokens/|\{"id":")[a-z0-9]{8}("|$)`)
	now       = regexp.MustCompile(`(2026-08-01T12:0\d:[0-5])\d\.\d{3}Z`)
)

func (p plainText) of(text string) string {
	text = anySecret.ReplaceAllString(text, "amber_k7q2m4xa_secret")
	text = anyToken.ReplaceAllString(text, "${1}k7q2m4xa${2}")
	text = now.ReplaceAllString(text, "${1}0.000Z")
	text = anyNonce.ReplaceAllString(text, "amber-memory 0123456789abcdef0123456789abcdef")
	return anyUUID.ReplaceAllStringFunc(text, func(id string) string {
		if p.ids[id] == "" {
			p.ids[id] = fmt.Sprintf("0198c0de-0000-7000-8000-%012x", len(p.ids)+1)
		}
		return p.ids[id]
	})
}

// makeExamples takes the steps and returns the first example of each operation.
func makeExamples(r *rig) map[string]madeExample {
	r.t.Helper()
	d := r.document()
	made, plain := map[string]madeExample{}, plainText{map[string]string{}}
	r.takeSteps(exampleSteps, nil, nil, func(o httpapi.Operation, s step, c call, a reply) {
		if _, ok := made[s.id]; ok {
			return
		}
		d.checkAnswer(r.t, s.id, a)
		e := madeExample{Parameters: d.parametersOf(r.t, o, plain.of(c.path))}
		if o.HasBody && !o.Raw {
			e.Request = json.RawMessage(plain.of(c.body))
		}
		if len(a.body) > 0 {
			e.Answer = json.RawMessage(plain.of(string(a.body)))
		}
		made[s.id] = e
	})
	for path, id := range map[string]string{"/livez": "server.livez", "/readyz": "server.readyz"} {
		made[id] = madeExample{Answer: json.RawMessage(r.ask(call{method: "GET", path: path}).want(200).body)}
	}
	return made
}

// parametersOf are the parameters of the path and the query of a request.
func (d document) parametersOf(t testing.TB, o httpapi.Operation, path string) map[string]any {
	t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = adaPath + "/" + path
	}
	path, query, _ := strings.Cut(path, "?")
	out := map[string]any{}
	names, values := strings.Split(o.Path, "/"), strings.Split(path, "/")
	must.Equal(t, o.ID+": elements of "+path, len(values), len(names))
	for i, name := range names {
		if strings.HasPrefix(name, "{") {
			out[strings.Trim(name, "{}")] = must.Get(url.PathUnescape(values[i]))(t)
		}
	}
	asked := must.Get(url.ParseQuery(query))(t)
	for _, p := range d.call(t, o.ID).Parameters {
		v, ok := asked[p.Name]
		if !ok {
			continue
		}
		switch s := d.resolved(p.Schema); {
		case s.allows("integer"):
			out[p.Name] = must.Get(strconv.Atoi(v[0]))(t)
		case s.allows("boolean"):
			out[p.Name] = must.Get(strconv.ParseBool(v[0]))(t)
		case s.allows("array"):
			out[p.Name] = v
		default:
			out[p.Name] = v[0]
		}
	}
	return out
}

// TestExamplesOfTheDocumentAreTrue sends the requests that the examples show, and compares what is answered
// with what they say is. Ids, times and digests differ; fields and their types do not. Run with -examples
// after a change of the API.
func TestExamplesOfTheDocumentAreTrue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made := makeExamples(r)
	if *updateExamples {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		must.Do(t, e.Encode(made))
		must.Do(t, os.WriteFile(exampleFile, b.Bytes(), 0o644))
	}
	var told map[string]madeExample
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(exampleFile))(t), &told))
	for id, got := range made {
		want := told[id]
		must.Equal(t, id+": parameters", fmt.Sprint(got.Parameters), fmt.Sprint(want.Parameters))
		must.Equal(t, id+": request", compacted(t, got.Request), compacted(t, want.Request))
		must.Equal(t, id+": fields of the answer", skeleton(t, got.Answer), skeleton(t, want.Answer))
		delete(told, id)
	}
	for id := range told {
		t.Errorf("%s: no step makes the example of %s", exampleFile, id)
	}
}

func compacted(t testing.TB, b json.RawMessage) string {
	t.Helper()
	if len(b) == 0 {
		return ""
	}
	var out bytes.Buffer
	must.Do(t, json.Compact(&out, b))
	return out.String()
}

// skeleton is JSON without its values.
func skeleton(t testing.TB, b json.RawMessage) string {
	t.Helper()
	if len(b) == 0 {
		return ""
	}
	var v any
	must.Do(t, json.Unmarshal(b, &v))
	return string(must.Get(json.Marshal(bare(v)))(t))
}

func bare(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for name := range x {
			x[name] = bare(x[name])
		}
	case []any:
		for i := range x {
			x[i] = bare(x[i])
		}
	case nil:
		return nil
	case string:
		return ""
	case float64:
		return 0
	case bool:
		return false
	}
	return v
}
