package httpapi_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// everyScope but admin.
var everyScope = slices.DeleteFunc(wire.TokenScopes(), func(s wire.TokenScope) bool { return s == wire.TokenAdmin })

// doored is a rig whose tokens are in the database of a home.
func doored(t testing.TB) (*rig, door) {
	t.Helper()
	var d door
	r := newRig(t, func(r *rig, o *httpapi.Options) {
		d = newDoor(t, r.clock.Read)
		o.Authenticator, o.Answers = d, d
	})
	return r, d
}

// route is a path of the table with its variables filled in, for an agent of a tenant. Operations on the home get
// tenant and agent in the query.
func route(o httpapi.Operation, tenant, agent string) string {
	id := "00000000-0000-7000-8000-000000000001"
	path := strings.NewReplacer("{tenant}", tenant, "{agent}", agent, "{memory}", id, "{journal}", strings.Repeat("0", 32)).Replace(o.Path)
	path = pathVariable.ReplaceAllString(path, id)
	if o.Home {
		path += "?tenant=" + tenant + "&agent=" + agent
	}
	return path
}

var itsID = regexp.MustCompile(`"request_id":"[^"]*"`)

// seen is all that a caller sees of an answer, but for the request id and the
// time of day.
func (a reply) seen() string {
	h := a.header.Clone()
	h.Del("Date")
	h.Del("X-Request-Id")
	var b strings.Builder
	_ = h.Write(&b) // sorted
	return http.StatusText(a.status) + "\n" + b.String() + "\n" + string(itsID.ReplaceAll(a.body, nil))
}

// Every route of the table, with callers outside its grant: the answer is the same to the byte whether the agent is
// there or not, no agent is opened, and nothing of the request is read.
func TestForeignTokensSeeNothing(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	now := r.clock.Read()
	foreign, _ := d.token(now, "umbrella", "", 0, wire.TokenAdmin)
	bob, _ := d.token(now, "acme", "bob", 0, wire.TokenAdmin)
	for _, o := range r.api.Operations() {
		ask := func(token, tenant, agent string) string {
			return r.ask(call{method: o.Method, path: route(o, tenant, agent), token: token, body: `{"garbage`}).failed(amber.KindNotFound).seen()
		}
		want := ask(foreign, "nosuch", "nobody")
		for _, other := range [][3]string{
			{foreign, "acme", "ada"}, {foreign, "acme", "nobody"}, {bob, "umbrella", "eve"}, {bob, "nosuch", "bob"},
		} {
			must.Equal(t, o.ID+" of "+other[1]+"/"+other[2], ask(other[0], other[1], other[2]), want)
		}
		// Another agent of the same tenant, or the tenant as a whole.
		for _, agent := range []string{"ada", "nobody"} {
			must.Equal(t, o.ID+" of acme/"+agent, ask(bob, "acme", agent), want)
		}
	}
	must.Equal(t, "agents opened", r.openings(), 0)
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 0)
}

// A caller that may see the tenant gets the same words about an agent that is not there as a caller that may not
// see the tenant gets about an agent that is.
func TestAbsentAndForeignAreTheSame(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	foreign, _ := d.token(r.clock.Read(), "umbrella", "", 0, wire.TokenAdmin)
	reader, _ := d.token(r.clock.Read(), "acme", "", 0, wire.TokenRead)
	for _, o := range r.api.Operations() {
		if o.Scope != wire.TokenRead || o.HasBody || strings.Contains(o.Path, "/snapshots") {
			continue // what is frozen is there without its agent
		}
		absent := r.ask(call{method: o.Method, path: route(o, "acme", "nobody"), token: reader}).seen()
		other := r.ask(call{method: o.Method, path: route(o, "acme", "ada"), token: foreign}).seen()
		must.Equal(t, o.ID, other, absent)
	}
}

// other is another letter.
func other(c byte) string {
	if c == 'a' {
		return "b"
	}
	return "a"
}

// Every route, with no token, and with such as are good no more: they all get
// the same answer, on open doors too.
func TestBadTokensGetInNowhere(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	now := r.clock.Read()
	revoked, id := d.token(now, "", "", 0, wire.TokenAdmin)
	must.Do(t, must.Err(d.RevokeToken(context.Background(), id)))
	expired, _ := d.token(now, "", "", time.Hour, wire.TokenAdmin)
	good, _ := d.token(now, "", "", 0, wire.TokenAdmin)
	r.clock.Forward(2 * time.Hour)
	paths := []call{{method: "GET", path: "/metrics"}, {method: "GET", path: "/health"}, {method: "POST", path: "/mcp"}, {method: "POST", path: adaPath + "/mcp"}}
	for _, o := range r.api.Operations() {
		paths = append(paths, call{method: o.Method, path: route(o, "acme", "ada"), body: `{"garbage`})
	}
	for _, c := range paths {
		c.token = revoked
		want := r.ask(c).failed(amber.KindRefused)
		if want.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", c.path)
		}
		for name, token := range map[string]string{
			"no": "-", "expired": expired, "garbage": "x", "cut": good[:len(good)-1], "longer": good + "a", "changed": good[:len(good)-9] + other(good[len(good)-9]) + good[len(good)-8:], "huge": strings.Repeat("a", 9000),
		} {
			c.token = token
			must.Equal(t, c.path+" with "+name+" token", r.ask(c).seen(), want.seen())
		}
	}
	for _, h := range []http.Header{
		servertest.Header("Authorization", "Basic cm9vdDpyb290"), servertest.Header("Authorization", "Bearer"), servertest.Header("Authorization", "Bearer  "), servertest.Header("Authorization", good),
		servertest.Header("Authorization", "Bearer "+good, "Authorization", "Bearer "+good),
	} {
		r.ask(call{method: "GET", path: "stats", token: "-", header: h}).failed(amber.KindRefused)
	}
	must.Equal(t, "agents opened", r.openings(), 0)
	r.ask(call{method: "GET", path: "stats", token: good}).want(200)
	for _, path := range []string{"/livez", "/readyz", "/openapi.json", "/docs"} {
		r.ask(call{method: "GET", path: path, token: "-"}).want(200)
	}
}

// Every route with a token that has every scope but the one it needs.
func TestWrongScopesAreRefusedAndWrittenDown(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	now := r.clock.Read()
	without := map[wire.TokenScope]string{}
	for _, s := range wire.TokenScopes() {
		rest := slices.DeleteFunc(slices.Clone(everyScope), func(x wire.TokenScope) bool { return x == s })
		without[s], _ = d.token(now, "acme", "", 0, rest...)
	}
	for _, o := range r.api.Operations() {
		before := len(r.book.Entries(0))
		a := r.ask(call{method: o.Method, path: route(o, "acme", "ada"), token: without[o.Scope], body: `{"garbage`}).failed(amber.KindRefused)
		must.Equal(t, o.ID, a.header.Get("WWW-Authenticate"), "")
		must.Says(t, o.ID, string(a.body), string(o.Scope))
		entries := r.book.Entries(before)
		if !o.Mutates && len(entries) > 0 {
			t.Errorf("%s: the audit log says %+v", o.ID, entries)
		}
		if o.Mutates && (len(entries) != 1 || entries[0].Action != o.ID || entries[0].Outcome != "refused") {
			t.Errorf("%s: the audit log says %+v", o.ID, entries)
		}
	}
	must.Equal(t, "agents opened", r.openings(), 0)
}

// A caller gets the same words about a snapshot of another agent of the tenant as about a snapshot that does not
// exist.
func TestSnapshotsOfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bobs := r.ask(call{method: "POST", path: "/v1/tenants/acme/agents/bob/snapshots", body: `{}`}).want(201).text("id")
	const nobodys = "00000000-0000-7000-8000-000000000001"
	r.keys.grants[ada] = wire.Grant{Token: "t-ada", Tenant: "acme", Agent: "ada", Scopes: wire.TokenScopes()}
	bodies := map[string]string{
		"snapshot.pin": `{"pinned":true}`, "snapshot.recall": `{"text":"x"}`, "snapshot.restore_memory": `{"memory":"` + nobodys + `"}`,
		"snapshot.verify": `{}`, "snapshot.restore": `{}`,
	}
	for _, o := range r.api.Operations() {
		if !strings.Contains(o.Path, "/snapshots/{id}") {
			continue
		}
		ask := func(id string) string {
			path := strings.Replace(strings.Replace(o.Path, "{id}", id, 1), "{memory}", nobodys, 1)
			path = strings.NewReplacer("{tenant}", "acme", "{agent}", "ada").Replace(path)
			a := r.ask(call{method: o.Method, path: path, token: ada, body: bodies[o.ID]}).failed(amber.KindNotFound)
			return strings.ReplaceAll(a.seen(), id, "ID")
		}
		must.Equal(t, o.ID, ask(bobs), ask(nobodys))
	}
	// A caller that restores into another agent must reach that one, too.
	mine := r.ask(call{method: "POST", path: "snapshots", token: ada, body: `{}`}).want(201).text("id")
	for _, to := range []string{"bob", "carol"} {
		r.ask(call{method: "POST", path: "snapshots/" + mine + "/restore", token: ada, body: `{"to":"` + to + `"}`}).failed(amber.KindNotFound)
	}
	// Recipients can read every snapshot of the tenant.
	r.ask(call{method: "POST", path: "snapshots", token: ada, body: `{"encrypt":["age1x"]}`}).failed(amber.KindNotFound)
}

// A body cannot say that it is about another tenant or agent than the path.
func TestBodiesStayWithTheirPath(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.ask(call{method: "POST", path: "snapshots", body: `{}`}).want(201).text("id")
	for path, fields := range map[string][]string{
		"snapshots":                           {"tenant", "agent"},
		"snapshots/diff":                      {"tenant", "agent"},
		"snapshots/prune":                     {"tenant", "agent"},
		"snapshots/" + id + "/verify":         {"tenant", "agent", "id"},
		"snapshots/" + id + "/restore":        {"tenant", "agent", "id"},
		"/v1/tenants/acme/gc":                 {"tenant"},
		"/v1/tenants/acme/check":              {"tenant"},
		"sessions/s1/turns":                   {"session_id"},
		"sessions/s1/end":                     {"id"},
		"tasks/t1/events":                     {"task_id"},
		"approvals/a1/decision":               {"id"},
		"snapshots/" + id + "/restore-memory": {"tenant", "agent", "id"},
	} {
		for _, f := range fields {
			a := r.ask(call{method: "POST", path: path, body: `{"` + f + `":"umbrella"}`}).failed(amber.KindInvalid)
			if !strings.Contains(string(a.body), "another "+strings.TrimSuffix(f, "_id")) && f != "id" {
				t.Errorf("%s with %s: %s", path, f, a.body)
			}
		}
	}
}

// Only callers that may see the whole machine get the answers that are about the machine.
func TestTheMachineIsNoTenantsBusiness(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) {
		o.Health = func(context.Context) wire.ServerHealth {
			return wire.ServerHealth{
				Status: amber.Degraded, Workers: []wire.WorkerHealth{{Name: "drain", LastError: "open /srv/secret", Detail: "umbrella/eve"}},
				Servers: []wire.ServerPeer{{ID: "1", Name: "east", Address: "http://10.0.0.1:7411"}},
			}
		}
	})
	r.ask(call{method: "GET", path: "doctor", token: ada}).failed(amber.KindRefused)
	for token, told := range map[string]bool{root: true, acme: false} {
		for _, path := range []string{"doctor", "/health"} {
			a := r.ask(call{method: "GET", path: path, token: token}).want(200)
			must.Equal(t, path+" as "+token, strings.Contains(string(a.body), "secret"), told)
			must.Equal(t, path+" tells of other servers to "+token, strings.Contains(string(a.body), "10.0.0.1"), told && path == "/health")
		}
	}
	// The same holds for an error of unknown origin: its text may name anything.
	broken := func(context.Context) ([]wire.JournalStatus, error) {
		return nil, amber.Errorf(amber.KindInternal, "read", "", "open /srv/secret")
	}
	r.agents["acme/ada"].Journal = broken
	for token, told := range map[string]bool{root: true, ada: false} {
		a := r.ask(call{method: "GET", path: "journal", token: token}).failed(amber.KindInternal)
		must.Equal(t, token, strings.Contains(string(a.body), "secret"), told)
	}
}

// A token sees the names of the agents that it reaches, and no others.
func TestAgentsAreListedAsFarAsTheTokenReaches(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	token := func(tenant amber.TenantID, agent amber.AgentID) string {
		secret, _ := d.token(r.clock.Read(), tenant, agent, 0, wire.TokenRead)
		return secret
	}
	const acmes, all = `{"items":[{"tenant":"acme","agent":"ada"},{"tenant":"acme","agent":"bob"}]}`, `{"items":[{"tenant":"acme","agent":"ada"},{"tenant":"acme","agent":"bob"},{"tenant":"umbrella","agent":"eve"}]}`
	for _, c := range []struct{ name, token, query, want string }{
		{"the home", token("", ""), "", all},
		{"a tenant of the home", token("", ""), "?tenant=acme", acmes},
		{"an agent of any tenant", token("", ""), "?agent=bob", `{"items":[{"tenant":"acme","agent":"bob"}]}`},
		{"the tenant", token("acme", ""), "", acmes},
		{"the agent", token("acme", "bob"), "", `{"items":[{"tenant":"acme","agent":"bob"}]}`},
		{"a tenant without agents", token("", ""), "?tenant=nosuch", `{"items":[]}`},
	} {
		a := r.ask(call{method: "GET", path: "/v1/agents" + c.query, token: c.token}).want(200)
		must.Equal(t, c.name, strings.TrimSpace(string(a.body)), c.want)
	}
	must.Equal(t, "agents opened", r.openings(), 0)
}

func TestAServerMayListNoAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Names = nil })
	r.ask(call{method: "GET", path: "/v1/agents"}).failed(amber.KindUnsupported)
}
