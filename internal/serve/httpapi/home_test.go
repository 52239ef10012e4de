package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// household is a rig with everything of a home in one database, and a token for each
// part of it.
type household struct {
	*rig
	door
	dir                    string
	all, acme, ada, reader string // admins of the home, of acme and of acme/ada; reads acme
	ids                    map[string]wire.TokenID
}

func newHousehold(t testing.TB) household {
	t.Helper()
	h := household{dir: t.TempDir(), ids: map[string]wire.TokenID{}}
	h.rig = newRig(t, func(r *rig, o *httpapi.Options) {
		db := must.Get(ledger.Open(context.Background(), filepath.Join(h.dir, "home.db"), ledger.Options{Clock: r.clock.Read, Random: rand.Reader}))(t)
		t.Cleanup(func() { must.NoError(t, db.Close()) })
		h.door = door{db, t}
		o.Authenticator, o.Answers, o.Tokens, o.Desk.Audit = h.door, h.door, h.door, h.door
	})
	now := h.clock.Read()
	h.all, h.ids["all"] = h.token(now, "", "", 0, wire.TokenAdmin)
	h.acme, h.ids["acme"] = h.token(now, "acme", "", 0, wire.TokenAdmin)
	h.ada, h.ids["ada"] = h.token(now, "acme", "ada", 0, wire.TokenAdmin)
	h.reader, h.ids["reader"] = h.token(now, "acme", "", 0, wire.TokenRead)
	return h
}

func (h household) read(token, path string) reply {
	h.rig.t.Helper()
	return h.ask(call{method: "GET", path: path, token: token})
}

func (h household) create(token, body string, header ...string) reply {
	h.rig.t.Helper()
	return h.ask(call{method: "POST", path: "/v1/tokens", token: token, body: body, header: servertest.Header(header...)})
}

func (h household) revoke(token, id string) reply {
	h.rig.t.Helper()
	return h.ask(call{method: "DELETE", path: "/v1/tokens/" + id, token: token})
}

func pageOf[T any](a reply) amber.Page[T] {
	a.t.Helper()
	var p amber.Page[T]
	must.Do(a.t, json.Unmarshal(a.want(200).body, &p))
	return p
}

// about says whom entries are about, oldest first.
func about(entries []wire.AuditEntry) (out []string) {
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s/%s", e.Tenant, e.Agent), "/"))
	}
	slices.Reverse(out)
	return out
}

// live writes one memory of each agent.
func (h household) live() {
	h.rig.t.Helper()
	for _, agent := range []string{"acme/agents/ada", "acme/agents/bob", "umbrella/agents/eve"} {
		h.ask(call{method: "POST", path: "/v1/tenants/" + agent + "/memories", token: h.all, body: `{"content":"x"}`}).want(201)
	}
}

func TestTheAuditLogShowsATokenItsOwnPart(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.live()
	for token, want := range map[string][]string{
		h.all: {"acme/ada", "acme/bob", "umbrella/eve"}, h.acme: {"acme/ada", "acme/bob"}, h.ada: {"acme/ada"},
	} {
		page := pageOf[wire.AuditEntry](h.read(token, "/v1/audit"))
		must.Equal(t, "entries", about(page.Items), want)
		for _, e := range page.Items {
			if (e.Hash == "" || e.Prev == "") != (token != h.all) {
				t.Errorf("the hashes of %s/%s are %q and %q", e.Tenant, e.Agent, e.Prev, e.Hash)
			}
		}
	}
	for path, want := range map[string][]string{
		"/v1/audit?tenant=umbrella":                            {"umbrella/eve"},
		"/v1/audit?tenant=acme&agent=bob":                      {"acme/bob"},
		"/v1/audit?agent=eve":                                  {"umbrella/eve"},
		"/v1/audit?actor=" + string(h.ids["all"]):              {"acme/ada", "acme/bob", "umbrella/eve"},
		"/v1/audit?actor=" + string(h.ids["ada"]):              nil,
		"/v1/audit?action=memory.write&tenant=acme&agent=ada":  {"acme/ada"},
		"/v1/audit?action=memory.erase":                        nil,
		"/v1/audit?since=2099-01-01T00:00:00Z":                 nil,
		"/v1/audit?since=2020-01-01T00:00:00Z&limit=999999999": {"acme/ada", "acme/bob", "umbrella/eve"},
		"/v1/audit?tenant=nobody":                              nil,
	} {
		must.Equal(t, path, about(pageOf[wire.AuditEntry](h.read(h.all, path)).Items), want)
	}
	must.Equal(t, "own agent without its tenant", about(pageOf[wire.AuditEntry](h.read(h.ada, "/v1/audit?agent=ada")).Items), []string{"acme/ada"})
	want := h.read(h.ada, "/v1/audit?tenant=nosuch&agent=nobody").failed(amber.KindNotFound).seen()
	for _, query := range []string{"tenant=umbrella", "tenant=umbrella&agent=eve", "agent=bob", "tenant=acme&agent=bob", "agent=eve"} {
		must.Equal(t, query, h.read(h.ada, "/v1/audit?"+query).seen(), want)
	}
	h.read(h.reader, "/v1/audit").failed(amber.KindRefused)
}

func TestTheAuditLogHasPages(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.live()
	h.live()
	var all []wire.AuditEntry
	cursor := ""
	for range 4 {
		page := pageOf[wire.AuditEntry](h.read(h.acme, "/v1/audit?limit=1&cursor="+cursor))
		must.Equal(t, "entries of a page", len(page.Items), 1)
		all, cursor = append(all, page.Items...), string(page.Next)
	}
	must.Equal(t, "the cursor at the end", cursor, "")
	must.Equal(t, "entries", about(all), []string{"acme/ada", "acme/bob", "acme/ada", "acme/bob"})
	lines := h.ask(call{method: "GET", path: "/v1/audit", token: h.acme, header: servertest.Header("Accept", "application/x-ndjson")}).want(200)
	must.Equal(t, "lines", bytes.Count(lines.body, []byte("\n")), 4)
	must.Hold(t, !bytes.Contains(lines.body, []byte("umbrella")) && !bytes.Contains(lines.body, []byte(`"hash"`)), "lines: %s", lines.body)
	for _, query := range []string{"limit=-1", "limit=0", "limit=99999999999999999999", "cursor=x", "cursor=YXVkaXQKMQ%3D", "cursor=" + strings.Repeat("a", 5000), "since=yesterday", "tenant=a&tenant=b", "actor=%ff"} {
		h.read(h.all, "/v1/audit?"+query).failed(amber.KindInvalid)
	}
	for _, query := range []string{"tenant=..%2Fx", "tenant=acme&agent=..%2Fx", "agent=..%2Fx"} {
		h.read(h.all, "/v1/audit?"+query).failed(amber.KindInvalid)
		h.read(h.all, "/v1/tokens?"+query).failed(amber.KindInvalid)
	}
}

func TestTheChainIsVerifiedForTheWholeHome(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.live()
	a := h.ask(call{method: "POST", path: "/v1/audit/verify", token: h.all}).want(200)
	var report wire.AuditReport
	must.Do(t, json.Unmarshal(a.body, &report))
	must.Hold(t, report.OK() && report.Entries == 3 && len(report.Head) == 64, "report: %s", a.body)
	for _, token := range []string{h.acme, h.ada} {
		refused := h.ask(call{method: "POST", path: "/v1/audit/verify", token: token}).failed(amber.KindRefused)
		must.Says(t, "", string(refused.body), "every tenant")
	}
	must.Equal(t, "entries after looking", len(pageOf[wire.AuditEntry](h.read(h.all, "/v1/audit")).Items), 3)
}

func TestATokenMakesNoneThatIsBroader(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	now := h.clock.Read()
	short, _ := h.token(now, "acme", "", time.Hour, wire.TokenAdmin)
	soon, late := amber.At(now.Add(time.Minute)).String(), amber.At(now.Add(2*time.Hour)).String()
	for _, c := range []struct {
		token, body string
		want        amber.Kind // "": it is made
	}{
		{h.all, `{"name":"x","scopes":["admin"]}`, ""},
		{h.all, `{"name":"x","scopes":["read","write"],"tenant":"umbrella","agent":"eve"}`, ""},
		{h.acme, `{"name":"x","scopes":["admin"],"tenant":"acme"}`, ""},
		{h.acme, `{"name":"x","scopes":["read"],"tenant":"acme","agent":"new"}`, ""},
		{h.acme, `{"name":"x","scopes":["read"]}`, amber.KindRefused},
		{h.acme, `{"name":"x","scopes":["read"],"tenant":"umbrella"}`, amber.KindNotFound},
		{h.acme, `{"name":"x","scopes":["read"],"tenant":"umbrella","agent":"eve"}`, amber.KindNotFound},
		{h.ada, `{"name":"x","scopes":["erase"],"tenant":"acme","agent":"ada"}`, ""},
		{h.ada, `{"name":"x","scopes":["read"],"tenant":"acme"}`, amber.KindRefused},
		{h.ada, `{"name":"x","scopes":["read"]}`, amber.KindRefused},
		{h.ada, `{"name":"x","scopes":["read"],"tenant":"acme","agent":"bob"}`, amber.KindNotFound},
		{h.ada, `{"name":"x","scopes":["read"],"tenant":"nosuch"}`, amber.KindNotFound},
		{h.reader, `{"name":"x","scopes":["read"],"tenant":"acme"}`, amber.KindRefused},
		{short, `{"name":"x","scopes":["read"],"tenant":"acme","expires_at":"` + soon + `"}`, ""},
		{short, `{"name":"x","scopes":["read"],"tenant":"acme","expires_at":"` + late + `"}`, amber.KindRefused},
		{short, `{"name":"x","scopes":["read"],"tenant":"acme"}`, amber.KindRefused},
		{h.all, `{"name":"x","scopes":[]}`, amber.KindInvalid},
		{h.all, `{"name":"x","scopes":["root"]}`, amber.KindInvalid},
		{h.all, `{"name":"","scopes":["read"]}`, amber.KindInvalid},
		{h.all, `{"name":"` + strings.Repeat("x", 101) + `","scopes":["read"]}`, amber.KindInvalid},
		{h.all, `{"name":"x","scopes":["read"],"agent":"ada"}`, amber.KindInvalid},
		{h.all, `{"name":"x","scopes":["read"],"tenant":"../x"}`, amber.KindInvalid},
		{h.all, `{"name":"x","scopes":["read"],"expires_at":"2001-01-01T00:00:00Z"}`, amber.KindInvalid},
	} {
		before := len(must.Get(h.ListTokens(t.Context(), ""))(t))
		a := h.create(c.token, c.body)
		made := len(must.Get(h.ListTokens(t.Context(), ""))(t)) - before
		if c.want != "" {
			a.failed(c.want)
			must.Equal(t, c.body, made, 0)
			continue
		}
		must.Equal(t, c.body, made, 1)
		grant := must.Get(h.Authenticate(t.Context(), a.want(201).text("secret")))(t)
		must.Equal(t, "id", string(grant.Token), a.text("id"))
		e := pageOf[wire.AuditEntry](h.read(h.all, "/v1/audit?limit=1")).Items[0]
		if e.Action != "token.create" || e.Subject != a.text("id") || e.Tenant != grant.Tenant || e.Agent != grant.Agent || e.Outcome != "ok" {
			t.Errorf("the audit log says %+v", e)
		}
	}
}

// names are the tokens of a listing, by who holds them.
func (h household) listed(a reply) (out []string) {
	for _, t := range pageOf[wire.Token](a).Items {
		for name, id := range h.ids {
			if id == t.ID {
				out = append(out, name)
			}
		}
	}
	return out
}

func TestATokenSeesAndRevokesNoneThatReachesFarther(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	_, h.ids["eve"] = h.token(h.clock.Read(), "umbrella", "eve", 0, wire.TokenRead)
	for token, want := range map[string][]string{
		h.all: {"all", "acme", "ada", "reader", "eve"}, h.acme: {"acme", "ada", "reader"}, h.ada: {"ada"},
	} {
		a := h.read(token, "/v1/tokens")
		must.Equal(t, "tokens", h.listed(a), want)
		must.Hold(t, !bytes.Contains(a.body, []byte("secret")) && !bytes.Contains(a.body, []byte("amber_")), "a listing: %s", a.body)
	}
	must.Equal(t, "of an agent", h.listed(h.read(h.all, "/v1/tokens?tenant=acme&agent=ada")), []string{"ada"})
	must.Equal(t, "of a tenant", h.listed(h.read(h.all, "/v1/tokens?tenant=umbrella")), []string{"eve"})
	h.read(h.acme, "/v1/tokens?tenant=umbrella").failed(amber.KindNotFound)
	want := h.revoke(h.ada, "aaaaaaaa").failed(amber.KindNotFound).seen()
	for _, id := range []string{string(h.ids["all"]), string(h.ids["acme"]), string(h.ids["eve"]), "x", strings.Repeat("a", 300), h.acme} {
		must.Equal(t, "revoking another's", h.revoke(h.ada, id).seen(), want)
	}
	for _, e := range pageOf[wire.AuditEntry](h.read(h.all, "/v1/audit?action=token.revoke")).Items {
		must.Hold(t, e.Outcome == "not_found" && e.Subject == "", "the audit log says %+v", e)
	}
	first := h.revoke(h.acme, string(h.ids["reader"])).want(200)
	h.read(h.reader, adaPath+"/stats").failed(amber.KindRefused)
	h.clock.Forward(time.Hour)
	must.Equal(t, "revoked twice", h.revoke(h.acme, string(h.ids["reader"])).text("revoked_at"), first.text("revoked_at"))
	e := pageOf[wire.AuditEntry](h.read(h.acme, "/v1/audit?limit=1")).Items[0]
	must.Hold(t, e.Action == "token.revoke" && e.Subject == string(h.ids["reader"]) && e.Tenant == "acme" && e.Actor == string(h.ids["acme"]), "the audit log says %+v", e)
	h.revoke(h.ada, string(h.ids["ada"])).want(200) // its own
	h.read(h.ada, "/v1/tokens").failed(amber.KindRefused)
}

func TestASecretIsShownOnceAndStoredNowhere(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const body = `{"name":"ci","scopes":["read"],"tenant":"acme"}`
	made := h.create(h.acme, body, "Idempotency-Key", "k").want(201)
	again := h.create(h.acme, body, "Idempotency-Key", "k").want(201)
	must.Equal(t, "id", again.text("id"), made.text("id"))
	must.Equal(t, "secret", again.text("secret"), "")
	must.Equal(t, "replayed", again.header.Get("Idempotent-Replayed"), "true")
	h.create(h.acme, `{"name":"other","scopes":["read"],"tenant":"acme"}`, "Idempotency-Key", "k").failed(amber.KindConflict)
	other, _ := h.token(h.clock.Read(), "acme", "", 0, wire.TokenAdmin)
	h.create(other, body, "Idempotency-Key", "k").failed(amber.KindConflict)
	must.Hold(t, h.create(h.all, body, "Idempotency-Key", "k").want(201).text("id") != made.text("id"), "the key of a tenant is one of the home")
	secret := []byte(made.text("secret")[len("amber_")+9:])
	for _, e := range must.Get(os.ReadDir(h.dir))(t) {
		if e.IsDir() {
			continue
		}
		b := must.Get(os.ReadFile(filepath.Join(h.dir, e.Name())))(t)
		must.Hold(t, !bytes.Contains(b, secret), "%s holds a secret", e.Name())
	}
	gone := h.ask(call{method: "DELETE", path: "/v1/tokens/" + made.text("id"), token: h.acme, header: keyed("r")}).want(200)
	must.Equal(t, "revoked again", string(h.ask(call{method: "DELETE", path: "/v1/tokens/" + made.text("id"), token: h.acme, header: keyed("r")}).want(200).body), string(gone.body))
}

// A token whose making could not be written down is not left behind.
func TestATokenThatIsNotWrittenDownIsRevoked(t *testing.T) {
	t.Parallel()
	var d door
	r := newRig(t, func(r *rig, o *httpapi.Options) {
		d = newDoor(t, r.clock.Read)
		o.Tokens = d
		r.keys.grants[root] = wire.Grant{Scopes: wire.TokenScopes()} // who needs no token
	})
	r.book.Break(amber.Errorf(amber.KindInternal, "write", "", "disk full"))
	a := r.ask(call{method: "POST", path: "/v1/tokens", body: `{"name":"x","scopes":["read"]}`}).failed(amber.KindInternal)
	must.Hold(t, !bytes.Contains(a.body, []byte("amber_")), "the answer: %s", a.body)
	tokens := must.Get(d.ListTokens(t.Context(), ""))(t)
	must.Hold(t, len(tokens) == 1 && !tokens[0].RevokedAt.IsZero(), "tokens: %+v", tokens)
	r.book.Break(nil)
	r.ask(call{method: "POST", path: "/v1/tokens", body: `{"name":"x","scopes":["admin"]}`}).want(201)
}

func TestAServerWithoutALedgerSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Tokens, o.Desk.Audit = nil, nil })
	for _, c := range []call{
		{method: "GET", path: "/v1/audit"},
		{method: "POST", path: "/v1/audit/verify"},
		{method: "GET", path: "/v1/tokens"},
		{method: "POST", path: "/v1/tokens", body: `{"name":"x","scopes":["read"]}`},
		{method: "DELETE", path: "/v1/tokens/aaaaaaaa"},
	} {
		r.ask(c).failed(amber.KindUnsupported)
	}
}
