package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// written is what the audit log says behind an entry: agent, action and subject.
func written(b *servertest.Book, from int) (out []string) {
	for _, e := range b.Entries(from) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Agent, e.Action, e.Subject)))
		if e.Outcome != "ok" {
			out[len(out)-1] += " " + e.Outcome
		}
	}
	return out
}

// A request that changes several things has an audit entry with the id of each of them.
func TestTheAuditLogNamesEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.ask(call{method: "POST", path: "memories/batch", body: `{"items":[{"content":"one"},{"content":"two"},{"content":"three"}]}`}).want(200)
	var stored amber.Page[amber.WriteAck]
	must.Do(t, json.Unmarshal(a.body, &stored))
	var want []string
	for _, ack := range stored.Items {
		want = append(want, "ada memory.write_batch "+string(ack.ID))
	}
	must.Equal(t, "a batch", written(r.book, 0), want)
	must.Equal(t, "entries", len(want), 3)

	var ids []string
	for range 3 {
		ids = append(ids, r.ask(call{method: "POST", path: "snapshots", body: `{}`}).want(201).text("id"))
	}
	from := len(r.book.Entries(0))
	r.ask(call{method: "POST", path: "snapshots/prune", body: `{"keep_last":1}`}).want(200)
	got := written(r.book, from)
	slices.Sort(got)
	want = []string{"ada snapshot.prune " + ids[0], "ada snapshot.prune " + ids[1]}
	slices.Sort(want)
	must.Equal(t, "a prune", got, want)
	from = len(r.book.Entries(0))
	r.ask(call{method: "POST", path: "snapshots/prune", body: `{"keep_last":1}`}).want(200)
	must.Equal(t, "a prune of nothing", written(r.book, from), []string{"ada snapshot.prune"})
}

// An agent that a restore makes is in the audit log as any other.
func TestAnAgentThatARestoreMakesIsWrittenDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.ask(call{method: "POST", path: "snapshots", body: `{}`}).want(201).text("id")
	restore := func(body string) reply {
		return r.ask(call{method: "POST", path: "snapshots/" + id + "/restore", body: body})
	}
	from := len(r.book.Entries(0))
	restore(`{"to":"cat","dry_run":true}`).want(200)
	restore(`{"to":"cat"}`).want(200)
	if got := restore(`{"to":"cat"}`); got.status < 400 {
		t.Errorf("an agent was made twice: %s", got.body)
	}
	restore(`{}`).want(200)
	got := written(r.book, from)
	if len(got) != 4 || !strings.HasPrefix(got[2], "ada snapshot.restore "+id+" ") {
		t.Fatalf("written down: %q", got)
	}
	want := []string{"cat agent.create", "ada snapshot.restore " + id, got[2], "ada snapshot.restore " + id}
	must.Equal(t, "", got, want)
}

// Whatever only asks what would be done is not written down as done, but a
// refusal is.
func TestDryRunsAreNotWrittenDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	m := r.remember("x").ID
	id := r.ask(call{method: "POST", path: "snapshots", body: `{}`}).want(201).text("id")
	paths := map[string][2]string{
		"snapshot.restore":        {"snapshots/" + id + "/restore", `{"dry_run":true}`},
		"snapshot.restore_memory": {"snapshots/" + id + "/restore-memory", `{"dry_run":true,"memory":"` + string(m) + `"}`},
		"snapshot.prune":          {"snapshots/prune", `{"dry_run":true,"keep_last":1}`},
		"tenant.gc":               {"/v1/tenants/acme/gc", `{"dry_run":true}`},
	}
	for _, o := range r.api.Operations() {
		if !o.Mutates || !o.HasBody {
			continue
		}
		if _, can := d.bodyOf(t, o.ID).Properties["dry_run"]; !can {
			continue
		}
		p, ok := paths[o.ID]
		if !ok {
			t.Errorf("%s can be asked what it would do, and is not tested", o.ID)
			continue
		}
		delete(paths, o.ID)
		from := len(r.book.Entries(0))
		r.ask(call{method: o.Method, path: p[0], body: p[1]}).want(200)
		must.Equal(t, o.ID+": written down", len(written(r.book, from)), 0)
		r.ask(call{method: o.Method, path: p[0], body: strings.Replace(p[1], "true", "false", 1)}).want(200)
		must.Equal(t, o.ID+" done: written down", len(written(r.book, from)), 1)
		if o.ID != "tenant.gc" { // a token of one agent does not reach a whole tenant
			r.ask(call{method: o.Method, path: p[0], body: p[1], token: adaRead}).failed(amber.KindRefused)
			if got := written(r.book, from); len(got) != 2 || !strings.HasSuffix(got[1], "refused") {
				t.Errorf("%s refused: written down %q", o.ID, got)
			}
		}
	}
	must.Equal(t, "these cannot be asked what they would do", len(paths), 0)
}

// Sources are those of the machine: to freeze them is to read them.
func TestSourcesNeedATokenForAllTenants(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for token, refused := range map[string]bool{ada: true, acme: true, root: false} {
		a := r.ask(call{method: "POST", path: "snapshots", body: `{"sources":["logs"]}`, token: token})
		must.Equal(t, token, strings.Contains(string(a.body), "all tenants"), refused)
		if refused {
			a.failed(amber.KindRefused)
		}
	}
	r.ask(call{method: "POST", path: "snapshots", body: `{"sources":[]}`, token: ada}).want(201)
}

// TestTheTokenThatAsksDoesNotDecide: to decide takes a scope of its own, and
// another token than the one that asked, whatever scopes that has.
func TestTheTokenThatAsksDoesNotDecide(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	token := func(scopes ...wire.TokenScope) (secret string, id wire.TokenID) {
		return d.token(r.clock.Read(), "acme", "ada", 0, scopes...)
	}
	writer, asker := token(wire.TokenRead, wire.TokenWrite)
	both, _ := token(wire.TokenRead, wire.TokenWrite, wire.TokenApprove)
	admin, _ := token(wire.TokenAdmin)
	approver, _ := token(wire.TokenApprove)
	request := func(secret, id, more string) reply {
		return r.ask(call{method: "POST", path: "approvals", token: secret, body: `{"id":"` + id + `","task_id":"t","node_id":"n","summary":"may I","payload":{}` + more + `}`})
	}
	decide := func(secret, id, actor string) reply {
		return r.ask(call{method: "POST", path: "approvals/" + id + "/decision", token: secret, body: `{"outcome":"approved"` + actor + `}`})
	}
	must.Equal(t, "who asked for the approval",
		request(writer, "a", `,"requested_by":"somebody"`).want(http.StatusCreated).text("requested_by"), string(asker))
	decide(writer, "a", `,"actor":"the-boss"`).failed(amber.KindRefused)
	request(both, "b", "").want(http.StatusCreated)
	for _, actor := range []string{"", `,"actor":"the-boss"`, `,"actor":"x","claimed_by":"the-boss"`} {
		decide(both, "b", actor).failed(amber.KindRefused)
	}
	request(admin, "c", "").want(http.StatusCreated)
	decide(admin, "c", `,"actor":"the-boss"`).failed(amber.KindRefused)
	request(both, "a", "").want(http.StatusCreated) // to ask again does not make this caller the asker
	for _, id := range []string{"a", "b", "c"} {
		a := must.Get(r.store("acme/ada").Approvals.Approval(context.Background(), id))(t)
		must.Equal(t, string(id), a.Status, amber.ApprovalPending)
	}
	decide(both, "a", `,"actor":"the-boss"`).want(http.StatusOK)
	decide(approver, "b", "").want(http.StatusOK)
	for id, want := range map[string][2]string{"a": {"test", "the-boss"}, "b": {"test", ""}} {
		a, err := r.store("acme/ada").Approvals.Approval(context.Background(), id)
		if err != nil || a.Status != amber.ApprovalApproved || a.DecidedBy != want[0] || a.ClaimedBy != want[1] {
			t.Errorf("%s is %s by %q, claimed by %q, %v, want %q", id, a.Status, a.DecidedBy, a.ClaimedBy, err, want)
		}
	}
}

// A token without the scope own speaks for an agent, whatever its requests say of themselves; it changes nothing of the owner, and
// what it says for every project waits until the owner keeps it.
func TestATokenWithoutOwnSpeaksForAnAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	claim := `"trust":"own","author":{"host":"cli","agent":"ada herself"}`
	mine := r.ask(call{method: "POST", path: "memories", token: ada, body: `{"content":"Never deploy on a Friday","kind":"constraint","topic":"deploys"}`}).want(201)
	must.Equal(t, "trust of the owner", mine.text("trust"), "own")
	named := http.Header{"User-Agent": {"nightly/2.1 (linux)"}}
	said := r.ask(call{method: "POST", path: "memories", token: adaBot, header: named, body: `{"content":"Deploy whenever you like","kind":"constraint",` + claim + `}`}).want(201)
	must.Equal(t, "trust and author", []string{said.text("trust"), said.text("author.host"), said.text("author.token")}, []string{"agent", "nightly", "nightly job"})

	id := mine.text("id")
	for _, c := range []call{
		{method: "PATCH", path: "memories/" + id, body: `{"content":"no rule","keep":true,` + claim + `}`},
		{method: "DELETE", path: "memories/" + id},
		{method: "POST", path: "memories/" + id + "/erase"},
		{method: "PUT", path: "memories/" + id + "/concepts", body: `{"items":["none"]}`},
		{method: "POST", path: "memories", body: `{"content":"no rule at all","kind":"constraint","topic":"deploys",` + claim + `}`},
		{method: "POST", path: "memories/batch", body: `{"items":[{"content":"no rule at all","kind":"constraint","topic":"deploys",` + claim + `}]}`},
	} {
		c.token = adaBot
		r.ask(c).failed(amber.KindRefused)
	}
	must.Equal(t, "revision of the owner's memory", must.Get(r.store("acme/ada").Memories.Get(t.Context(), amber.MemoryID(id)))(t).Revision, int64(1))

	snap := r.ask(call{method: "POST", path: "snapshots", token: adaBot, header: named, body: `{"by":{"trust":"own","host":"cli"}}`}).want(201)
	must.Equal(t, "who asked for the snapshot", []string{snap.text("by.trust"), snap.text("by.host"), snap.text("by.token")}, []string{"agent", "nightly", "nightly job"})

	waiting := r.ask(call{method: "GET", path: "memories?all=true&waiting=agents", token: adaRead}).want(200)
	must.Equal(t, "what waits", []any{waiting.text("items.0.id"), len(waiting.field("items").([]any))}, []any{said.text("id"), 1})
	kept := r.ask(call{method: "PATCH", path: "memories/" + said.text("id"), token: adaBot, body: `{"keep":true}`}).want(200)
	must.Equal(t, "kept by an agent", kept.text("trust"), "agent")
	kept = r.ask(call{method: "PATCH", path: "memories/" + said.text("id"), token: ada, body: `{"keep":true}`}).want(200)
	must.Equal(t, "kept by the owner", kept.text("trust"), "own")
	must.Equal(t, "what waits then", len(r.ask(call{method: "GET", path: "memories?all=true&waiting=agents", token: adaRead}).want(200).field("items").([]any)), 0)
}
