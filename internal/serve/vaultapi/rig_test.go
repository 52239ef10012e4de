package vaultapi_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The API keys that tests use.
const (
	ada     = "col_testkey" // reads and writes acme/ada
	adaRead = "adaread"     // reads acme/ada
	bob     = "bob"         // reads and writes acme/bob, who is not there yet
	bobRead = "bobread"     // reads acme/bob
	twin    = "twin"        // reads and writes rival/ada
	wide    = "wide"        // everything of acme
	root    = "root"        // everything
)

// world is a server with vaults on a disk, behind the guard of the HTTP API.
type world struct {
	t       testing.TB
	url     string
	client  *http.Client
	clock   *servertest.Clock
	book    *servertest.Book
	home    *home.Home
	handler http.Handler // what is served

	mu       sync.Mutex
	grants   map[string]wire.Grant
	failed   int            // tokens that were none
	routes   []string       // that Observe was called with
	statuses map[string]int // the last of each
	rates    vaultapi.Rates
	limits   shelf.Limits
	fault    func(tenant amber.TenantID) error
}

// newWorld makes a server. Options change it before it is made.
func newWorld(t testing.TB, options ...func(*vaultapi.Options)) *world {
	t.Helper()
	w := &world{
		t: t, clock: servertest.NewClock(time.Date(2026, 8, 21, 1, 2, 3, 0, time.UTC), 0), book: &servertest.Book{}, statuses: map[string]int{},
	}
	both := []wire.TokenScope{wire.TokenRead, wire.TokenWrite}
	read := both[:1]
	w.grants = map[string]wire.Grant{
		ada: {Token: "t-ada", Tenant: "acme", Agent: "ada", Scopes: both}, adaRead: {Token: "t-adaread", Tenant: "acme", Agent: "ada", Scopes: read},
		bob: {Token: "t-bob", Tenant: "acme", Agent: "bob", Scopes: both}, bobRead: {Token: "t-bobread", Tenant: "acme", Agent: "bob", Scopes: read},
		twin: {Token: "t-twin", Tenant: "rival", Agent: "ada", Scopes: both},
		wide: {Token: "t-wide", Tenant: "acme", Scopes: both}, root: {Token: "t-root", Scopes: wire.TokenScopes()},
	}
	var err error
	if w.home, _, err = home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: w.clock.Read, Random: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []amber.TenantID{"acme", "rival"} {
		w.create(tenant, "ada")
	}
	desk := &server.Desk{Agents: agents{w}, Audit: w.book, Clock: w.clock.Read}
	o := vaultapi.Options{
		Desk: desk, Grant: w.grant, Vault: w.vault, Clock: w.clock.Read, Random: rand.Reader,
		First: func(_ amber.TenantID, name, content string) error { return w.bounds().First(name, content) },
		Rates: func(amber.TenantID) vaultapi.Rates {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.rates
		},
		Answers: servertest.Ledger(t, w.clock.Read), Failed: func() { w.set(func() { w.failed++ }) },
	}
	for _, f := range options {
		f(&o)
	}
	vaults := must.Get(vaultapi.New(o))(t)
	w.serve(desk, vaults)
	return w
}

// serve listens on a port of this machine.
func (w *world) serve(desk *server.Desk, vaults *vaultapi.Handler) {
	api := must.Get(httpapi.New(httpapi.Options{
		Desk: desk, Authenticator: nobody{}, Clock: w.clock.Read, Random: rand.Reader, Vault: vaults, Hosts: []string{"127.0.0.1"},
		Observe: func(route, method string, status int, _ time.Duration, _, _ int64) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.routes = append(w.routes, method+" "+route)
			w.statuses[method+" "+route] = status
		},
	}))(w.t)
	w.handler = api.Handler()
	l, url := servertest.Listen(w.t)
	w.url, w.client = url, servertest.Serve(w.t, api.NewServer(), l, api.Close)
}

// nobody is an authenticator that refuses every caller of the rest of the API.
type nobody struct{}

func (nobody) Grant(context.Context, string) (wire.Grant, error) {
	return wire.Grant{}, amber.Errorf(amber.KindRefused, "authenticate", "", "nobody")
}

// set changes what the functions of the world answer to the server.
func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *world) grant(_ context.Context, secret string) (wire.Grant, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if g, ok := w.grants[secret]; ok {
		return g, nil
	}
	return wire.Grant{}, amber.Errorf(amber.KindRefused, "authenticate", "", "the token is not known")
}

// create makes an agent.
func (w *world) create(tenant amber.TenantID, id amber.AgentID) {
	a, err := w.home.Agent(tenant, id)
	if err == nil {
		_, _, err = a.Create(context.Background(), func(string, home.Current) error { return nil })
	}
	must.NoError(w.t, err)
}

func (w *world) bounds() shelf.Limits {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limits
}

// vault is the shelf of an agent.
func (w *world) vault(_ context.Context, tenant amber.TenantID, id amber.AgentID) (vaultapi.Store, error) {
	w.mu.Lock()
	limits, fault := w.limits, w.fault
	w.mu.Unlock()
	if fault != nil {
		if err := fault(tenant); err != nil {
			return nil, err
		}
	}
	a, err := w.home.Agent(tenant, id)
	if err != nil {
		return nil, err
	}
	if _, err := a.Current(); err != nil {
		return nil, err
	}
	return shelf.Open(a, shelf.Options{Clock: w.clock.Read, Limits: limits})
}

// agents makes agents for the desk.
type agents struct{ w *world }

func (a agents) Agent(_ context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*op.Agent, func(), error) {
	if id != "" {
		h, err := a.w.home.Agent(tenant, id)
		if err != nil {
			return nil, nil, err
		}
		if _, err := h.Current(); err != nil && !create {
			return nil, nil, op.NotThere()
		}
		if create {
			a.w.create(tenant, id)
		}
	}
	return &op.Agent{Tenant: tenant, ID: id}, func() {}, nil
}

// audit returns what was written down, as action, subject and outcome.
func (w *world) audit() (lines []string) {
	for _, e := range w.book.Entries(0) {
		lines = append(lines, strings.Join([]string{e.Actor, string(e.Tenant) + "/" + string(e.Agent), e.Action, e.Subject, e.Outcome}, " "))
	}
	return lines
}

// ask is a request; the token is shown as a bearer, "" shows none.
type ask struct {
	method, path, body, token string
	header                    http.Header
}

// reply is an answer that was read whole.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

const base = "/api/v1"

func (w *world) do(q ask) reply {
	w.t.Helper()
	return must.Get(w.try(q))(w.t)
}

// try may be called from any goroutine.
func (w *world) try(q ask) (reply, error) {
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(context.Background(), q.method, w.url+base+q.path, body)
	if err != nil {
		return reply{}, err
	}
	for name, values := range q.header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	resp, err := w.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{w.t, resp.StatusCode, resp.Header, b}, err
}

// login exchanges a key for an access token.
func (w *world) login(key string) string {
	w.t.Helper()
	b := must.Get(json.Marshal(map[string]string{"api_key": key}))(w.t)
	var got struct {
		Token string `json:"access_token"`
	}
	w.do(ask{method: "POST", path: "/auth/token", body: string(b)}).want(200).read(&got)
	return got.Token
}

// put writes a file of the bearer's.
func (w *world) put(token, name, content string) reply {
	w.t.Helper()
	return w.do(ask{method: "PUT", path: "/vault/files/" + name, body: document("content", content), token: token})
}

// document is a JSON object of texts.
func document(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts
	}
	return string(b)
}

// want fails the test unless the status is the one.
func (r reply) want(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("got status %d, want %d: %.300s", r.status, status, r.body)
	}
	return r
}

func (r reply) read(into any) {
	r.t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		r.t.Fatalf("%v: %.300s", err, r.body)
	}
}

// fails checks the status and the code of an error, and that its body has the form of the service.
func (r reply) fails(status int, code string) reply {
	r.t.Helper()
	var got struct {
		Detail struct{ Code, Message string }
	}
	if err := json.Unmarshal(r.body, &got); err != nil || r.status != status || got.Detail.Code != code || got.Detail.Message == "" {
		r.t.Errorf("got %d %.300s, want %d %s (%v)", r.status, r.body, status, code, err)
	}
	return r
}

// unfit checks that it is an error about one value.
func (r reply) unfit(where ...string) reply {
	r.t.Helper()
	var got struct {
		Detail []struct {
			Type, Msg string
			Loc       []string
		}
	}
	err := json.Unmarshal(r.body, &got)
	if err != nil || r.status != http.StatusUnprocessableEntity || len(got.Detail) != 1 || got.Detail[0].Msg == "" || got.Detail[0].Type == "" ||
		strings.Join(got.Detail[0].Loc, ".") != strings.Join(where, ".") {
		r.t.Errorf("got %d %.300s, want 422 about %v (%v)", r.status, r.body, where, err)
	}
	return r
}
