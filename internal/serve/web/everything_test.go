package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// askingRig is a rig whose page may ask everything, with a memory of a project that no visitor names.
func askingRig(t *testing.T, open bool) *rig {
	t.Helper()
	r := newRigWith(t, t.TempDir(), open, func(o *httpapi.Options, w *web.Options) { w.Ask = o.Desk.Ask })
	store := r.store("acme", "ada")
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "The canary of harbour sings on Fridays", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "harbour"}}))(t)
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "The newest memory is of tidewatch", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "tidewatch"}}))(t)
	return r
}

// The owner asks everything by the field of the page, without a choice.
func TestThePageAsksEverything(t *testing.T) {
	t.Parallel()
	b := askingRig(t, true).visitor("")
	a := b.get("recall?q=canary+sings")
	a.mustShow(t, "sings on Fridays", "amber ask 'canary sings'")
	must.Says(t, "page", a.body, "<h3>harbour</h3>", `<option value="*" selected>everything</option>`)
	b.get("recall?q=canary+sings&project=tidewatch").mustNotShow(t, "sings on Fridays")
	b.get("recall?q=canary+sings&project=").mustNotShow(t, "sings on Fridays")
	b.get("recall?q=canary+sings&project=*&context=1").mustNotShow(t, "sings on Fridays")
}

// No token but the owner's asks everything by the page: not one that reads, not one that is bound, not one of another agent.
func TestNoOtherTokenAsksEverythingByThePage(t *testing.T) {
	t.Parallel()
	r := askingRig(t, false)
	every := wire.TokenScopes()
	for secret, g := range map[string]wire.Grant{
		"reads":       {Token: "t-1", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead}},
		"writes":      {Token: "t-2", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite, wire.TokenErase, wire.TokenSnapshot, wire.TokenApprove}},
		"bound":       {Token: "t-3", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenOwn}, Bound: wire.Bound{Project: "tidewatch"}},
		"bound-admin": {Token: "t-4", Tenant: "acme", Agent: "ada", Scopes: every, Bound: wire.Bound{User: "eve"}},
		"other-agent": {Token: "t-5", Tenant: "acme", Agent: "bob", Scopes: every},
		"owner":       {Token: "t-6", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenOwn}},
	} {
		r.keys.mu.Lock()
		r.keys.grants[secret] = g
		r.keys.mu.Unlock()
		b := r.visitor(secret)
		for _, query := range []string{"recall?q=canary+sings", "recall?q=canary+sings&project=*", "recall?q=canary+sings&project=*&trusted=1", "recall?q=canary+sings&project=%2A&as_of=x"} {
			a := b.get(query)
			if secret == "owner" && query[len(query)-4:] != "of=x" {
				a.mustShow(t, "sings on Fridays")
				continue
			}
			must.Hides(t, secret, a.body, "sings on Fridays", `value="*"`)
		}
	}
}

// The API has no question to everything, for a token of any scope: no route, and no field of a query.
func TestNoRequestAsksEverything(t *testing.T) {
	t.Parallel()
	r := askingRig(t, true)
	for _, body := range []string{
		`{"text":"canary sings"}`, `{"text":"canary sings","all":true}`, `{"text":"canary sings","everything":true}`, `{"text":"canary sings","leave":{"given":true}}`,
		`{"text":"canary sings","Leave":{}}`, `{"text":"canary sings","project_id":"*"}`, `{"text":"canary sings","scope":"project","project_id":"*"}`,
	} {
		for _, path := range []string{"recall", "ask", "memories/ask", "memory.ask"} {
			resp := must.Get(http.Post(r.url+"/v1/tenants/acme/agents/ada/"+path, "application/json", strings.NewReader(body)))(t)
			answer := must.Get(io.ReadAll(resp.Body))(t)
			must.Do(t, resp.Body.Close())
			must.Hides(t, path+" "+body, string(answer), "Fridays")
		}
	}
}
