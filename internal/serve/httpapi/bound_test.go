package httpapi_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/wire"
)

// The secrets of two people who share an agent.
const (
	alice = "alice"
	bob   = "bob"
)

// wholeOf are the operations that a bound caller is refused, with the reason.
var wholeOf = map[string]string{
	"import.upload": "writes ids", "import.list": "is of all", "import.undo": "changes what others imported", "export.download": "is of all",
	"journal.status": "counts sessions of all", "quarantine.list": "names sessions of all", "quarantine.show": "shows payloads of all", "quarantine.retry": "changes sessions of all",
	"folder.list": "of the machine", "folder.trust": "of the machine",
	"tenant.gc": "of a tenant", "tenant.check": "of a tenant", "audit.list": "of the home", "audit.verify": "of the home", "token.list": "of the home", "token.create": "of the home",
	"token.revoke": "of the home", "agent.doctor": "looks at all", "agent.sync": "is of all", "agent.generation": "is of all", "concept.count": "counts all",
	"snapshot.take": "freezes all", "snapshot.show": "counts all", "snapshot.diff": "names records of all", "snapshot.verify": "of all", "snapshot.delete": "of all", "snapshot.pin": "of all",
	"snapshot.prune": "of all", "snapshot.restore": "replaces all", "snapshot.restore_memory": "replaces what others changed",
	"queue.publish": "no identities", "queue.show": "no identities", "queue.claim": "no identities", "queue.ack": "no identities", "queue.nack": "no identities", "queue.renew": "no identities",
	"queue.dead": "no identities", "consolidation.begin": "marks all", "consolidation.open": "marks all", "consolidation.end": "marks all",
	"document.list": "no identities", "document.get": "no identities", "document.put": "no identities", "document.delete": "no identities",
}

// boundRig is a rig with two people bound to the agent acme/ada, each with records, and a snapshot of it all.
func boundRig(t testing.TB) (r *rig, ids map[string]map[string]string) {
	t.Helper()
	r = newRig(t)
	scopes := []wire.TokenScope{wire.TokenRead, wire.TokenWrite, wire.TokenApprove, wire.TokenErase}
	for name, project := range map[string]string{alice: "bank", bob: "shop"} {
		r.keys.grants[name] = wire.Grant{Token: wire.TokenID("t-" + name), Tenant: "acme", Agent: "ada", Scopes: scopes, Bound: wire.Bound{User: name, Project: project}}
	}
	ids = map[string]map[string]string{alice: r.furnish(alice, canary), bob: r.furnish(bob, "bobs own")}
	taken := r.ask(call{method: "POST", path: "snapshots", body: `{}`}).want(201).text("id")
	for _, own := range ids {
		own["snapshot"] = taken
	}
	return r, ids
}

// furnish stores a record of every kind as a person, and returns the ids.
func (r *rig) furnish(who, text string) map[string]string {
	r.t.Helper()
	x := map[string]string{"session": "s-" + who, "task": "t-" + who, "approval": "a-" + who, "turn": "turn-" + who, "journal": strings.Repeat(who[:1], 32)}
	for _, s := range []step{
		{path: "POST sessions", body: `{"id":"{session}","name":"TEXT"}`},
		{path: "POST sessions/{session}/turns", body: `{"id":"{turn}","role":"user","content":"TEXT"}`},
		{path: "POST sessions/{session}/compactions", body: `{"summary":"TEXT"}`},
		{path: "PUT sessions/{session}/state", body: `{"document":{"x":"TEXT"}}`},
		{path: "PUT sessions/{session}/loop", body: `{"run_id":"run","state_json":{"x":"TEXT"}}`},
		{path: "POST memories", body: `{"content":"one TEXT","topic":"one","scope":"user"}`, keep: []string{"memory", "id"}},
		{path: "POST memories", body: `{"content":"two TEXT","scope":"project","session_id":"{session}"}`, keep: []string{"other", "id"}},
		{path: "POST relations", body: `{"from":"{memory}","to":"{other}","type":"related"}`, keep: []string{"relation", "id"}},
		{path: "PUT memories/{memory}/concepts", body: `{"items":["of-WHO"]}`},
		{path: "PUT tasks/{task}", body: `{"session_id":"{session}","goal":"TEXT"}`},
		{path: "POST tasks/{task}/events", body: `{"from":"queued","to":"planning","reason":"TEXT"}`},
		{path: "POST approvals", body: `{"id":"{approval}","task_id":"{task}","node_id":"n","summary":"TEXT","payload":{}}`},
		{path: "POST results", body: `{"task_id":"{task}","node_id":"n","producer":"p","status":"ok","payload":"TEXT"}`},
		{path: "POST journal/ingest", body: `{"journal":"{journal}","host":"claude","session_id":"{session}","through":1,"steps":[{"start":{"id":"{session}"},"activity":[{"session_id":"{session}","kind":"tool","name":"Bash","detail":"TEXT"}]}]}`},
	} {
		method, path, _ := strings.Cut(s.path, " ")
		fill := filled(x, text, who)
		a := r.ask(call{method: method, path: fill(path), body: fill(s.body), token: who})
		if a.status >= 300 {
			r.t.Fatalf("%s: %d %s", s.path, a.status, a.body)
		}
		if len(s.keep) > 0 {
			x[s.keep[0]] = a.text(s.keep[1])
		}
	}
	return x
}

func filled(ids map[string]string, text, who string) func(string) string {
	pairs := []string{"TEXT", text, "WHO", who}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		pairs = append(pairs, "{"+name+"}", ids[name])
	}
	return strings.NewReplacer(pairs...).Replace
}

// nowhere are ids that no record has.
var nowhere = map[string]string{
	"session": "no-session", "task": "no-task", "approval": "no-approval", "turn": "no-turn", "journal": strings.Repeat("0", 32), "relation": "no-relation",
	"memory": "00000000-0000-7000-8000-00000000000a", "other": "00000000-0000-7000-8000-00000000000b",
}

// byID are the routes that name a record, with what they are asked. Others list.
var byID = map[string]struct{ path, body string }{
	"memory.get": {path: "memories/{memory}"}, "memory.history": {path: "memories/{memory}/history"}, "memory.timeline": {path: "memories/{memory}/timeline?before=5&after=5"},
	"memory.edit": {"memories/{memory}", `{"content":"owned"}`}, "memory.forget": {path: "memories/{other}"}, "memory.erase": {path: "memories/{memory}/erase"},
	"relation.relate": {"relations", `{"from":"{memory}","to":"{other}","type":"supersedes"}`}, "relation.get": {path: "relations/{relation}"}, "relation.unrelate": {path: "relations/{relation}"},
	"relation.list": {path: "memories/{memory}/relations"}, "relation.neighbours": {path: "memories/{memory}/neighbours?all=true"},
	"concept.list": {path: "memories/{memory}/concepts"}, "concept.set": {"memories/{memory}/concepts", `{"items":["owned"]}`},
	"session.get": {path: "sessions/{session}"}, "session.delete": {path: "sessions/{session}"}, "session.rename": {"sessions/{session}", `{"name":"owned"}`},
	"session.end": {"sessions/{session}/end", `{}`}, "session.select": {path: "sessions/{session}/select"},
	"turn.list": {path: "sessions/{session}/turns"}, "turn.page": {path: "sessions/{session}/conversation"}, "turn.get": {path: "turns/{turn}"}, "turn.delete": {path: "sessions/{session}/turns"},
	"compaction.list": {path: "sessions/{session}/compactions"}, "activity.list": {path: "sessions/{session}/activity"},
	"state.get": {path: "sessions/{session}/state"}, "state.delete": {path: "sessions/{session}/state"}, "loop.get": {path: "sessions/{session}/loop"}, "loop.clear": {path: "sessions/{session}/loop"},
	"journal.cursor": {path: "journal/cursors/{journal}"},
	"task.get":       {path: "tasks/{task}"}, "task.events": {path: "tasks/{task}/events"}, "task.replay": {path: "tasks/{task}/replay"}, "task.compact": {"tasks/{task}/events/compact", `{"keep":0}`},
	"approval.get": {path: "approvals/{approval}"}, "approval.list": {path: "approvals?task_id={task}"}, "approval.decide": {"approvals/{approval}/decision", `{"outcome":"approved","actor":"bob"}`},
	"result.get": {path: "results/{task}/n"}, "result.list": {path: "results?task_id={task}"}, "snapshot.memory": {path: "snapshots/{snapshot}/memories/{memory}"},
}

// askingToMake are the routes that would make a record under an id that is taken.
var askingToMake = map[string]struct{ path, body string }{
	"session.start": {"sessions", `{"id":"{session}"}`}, "turn.append": {"sessions/{session}/turns", `{"role":"user","content":"owned"}`},
	"compaction.add": {"sessions/{session}/compactions", `{"summary":"owned"}`}, "state.save": {"sessions/{session}/state", `{"document":{}}`},
	"loop.save": {"sessions/{session}/loop", `{"run_id":"run","state_json":{}}`}, "task.save": {"tasks/{task}", `{"goal":"owned"}`},
	"task.event":       {"tasks/{task}/events", `{"from":"queued","to":"planning"}`},
	"approval.request": {"approvals", `{"id":"{approval}","task_id":"{task}","node_id":"n","summary":"owned","payload":{}}`},
	"result.save":      {"results", `{"task_id":"{task}","node_id":"n","producer":"p","status":"ok"}`},
	"journal.ingest":   {"journal/ingest", `{"journal":"{journal}","host":"claude","session_id":"{session}","after":1,"through":2,"steps":[{"start":{"id":"{session}"},"end":{"id":"{session}"}}]}`},
}

// listingAll are the routes that list and search: nothing of others may be in the answer.
var listingAll = map[string][]struct{ path, body string }{
	"memory.list":    {{path: "memories?all=true&deleted=true&limit=1000"}, {path: "memories?all=true&limit=1"}, {path: "memories"}},
	"memory.recall":  {{"recall", `{"text":"` + canary + `","limit":64}`}, {"recall", `{"text":"","limit":64}`}},
	"memory.context": {{"context", `{"goal":"` + canary + `"}`}}, "session.list": {{path: "sessions"}}, "session.active": {{path: "active-session?binding=cli"}},
	"activity.named": {{path: "activity?kind=tool&name=Bash"}}, "journal.open": {{path: "journal/open"}}, "task.list": {{path: "tasks"}, {path: "tasks?session_id=s-alice"}},
	"change.list": {{path: "changes"}, {path: "changes?limit=1"}}, "change.head": {{path: "changes/head"}}, "control_change.list": {{path: "control-changes"}}, "control_change.head": {{path: "control-changes/head"}},
	"agent.stats": {{path: "stats"}}, "agent.capabilities": {{path: "capabilities"}}, "agent.health": {{path: "health"}}, "agent.list": {{path: "/v1/agents"}},
	"note.list": {{path: "notes"}}, "snapshot.list": {{path: "snapshots"}},
	"snapshot.memories": {{path: "snapshots/{snapshot}/memories?all=true&limit=1000"}}, "snapshot.recall": {{"snapshots/{snapshot}/recall", `{"text":"` + canary + `"}`}},
	"memory.write": {{"memories", `{"content":"mine"}`}}, "memory.write_batch": {{"memories/batch", `{"items":[{"content":"mine, too"}]}`}},
}

// elsewhere are operations that this test leaves out: notes belong to all users of an agent, and event.stream has a
// test of its own.
var elsewhere = []string{"note.get", "note.log", "note.at", "note.write", "note.delete", "event.stream"}

// TestBoundCallersReachTheirOwnAlone walks the whole table as bob, who is bound. The answers about records of alice
// are those about records that do not exist, nothing of hers is in any answer, nothing of hers changes, and
// operations on the whole agent are refused.
func TestBoundCallersReachTheirOwnAlone(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r, ids := boundRig(t)
	before := r.held(ids[alice])
	missing := maps.Clone(nowhere)
	missing["snapshot"] = ids[bob]["snapshot"]
	for _, o := range r.api.Operations() {
		why, whole := wholeOf[o.ID]
		must.Equal(t, o.ID+" is open to bound callers ("+why+")", o.Bound, !whole)
		ask := func(path, body string, of map[string]string) reply {
			fill := filled(of, "", "")
			return r.ask(call{method: o.Method, path: fill(path), body: fill(body), token: bob})
		}
		same, named := byID[o.ID]
		makes, asMade := askingToMake[o.ID]
		lists, listed := listingAll[o.ID]
		switch {
		case whole:
			kind := amber.KindRefused
			if strings.HasPrefix(o.ID, "tenant.") {
				kind = amber.KindNotFound // the token is for an agent
			}
			a := r.ask(call{method: o.Method, path: route(o, "acme", "ada"), token: bob, body: `{"garbage`}).failed(kind)
			if o.Scope != wire.TokenAdmin && o.Scope != wire.TokenSnapshot && o.Scope != wire.TokenRestore {
				must.Says(t, o.ID, string(a.body), "bound to user bob, project shop")
			}
		case named:
			got, want := ask(same.path, same.body, ids[alice]), ask(same.path, same.body, missing)
			must.Equal(t, o.ID, unnamed(got.seen(), ids[alice]), unnamed(want.seen(), missing))
		case asMade:
			a := ask(makes.path, makes.body, ids[alice]).failed(amber.KindConflict)
			must.Hides(t, o.ID, string(a.body), canary)
		case listed:
			for _, l := range lists {
				a := ask(l.path, l.body, ids[bob])
				must.Hold(t, a.status < 300, "%s %s: %d %s", o.ID, l.path, a.status, a.body)
				must.Hides(t, o.ID+" "+l.path, string(a.body), canary, "alice", "bank", ids[alice]["memory"], ids[alice]["other"], ids[alice]["relation"])
			}
		case !slices.Contains(elsewhere, o.ID):
			t.Errorf("%s: say here how a bound caller is kept to what is its own", o.ID)
		}
	}
	same := r.ask(call{method: "POST", path: "memories", token: bob, body: `{"content":"one ` + canary + `","scope":"user"}`}).want(201)
	must.Hold(t, same.text("id") != ids[alice]["memory"] && same.field("deduplicated") == false, "her text is told to be known: %s", same.body)
	must.Equal(t, "what alice has", r.held(ids[alice]), before)
	if !strings.Contains(before, canary) || len(before) < 2000 {
		t.Errorf("what alice has is not looked at: %s", before)
	}
}

// unnamed is a text without the ids that a request names.
func unnamed(text string, ids map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		text = strings.ReplaceAll(text, ids[name], "ID")
	}
	return lengthHeader.ReplaceAllString(text, "")
}

var lengthHeader = regexp.MustCompile(`Content-Length: [0-9]+`)

// held is everything that the owner of the agent finds of one user. Ids are those of the user's records.
func (r *rig) held(ids map[string]string) string {
	r.t.Helper()
	var b strings.Builder
	for _, path := range []string{
		"memories/{memory}/history", "memories/{other}/history", "memories/{memory}/relations", "memories/{memory}/concepts", "sessions/{session}", "sessions/{session}/turns",
		"sessions/{session}/compactions", "sessions/{session}/state", "sessions/{session}/loop", "sessions/{session}/activity", "journal/cursors/{journal}", "tasks/{task}", "tasks/{task}/events",
		"approvals/{approval}", "results?task_id={task}", "relations/{relation}",
	} {
		fmt.Fprintf(&b, "%s\n%s\n", path, r.ask(call{method: "GET", path: filled(ids, "", "")(path)}).want(200).body)
	}
	return b.String()
}

// TestBoundCallersHaveKeysOfTheirOwn: the answer that alice was given under a key is not given to bob.
func TestBoundCallersHaveKeysOfTheirOwn(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r, d := doored(t)
	token := map[string]string{}
	for who, project := range map[string]string{alice: "bank", bob: "shop"} {
		made := must.Get(d.CreateToken(context.Background(), wire.TokenRequest{
			Name: who, Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite}, Bound: wire.Bound{User: who, Project: project},
		}))(t)
		token[who] = made.Secret
	}
	key := servertest.Header("Idempotency-Key", "k1")
	for _, body := range []struct{ path, body string }{{"memories", `{"content":"the same"}`}, {"sessions", `{"name":"the same"}`}} {
		first := r.ask(call{method: "POST", path: body.path, body: body.body, token: token[alice], header: key})
		again := r.ask(call{method: "POST", path: body.path, body: body.body, token: token[alice], header: key})
		must.Equal(t, "answered again", again.text("id"), first.text("id"))
		other := r.ask(call{method: "POST", path: body.path, body: body.body, token: token[bob], header: key})
		must.Hold(t, other.status < 300 && other.text("id") != first.text("id"), "%s: bob is answered %d %s", body.path, other.status, other.body)
		must.Equal(t, "replayed", other.header.Get("Idempotent-Replayed"), "")
	}
}

// TestBoundTokensMakeNoTokens, and are made by a token with the scope admin alone, for one tenant.
func TestBoundTokensMakeNoTokens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.ask(call{method: "POST", path: "/v1/tokens", body: `{"name":"b","tenant":"acme","agent":"ada","scopes":["read"],"user_id":"bob","project_id":"shop"}`}).want(201)
	must.Equal(t, "bound", []string{a.text("user_id"), a.text("project_id")}, []string{"bob", "shop"})
	listed := r.ask(call{method: "GET", path: "/v1/tokens?tenant=acme&agent=ada"}).want(200)
	must.Says(t, "the list", string(listed.body), `"user_id":"bob"`)
	for _, body := range []string{
		`{"name":"b","tenant":"acme","scopes":["admin"],"user_id":"bob"}`, `{"name":"b","tenant":"acme","scopes":["snapshot"],"project_id":"p"}`,
		`{"name":"b","scopes":["read"],"workspace_id":"w"}`, `{"name":"b","tenant":"acme","scopes":["read"],"user_id":" "}`,
	} {
		r.ask(call{method: "POST", path: "/v1/tokens", body: body}).failed(amber.KindInvalid)
	}
	r.keys.grants[bob] = wire.Grant{Token: "t-bob", Tenant: "acme", Agent: "ada", Scopes: wire.TokenScopes(), Bound: wire.Bound{User: "bob"}}
	for _, path := range []string{"/v1/tokens", "/v1/audit"} {
		r.ask(call{method: "GET", path: path, token: bob}).failed(amber.KindRefused)
	}
	r.ask(call{method: "POST", path: "/v1/tokens", token: bob, body: `{"name":"b","tenant":"acme","agent":"ada","scopes":["read"]}`}).failed(amber.KindRefused)
	r.ask(call{method: "DELETE", path: "/v1/tokens/" + a.text("id"), token: bob}).failed(amber.KindRefused)
}

// TestBoundListenersHearTheirOwn: the stream of bob has events of his changes, and none of those of alice or of
// snapshots.
func TestBoundListenersHearTheirOwn(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r, ids := boundRig(t)
	after := r.listen(call{token: bob, path: "?after=first/0,first/0"})
	live := r.listen(call{token: bob})
	r.ask(call{method: "POST", path: "memories", token: alice, body: `{"content":"later"}`}).want(201)
	r.ask(call{method: "DELETE", path: "memories/" + ids[alice]["memory"], token: alice}).want(204)
	mine := r.ask(call{method: "POST", path: "memories", token: bob, body: `{"content":"mine"}`}).want(201).text("id")
	for _, e := range []*ear{after, live} {
		heard := 0
		for {
			h := e.must()
			heard++
			for _, hers := range []string{"alice", ids[alice]["memory"], ids[alice]["other"]} {
				must.Hides(t, h.name, h.data, hers)
			}
			if strings.Contains(h.data, mine) {
				break
			}
		}
		must.Hold(t, e == live && heard == 1 || e == after && heard > 10, "%d events", heard)
	}
}
