package web_test

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// The secrets that all tests use.
const (
	root    = "root"    // everything
	ada     = "ada"     // every scope but admin, for acme/ada
	adaRead = "adaread" // reads acme/ada
	acme    = "acme"    // admin of the tenant acme
	eve     = "eve"     // every scope, for umbrella/eve
)

// keyring knows secrets, and can forget them. Where it is open, a caller needs none.
type keyring struct {
	mu     sync.Mutex
	open   bool
	grants map[string]wire.Grant
	tokens wire.Tokens // knows other secrets; nil: there are none
}

func newKeyring() *keyring {
	return &keyring{grants: map[string]wire.Grant{
		root:    {Token: "t-root", Name: "root", Scopes: []wire.TokenScope{wire.TokenAdmin}},
		ada:     {Token: "t-ada", Name: "ada", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite, wire.TokenSnapshot, wire.TokenRestore, wire.TokenErase, wire.TokenApprove}},
		adaRead: {Token: "t-read", Name: "reader", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead}},
		acme:    {Token: "t-acme", Name: "acme", Tenant: "acme", Scopes: []wire.TokenScope{wire.TokenAdmin}},
		eve:     {Token: "t-eve", Name: "eve", Tenant: "umbrella", Agent: "eve", Scopes: wire.TokenScopes()},
	}}
}

func (k *keyring) revoke(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.grants, secret)
}

func (k *keyring) Grant(ctx context.Context, secret string) (wire.Grant, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.grants[secret]; k.tokens != nil && !known {
		return k.fromTokens(ctx, secret)
	}
	if secret == "" && k.open {
		return wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}}, nil
	}
	if g, ok := k.grants[secret]; ok {
		return g, nil
	}
	return wire.Grant{}, amber.Errorf(amber.KindRefused, "authenticate", "", "the token is not known")
}

// fromTokens asks the tokens as the program does: a caller needs no token before there is one.
func (k *keyring) fromTokens(ctx context.Context, secret string) (wire.Grant, error) {
	all, err := k.tokens.ListTokens(ctx, "")
	if err == nil && len(all) == 0 && secret == "" && k.open {
		return wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}}, nil
	}
	return k.tokens.Authenticate(ctx, secret)
}

// rig is a server on a port of this machine with the page, and with the agents acme/ada,
// acme/bob and umbrella/eve in a home on disk.
type rig struct {
	t      testing.TB
	home   string
	url    string
	keys   *keyring
	ledger *ledger.DB
	api    *httpapi.API
	page   *web.Page
	http   *http.Server
	bus    *events.Bus

	mu   sync.Mutex
	open map[server.AgentName]*agent.Agent
}

// newRig serves a new home to visitors who need no token; locked makes them log in.
func newRig(t testing.TB) *rig { return newRigIn(t, t.TempDir(), true) }

func newLockedRig(t testing.TB) *rig { return newRigIn(t, t.TempDir(), false) }

func newRigIn(t testing.TB, home string, open bool) *rig {
	t.Helper()
	return newRigWith(t, home, open, func(*httpapi.Options, *web.Options) {})
}

// newRigWith lets a test change the options of the API and of the page.
func newRigWith(t testing.TB, home string, open bool, change func(*httpapi.Options, *web.Options)) *rig {
	t.Helper()
	r := &rig{t: t, home: home, keys: newKeyring(), open: map[server.AgentName]*agent.Agent{}, bus: &events.Bus{}}
	r.keys.open = open
	r.ledger = servertest.Ledger(t, time.Now)
	pool := server.NewPool(r.openAgent, server.PoolOptions{Clock: time.Now})
	o := httpapi.Options{
		Desk:          &server.Desk{Agents: pool, Audit: r.ledger, Clock: time.Now},
		Authenticator: r.keys, Clock: time.Now, Random: rand.Reader, Version: "test", Answers: r.ledger, Tokens: r.ledger, Names: r.names, Metrics: func(w http.ResponseWriter, q *http.Request, _ op.Caller) { r.metrics(w, q) },
	}
	w := web.Options{Authenticator: r.keys, Clock: time.Now, Random: rand.Reader, Version: "test", Insecure: true}
	change(&o, &w)
	r.api = must.Get(httpapi.New(o))(t)
	w.API = r.api.Handler()
	r.page = web.New(w)
	r.api.ServePage(r.page)
	r.http = r.api.NewServer()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		must.NoError(t, r.page.Close(ctx))
		must.NoError(t, pool.Close(ctx))
	})
	l, at := servertest.Listen(t)
	r.url = at
	servertest.Serve(t, r.http, l, r.api.Close)
	for _, n := range []server.AgentName{{Tenant: "acme", Agent: "ada"}, {Tenant: "acme", Agent: "bob"}, {Tenant: "umbrella", Agent: "eve"}} {
		a, release, err := pool.Agent(t.Context(), n.Tenant, n.Agent, true)
		must.Do(t, err)
		_ = a
		release()
	}
	return r
}

// names are those of the agents of the home, sorted.
func (r *rig) names(context.Context, amber.TenantID) (names []server.AgentName, err error) {
	paths, err := filepath.Glob(r.home + "/tenants/*/agents/*")
	for _, p := range paths {
		tenant := filepath.Base(filepath.Dir(filepath.Dir(p)))
		names = append(names, server.AgentName{Tenant: amber.TenantID(tenant), Agent: amber.AgentID(filepath.Base(p))})
	}
	return names, err
}

// openAgent opens an agent for the pool, as the program does.
func (r *rig) openAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*op.Agent, func() error, error) {
	nothing := func() error { return nil }
	if id == "" {
		closed, err := agent.At(r.options(tenant, amber.DefaultAgent))
		if err != nil {
			return nil, nil, err
		}
		snaps, err := closed.Snapshots(ctx)
		if err != nil {
			return nil, nil, err
		}
		served := &op.Agent{Tenant: tenant, Random: rand.Reader, Snapshots: snaps}
		served.Repository, _ = snaps.(wire.RepositoryChecker)
		served.Generations, _ = snaps.(wire.GenerationReader)
		served.Consolidations, _ = snaps.(wire.Consolidator)
		return served, closed.Close, nil
	}
	if !create {
		if _, err := os.Stat(r.home + "/tenants/" + string(tenant) + "/agents/" + string(id)); err != nil {
			return nil, nothing, op.NotThere()
		}
	}
	at, err := agent.Open(context.WithoutCancel(ctx), r.options(tenant, id))
	if err != nil {
		return nil, nil, err
	}
	snaps, err := at.Snapshots(ctx)
	if err != nil {
		return nil, nil, err
	}
	served := &op.Agent{
		Tenant: tenant, ID: id, Store: at.Served(), Policy: at.Policy, Random: rand.Reader, Snapshots: snaps, Past: pastOf{at}, Quarantine: at, Folders: at, Settle: at.Settle,
		Journal: func(ctx context.Context) ([]wire.JournalStatus, error) {
			state, err := at.JournalState(ctx)
			return state.Sessions, err
		},
		Doctor: func(ctx context.Context, _ bool) (wire.Checkup, error) {
			return agent.Examine(ctx, r.options(tenant, id), agent.Examination{}), nil
		},
	}
	served.Repository, _ = snaps.(wire.RepositoryChecker)
	served.Generations, _ = snaps.(wire.GenerationReader)
	served.Consolidations, _ = snaps.(wire.Consolidator)
	return served, at.Close, nil
}

type pastOf struct{ *agent.Agent }

func (p pastOf) At(ctx context.Context, ref wire.SnapshotRef) (op.Past, error) {
	return p.Agent.At(ctx, ref)
}

func (r *rig) options(tenant amber.TenantID, id amber.AgentID) agent.Options {
	c := config.Default()
	return agent.Options{Home: r.home, Tenant: tenant, Agent: id, Config: &c, Clock: time.Now, Random: rand.Reader, Getenv: func(string) string { return "" }}
}

// browser is a visitor without JavaScript: it keeps cookies and does not follow redirects.
type browser struct {
	r    *rig
	http *http.Client
	csrf string
}

// visitor returns a browser; with a secret it has logged in.
func (r *rig) visitor(secret string) *browser {
	r.t.Helper()
	jar := must.Get(cookiejar.New(nil))(r.t)
	b := &browser{r: r, http: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if secret == "" {
		return b
	}
	b.get("/ui/-/login")
	res := b.post("/ui/-/login", "token", secret)
	if res.status != http.StatusSeeOther {
		r.t.Fatalf("log-in of %s: status %d", secret, res.status)
	}
	return b
}

// page is an answer.
type page struct {
	status int
	header http.Header
	body   string
	root   *html.Node
}

// adaHome is where the screens of acme/ada lie.
const adaHome = "/ui/acme/ada"

// get opens a screen; a path without a slash in front is ada's.
func (b *browser) get(path string) page {
	b.r.t.Helper()
	return b.do(must.Get(http.NewRequestWithContext(b.r.t.Context(), http.MethodGet, b.r.url+whole(path), nil))(b.r.t))
}

// post sends a form with the value of the page that was opened last.
func (b *browser) post(path string, fields ...string) page {
	b.r.t.Helper()
	form := url.Values{"csrf": {b.csrf}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	req := must.Get(http.NewRequestWithContext(b.r.t.Context(), http.MethodPost, b.r.url+whole(path), strings.NewReader(form.Encode())))(b.r.t)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", b.r.url)
	return b.do(req)
}

func whole(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	if path == "" {
		return adaHome
	}
	return adaHome + "/" + path
}

func (b *browser) do(req *http.Request) page {
	b.r.t.Helper()
	resp := must.Get(b.http.Do(req))(b.r.t)
	defer func() { _ = resp.Body.Close() }()
	body := must.Get(io.ReadAll(resp.Body))(b.r.t)
	p := page{status: resp.StatusCode, header: resp.Header, body: string(body)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		p.root = must.Get(html.Parse(strings.NewReader(p.body)))(b.r.t)
		if v := p.value("csrf"); v != "" {
			b.csrf = v
		}
	}
	return p
}

// value is what a form of the page sends under a name; "" where none does.
func (p page) value(name string) string {
	for n := range p.all("input") {
		if attribute(n, "name") == name {
			return attribute(n, "value")
		}
	}
	return ""
}

// all are the elements of a name.
func (p page) all(tag string) func(func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		if p.root == nil {
			return
		}
		for n := range p.root.Descendants() {
			if n.Type == html.ElementNode && n.Data == tag && !yield(n) {
				return
			}
		}
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a reader sees of the page, without scripts.
func (p page) text() string {
	var b strings.Builder
	if p.root == nil {
		return p.body
	}
	for n := range p.root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			b.WriteString(n.Data)
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// store is the store of an agent, to fill it as another process would: the page is asked afterwards.
func (r *rig) store(tenant amber.TenantID, id amber.AgentID) amber.Store {
	return r.agent(tenant, id).Served()
}

// agent is an agent of the home beside the server.
func (r *rig) agent(tenant amber.TenantID, id amber.AgentID) *agent.Agent {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	n := server.AgentName{Tenant: tenant, Agent: id}
	if a, ok := r.open[n]; ok {
		return a
	}
	a := must.Get(agent.Open(context.Background(), r.options(tenant, id)))(r.t)
	r.t.Cleanup(func() { must.NoError(r.t, a.Close()) })
	r.open[n] = a
	return a
}

// remember stores a memory of acme/ada.
func (r *rig) remember(content string) amber.Memory {
	r.t.Helper()
	store := r.store("acme", "ada")
	ack := must.Get(store.LongTerm.Write(r.t.Context(), amber.WriteRequest{Content: content}))(r.t)
	return must.Get(store.Memories.Get(r.t.Context(), ack.ID))(r.t)
}
