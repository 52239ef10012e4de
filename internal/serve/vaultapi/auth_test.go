package vaultapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestExchange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.do(ask{method: "POST", path: "/auth/token", body: `{"api_key":"col_testkey","totp_code":"123456"}`}).want(200)
	must.Equal(t, "Cache-Control", got.header.Get("Cache-Control"), "no-store")
	must.Hides(t, "body", string(got.body), ada)
	for _, c := range []struct {
		key, code string
		status    int
	}{{"nobody", "AUTH_INVALID_TOKEN", 401}, {wide, "AUTH_AGENT_ONLY", 403}, {root, "AUTH_AGENT_ONLY", 403}} {
		r := w.do(ask{method: "POST", path: "/auth/token", body: document("api_key", c.key)}).fails(c.status, c.code)
		if (r.header.Get("WWW-Authenticate") != "") != (c.status == 401) {
			t.Errorf("%s: %v", c.key, r.header)
		}
	}
	w.do(ask{method: "POST", path: "/auth/token", body: `{}`}).unfit("body", "api_key")
	w.do(ask{method: "POST", path: "/auth/token", body: `{"api_key":""}`}).unfit("body", "api_key")
	w.do(ask{method: "POST", path: "/auth/token", body: `{"api_key":7}`}).unfit("body", "api_key")
	w.do(ask{method: "POST", path: "/auth/token", body: document("api_key", strings.Repeat("k", 1025))}).unfit("body", "api_key")
	w.do(ask{method: "POST", path: "/auth/token"}).unfit("body")
}

// TestOnlyAccessTokensAreTaken: neither the key itself, nor a token that was
// changed, of another server, too old or one of several.
func TestOnlyAccessTokensAreTaken(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	token := w.login(ada)
	status := ask{method: "GET", path: "/vault/status"}
	bearers := map[string]http.Header{
		"none":    nil,
		"key":     servertest.Header("Authorization", "Bearer "+ada),
		"foreign": servertest.Header("Authorization", "Bearer "+other.login(ada)),
		"basic":   servertest.Header("Authorization", "Basic "+token),
		"empty":   servertest.Header("Authorization", "Bearer"),
		"two":     servertest.Header("Authorization", "Bearer "+token, "Authorization", "Bearer "+token),
		"short":   servertest.Header("Authorization", "Bearer AAAA"),
		"longer":  servertest.Header("Authorization", "Bearer "+token+"A"),
	}
	raw := must.Get(base64.RawURLEncoding.DecodeString(token))(t)
	for i := range raw {
		raw[i] ^= 1
		bearers[fmt.Sprint("flipped ", i)] = servertest.Header("Authorization", "Bearer "+base64.RawURLEncoding.EncodeToString(raw))
		raw[i] ^= 1
	}
	for name, h := range bearers {
		status.header = h
		if r := w.do(status).fails(401, "AUTH_INVALID_TOKEN"); r.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %v", name, r.header)
		}
	}
	must.Equal(t, "failures that were told of", w.failed, len(bearers))
	status.header = servertest.Header("Authorization", "bEARER  "+token+" ")
	w.do(status).want(200)
	w.clock.Forward(24*time.Hour - time.Millisecond)
	w.do(status).want(200)
	w.clock.Forward(time.Millisecond)
	w.do(status).fails(401, "AUTH_INVALID_TOKEN")
}

// TestRevokedAtOnce: an access token ends with the key it was given for, and the server checks at each request what
// the key may do.
func TestRevokedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.put(token, "a.md", "x").want(200)
	w.set(func() {
		w.grants[ada] = wire.Grant{Token: "t-ada", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead}}
	})
	w.put(token, "a.md", "y").fails(403, "FORBIDDEN")
	w.set(func() { w.grants[ada] = wire.Grant{Token: "t-ada", Tenant: "acme", Scopes: wire.TokenScopes()} })
	w.put(token, "a.md", "y").fails(403, "AUTH_AGENT_ONLY")
	w.set(func() { delete(w.grants, ada) })
	w.put(token, "a.md", "y").fails(401, "AUTH_TOKEN_REVOKED")
	w.do(ask{method: "GET", path: "/vault/status", token: token}).fails(401, "AUTH_TOKEN_REVOKED")
}

func TestScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full, reader := w.login(ada), w.login(adaRead)
	w.put(full, "a.md", "text to find").want(200)
	for _, q := range []ask{
		{method: "PUT", path: "/vault/files/a.md", body: document("content", "y")},
		{method: "DELETE", path: "/vault/files/a.md"},
		{method: "POST", path: "/vault/files/a.md/append", body: document("content", "y")},
		{method: "POST", path: "/vault/files/a.md/move", body: document("destination", "b.md")},
		{method: "POST", path: "/vault/files/a.md/copy", body: document("destination", "b.md")},
	} {
		q.token = reader
		w.do(q).fails(403, "FORBIDDEN")
	}
	for _, path := range []string{"/vault/status", "/vault/files", "/vault/files/a.md", "/vault/search?q=find", "/vault/folders", "/vault/export"} {
		w.do(ask{method: "GET", path: path, token: reader}).want(200)
	}
	var got struct {
		Capabilities []struct {
			Name, Reason, Requirement string
			Allowed                   bool
		}
	}
	w.do(ask{method: "GET", path: "/me/capabilities", token: reader}).want(200).read(&got)
	if c := got.Capabilities; len(c) != 1 || c[0].Name != "write_vault" || c[0].Allowed || c[0].Reason == "" || c[0].Requirement == "" {
		t.Errorf("%+v", got)
	}
	if lines := w.audit(); len(lines) != 6 || !strings.HasSuffix(lines[1], "vault.put a.md refused") {
		t.Errorf("%q", lines)
	}
}

// TestVaultsAreApart: another agent, and one of the same name of another tenant,
// see nothing of a vault.
func TestVaultsAreApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(w.login(ada), "secret.md", "the plan of ada").want(200)
	for _, key := range []string{bob, twin} {
		token := w.login(key)
		w.do(ask{method: "GET", path: "/vault/files/secret.md", token: token}).fails(404, "NOT_FOUND")
		w.do(ask{method: "DELETE", path: "/vault/files/secret.md", token: token}).fails(404, "NOT_FOUND")
		w.do(ask{method: "POST", path: "/vault/files/secret.md/copy", body: document("destination", "b.md"), token: token}).fails(404, "NOT_FOUND")
		for _, path := range []string{"/vault/status", "/vault/files", "/vault/search?q=plan", "/vault/folders", "/vault/export"} {
			must.Hides(t, key, string(w.do(ask{method: "GET", path: path, token: token}).want(200).body), "secret")
		}
		w.put(token, "secret.md", "mine").want(200)
	}
	r := w.do(ask{method: "GET", path: "/vault/files/secret.md", token: w.login(ada)}).want(200)
	must.Says(t, "the answer", string(r.body), "the plan of ada")
}

// TestAnAgentThatIsNotThere is made by a caller that may write, and has an empty vault
// for one that may only read.
func TestAnAgentThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.login(bobRead)
	for path, want := range map[string]string{
		"/vault/status":      `{"quota_bytes":0,"used_bytes":0,"available_bytes":0,"file_count":0}`,
		"/vault/files":       `{"items":[],"total":0,"files":[],"has_more":false}`,
		"/vault/search?q=aa": `{"items":[],"total":0}`,
		"/vault/folders":     `{"items":[],"total":0}`,
	} {
		must.Equal(t, path, string(w.do(ask{method: "GET", path: path, token: reader}).want(200).body), want)
	}
	w.do(ask{method: "GET", path: "/vault/export", token: reader}).want(200)
	w.do(ask{method: "GET", path: "/vault/files/a.md", token: reader}).fails(404, "NOT_FOUND")
	w.put(reader, "a.md", "x").fails(403, "FORBIDDEN")
	w.put(w.login(bob), "a.md", "x").want(200)
	w.do(ask{method: "GET", path: "/vault/files/a.md", token: reader}).want(200)
	lines := w.audit()
	if len(lines) != 3 || lines[1] != "t-bob acme/bob agent.create  ok" || lines[2] != "t-bob acme/bob vault.put a.md ok" {
		t.Errorf("%q", lines)
	}
}

// TestWhatIsRefusedMakesNoAgent: neither a deletion nor a file that is not taken
// makes the agent whose vault it would be; each is in the audit log.
func TestWhatIsRefusedMakesNoAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limits = shelf.Limits{Quota: 50, MaxFile: 40, Extensions: []string{".md"}}
	token := w.login(bob)
	put := func(name, body string, h ...string) reply {
		return w.do(ask{method: "PUT", path: "/vault/files/" + name, body: body, token: token, header: servertest.Header(h...)})
	}
	file := document("content", "x")
	w.do(ask{method: "DELETE", path: "/vault/files/a.md", token: token}).fails(404, "NOT_FOUND")
	for _, how := range []string{"copy", "move"} {
		w.do(ask{method: "POST", path: "/vault/files/a.md/" + how, body: document("destination", "b.md"), token: token}).fails(404, "NOT_FOUND")
	}
	w.do(ask{method: "POST", path: "/vault/files/a.exe/append", body: file, token: token}).fails(400, "INVALID_INPUT")
	w.do(ask{method: "POST", path: "/vault/files/a.md/append", body: file, token: token, header: servertest.Header("If-Match", "*")}).fails(400, "INVALID_INPUT")
	put("a.md", "{}").unfit("body", "content")
	put("a.exe", file).fails(400, "INVALID_INPUT")
	put("../a.md", file).fails(400, "INVALID_INPUT")
	put("a.md", document("content", strings.Repeat("x", 41))).fails(400, "QUOTA_EXCEEDED")
	put("a.md", file, "If-Match", "what").fails(400, "INVALID_INPUT")
	put("a.md", file, "If-Match", "*").fails(412, "PRECONDITION_FAILED")
	put("a.md", file, "If-Match", tag("x")).fails(412, "PRECONDITION_FAILED")
	agent := must.Get(w.home.Agent("acme", "bob"))(t)
	must.Kind(t, "the agent", must.Err(agent.Current()), amber.KindNotFound)
	lines := strings.Join(w.audit(), "\n")
	if strings.Contains(lines, "agent.create") || strings.Count(lines, "\n") != 11 || !strings.Contains(lines, "t-bob acme/bob vault.delete a.md not_found") {
		t.Errorf("%s", lines)
	}
	put("a.md", file, "If-None-Match", "*").want(200)
	w.do(ask{method: "GET", path: "/vault/files/a.md", token: token}).want(200)
}

// TestWhoMayNotReadIsToldNoDigest: a caller that may not read appends to a file, moves and copies it. The answers
// have the name of the file, and neither its size nor its tag, from which the caller could guess the content. It
// does not get the answer either that another caller got for the same key.
func TestWhoMayNotReadIsToldNoDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set(func() {
		w.grants["adawrite"] = wire.Grant{Token: "t-write", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenWrite}}
	})
	reader, blind := w.login(ada), w.login("adawrite")
	w.put(reader, "pin.md", "4711").want(200)
	more := keyed(ask{method: "POST", path: "/vault/files/pin.md/append", body: document("content", "."), token: reader}, "k")
	w.do(more).want(200)
	more.token = blind
	w.do(more).fails(409, "idempotency_payload_mismatch")
	for _, q := range []ask{
		{method: "POST", path: "/vault/files/pin.md/append", body: document("content", "."), token: blind},
		{method: "POST", path: "/vault/files/pin.md/copy", body: document("destination", "b.md"), token: blind},
		{method: "POST", path: "/vault/files/pin.md/move", body: document("destination", "c.md"), token: blind},
	} {
		a := w.do(q).want(200)
		if got := string(a.body); a.header.Get("ETag") != "" || !strings.HasPrefix(got, `{"filename":`) || strings.Contains(got, "size") {
			t.Errorf("%s: tag %q, %s", q.path, a.header.Get("ETag"), got)
		}
	}
	own := w.do(ask{method: "PUT", path: "/vault/files/own.md", body: document("content", "mine"), token: blind}).want(200)
	if own.header.Get("ETag") == "" {
		t.Errorf("what was written has no tag: %s", own.body)
	}
}

// TestFirstVersionOfTheClient answers so that colony-memory 0.1.0 can begin: it
// looks only at what is available, and for files where there are items.
func TestFirstVersionOfTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *vaultapi.Options) {
		o.Room = func(amber.TenantID) int64 { return 1234 }
	})
	token := w.login(bob)
	if got, want := string(w.do(ask{method: "GET", path: "/vault/status", token: token}).want(200).body),
		`{"quota_bytes":1234,"used_bytes":0,"available_bytes":1234,"file_count":0}`; got != want {
		t.Errorf("nobody has written: %s, want %s", got, want)
	}
	w.put(token, "a.md", "text").want(200)
	var s struct {
		Quota     int64 `json:"quota_bytes"`
		Available int64 `json:"available_bytes"`
	}
	if err := json.Unmarshal(w.do(ask{method: "GET", path: "/vault/status", token: token}).want(200).body, &s); err != nil || s.Quota == 0 || s.Available != s.Quota-4 {
		t.Errorf("after a write: %+v, %v", s, err)
	}
	var l struct {
		Files []string
	}
	if err := json.Unmarshal(w.do(ask{method: "GET", path: "/vault/files", token: token}).want(200).body, &l); err != nil || len(l.Files) != 1 || l.Files[0] != "a.md" {
		t.Errorf("files: %+v, %v", l, err)
	}
}
