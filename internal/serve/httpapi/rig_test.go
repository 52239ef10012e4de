package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

// The secrets that all tests use.
const (
	root    = "root"    // everything
	ada     = "ada"     // every scope but admin, for acme/ada
	adaRead = "adaread" // reads acme/ada
	adaBot  = "adabot"  // a program of acme/ada, which does not speak as the owner
	acme    = "acme"    // admin of the tenant acme
)

// keyring knows secrets, and can forget them.
type keyring struct {
	mu     sync.Mutex
	grants map[string]wire.Grant
}

func newKeyring() *keyring {
	all := []wire.TokenScope{wire.TokenRead, wire.TokenWrite, wire.TokenSnapshot, wire.TokenRestore, wire.TokenErase, wire.TokenOwn}
	return &keyring{grants: map[string]wire.Grant{
		root:    {Token: "t-root", Scopes: wire.TokenScopes()},
		ada:     {Token: "t-ada", Tenant: "acme", Agent: "ada", Scopes: all},
		adaRead: {Token: "t-read", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead}},
		adaBot:  {Token: "t-bot", Name: "nightly job", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead, wire.TokenWrite, wire.TokenErase, wire.TokenSnapshot}},
		acme:    {Token: "t-acme", Tenant: "acme", Scopes: []wire.TokenScope{wire.TokenAdmin}},
	}}
}

func (k *keyring) revoke(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.grants, secret)
}

func (k *keyring) Grant(_ context.Context, secret string) (wire.Grant, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if g, ok := k.grants[secret]; ok {
		return g, nil
	}
	return wire.Grant{}, amber.Errorf(amber.KindRefused, "authenticate", "", "the token is not known")
}

// past answers from the live store, as if it were then.
type past struct {
	store amber.Store
	snaps wire.Snapshotter
}

type then struct{ amber.Store }

func (p then) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	return p.LongTerm.Recall(ctx, q)
}

func (p then) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return p.Memories.Get(ctx, id)
}

func (p then) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return p.Memories.List(ctx, q)
}

func (then) Close() error { return nil }

func (p past) At(ctx context.Context, ref wire.SnapshotRef) (op.Past, error) {
	_, err := p.snaps.ShowSnapshot(ctx, ref)
	return then{p.store}, err
}

func (p past) RestoreMemory(ctx context.Context, r wire.MemoryRestoreRequest) (wire.MemoryRestore, error) {
	if _, err := p.snaps.ShowSnapshot(ctx, r.SnapshotRef); err != nil {
		return wire.MemoryRestore{}, err
	}
	m, err := p.store.Memories.Get(ctx, r.Memory)
	return wire.MemoryRestore{From: r.ID, Memory: m}, err
}

// rig is a server on a port of this machine, with the agents acme/ada, acme/bob
// and umbrella/eve in memory.
type rig struct {
	t     testing.TB
	api   *httpapi.API
	http  *http.Server
	url   string
	clock *servertest.Clock
	keys  *keyring
	book  *servertest.Book
	snaps *snapshot.Engine
	do    *http.Client

	most  int // connections at one time
	conns *counted

	mu     sync.Mutex
	agents map[string]*op.Agent
	opened map[string]int
}

// shelf is the ledger of a home, which is made at its first use. The rig knows its own secrets: it has a token that
// lasts for each.
type shelf struct {
	wire.AuditLog
	home func() *ledger.DB
}

func (s shelf) ListAudit(ctx context.Context, q wire.AuditQuery) (amber.Page[wire.AuditEntry], error) {
	return s.home().ListAudit(ctx, q)
}

func (s shelf) VerifyAudit(ctx context.Context) (wire.AuditReport, error) {
	return s.home().VerifyAudit(ctx)
}

func (s shelf) CreateToken(ctx context.Context, r wire.TokenRequest) (wire.NewToken, error) {
	return s.home().CreateToken(ctx, r)
}

func (s shelf) ListTokens(ctx context.Context, tenant amber.TenantID) ([]wire.Token, error) {
	tokens, err := s.home().ListTokens(ctx, tenant)
	for _, g := range newKeyring().grants {
		if tenant == "" || g.Tenant == tenant {
			tokens = append(tokens, wire.Token{ID: g.Token, Name: "rig", Tenant: g.Tenant, Agent: g.Agent, Scopes: g.Scopes, CreatedAt: amber.UnixMilli(1)})
		}
	}
	return tokens, err
}

func (s shelf) RevokeToken(ctx context.Context, id wire.TokenID) (wire.Token, error) {
	return s.home().RevokeToken(ctx, id)
}

func (s shelf) Authenticate(ctx context.Context, secret string) (wire.Grant, error) {
	return s.home().Authenticate(ctx, secret)
}

// counted is a listener that counts its connections.
type counted struct {
	net.Listener
	open, peak atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	n := l.open.Add(1)
	for {
		p := l.peak.Load()
		if n <= p || l.peak.CompareAndSwap(p, n) {
			return &countedConn{Conn: c, left: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
	}
}

type countedConn struct {
	net.Conn
	left func()
}

func (c *countedConn) Close() error {
	c.left()
	return c.Conn.Close()
}

// newEngine returns the snapshot engine of a home with the agents of a rig.
var newEngine = servertest.Prepare(
	server.AgentName{Tenant: "acme", Agent: "ada"}, server.AgentName{Tenant: "acme", Agent: "bob"}, server.AgentName{Tenant: "umbrella", Agent: "eve"},
)

// newRig serves; tweaks change the options before.
func newRig(t testing.TB, tweaks ...func(*rig, *httpapi.Options)) *rig {
	t.Helper()
	r := &rig{
		t: t, clock: servertest.NewClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), time.Millisecond), keys: newKeyring(), book: &servertest.Book{},
		agents: map[string]*op.Agent{}, opened: map[string]int{}, most: 64,
	}
	r.snaps = newEngine(t, r.clock.Read)
	r.add("acme", "ada")
	r.add("acme", "bob")
	r.add("umbrella", "eve")
	pool := server.NewPool(r.open, server.PoolOptions{Clock: r.clock.Read})
	o := httpapi.Options{
		Desk: &server.Desk{Agents: pool, Audit: r.book}, Authenticator: r.keys, Clock: r.clock.Read, Random: rand.Reader, Version: "test",
		Metrics: func(w http.ResponseWriter, _ *http.Request, _ op.Caller) { _, _ = io.WriteString(w, "metrics\n") },
		MCP:     func(w http.ResponseWriter, _ *http.Request, _ op.Caller) { _, _ = io.WriteString(w, "mcp\n") },
	}
	o.Names = r.names
	home := sync.OnceValue(func() *ledger.DB { return servertest.Ledger(t, r.clock.Read) })
	r.book.AuditLog, o.Tokens = shelf{home: home}, shelf{home: home}
	for _, tweak := range tweaks {
		tweak(r, &o)
	}
	// Tests write to the stores of agents as another process would.
	var looks atomic.Int64
	o.Feeds = server.NewFeeds(o.Desk.Agents, func(server.AgentName) string { return fmt.Sprint(looks.Add(1)) })
	r.api = must.Get(httpapi.New(o))(t)
	crew := server.NewCrew(r.clock.Read)
	crew.Go("event streams", o.Feeds.Run)
	t.Cleanup(func() { must.NoError(t, crew.Stop(context.Background())) })
	r.api.SetPace(5*time.Millisecond, 50*time.Millisecond)
	r.serve(pool)
	return r
}

// names are those of the agents of the rig, sorted.
func (r *rig) names(context.Context, amber.TenantID) (names []server.AgentName, err error) {
	for _, key := range slices.Sorted(maps.Keys(r.agents)) {
		tenant, id, _ := strings.Cut(key, "/")
		names = append(names, server.AgentName{Tenant: amber.TenantID(tenant), Agent: amber.AgentID(id)})
	}
	return names, nil
}

// serve listens as the program does.
func (r *rig) serve(pool *server.Pool) {
	r.t.Helper()
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		must.NoError(r.t, pool.Close(ctx))
	})
	l, url := servertest.Listen(r.t)
	r.url, r.conns, r.http = url, &counted{Listener: l}, r.api.NewServer()
	r.do = servertest.Serve(r.t, r.http, httpapi.Limit(r.http, r.conns, r.most), r.api.Close)
}

func (r *rig) add(tenant amber.TenantID, id amber.AgentID) {
	r.t.Helper()
	store := must.Get(inmem.New(inmem.Options{Clock: r.clock.Read, Random: rand.Reader, Incarnation: "first"}))(r.t)
	parts := store.Parts()
	parts.Sync = places{Replica: lazily(r.t, r.clock.Read)}
	whole := amber.NewStore(parts)
	r.agents[string(tenant)+"/"+string(id)] = &op.Agent{
		Tenant: tenant, ID: id, Store: whole, Policy: policy.Conservative{}, Random: rand.Reader,
		Snapshots: r.snaps, Repository: r.snaps, Generations: r.snaps, Past: past{whole, r.snaps}, Consolidations: r.snaps,
		Journal:    func(context.Context) ([]wire.JournalStatus, error) { return nil, nil },
		Quarantine: newWard(r.t, r.clock.Read), Folders: &lobby{waits: true},
		Doctor: func(context.Context, bool) (wire.Checkup, error) {
			return wire.Checkup{OK: true, Checks: []wire.Finding{{Code: "home", Status: wire.FindingOK, Detail: "/srv/secret", Hint: "ls /srv/secret"}}}, nil
		},
	}
}

// lobby has one folder that waits until it is trusted.
type lobby struct {
	mu    sync.Mutex
	waits bool
}

func (l *lobby) WaitingFolders(context.Context) ([]wire.WaitingFolder, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.waits {
		return []wire.WaitingFolder{}, nil
	}
	at := amber.At(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))
	return []wire.WaitingFolder{{Place: "/srv/copy", Project: "unconfirmed/copy-0123456789ab", Asks: "git.example/acme/shop", Folders: []string{"/srv/shop/.git"}, At: at}}, nil
}

func (l *lobby) TrustFolder(_ context.Context, t wire.FolderTrust) (wire.TrustedFolder, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := t.Check(); err != nil {
		return wire.TrustedFolder{}, err
	}
	if !l.waits || t.Place != "/srv/copy" {
		return wire.TrustedFolder{}, amber.Errorf(amber.KindConflict, "trust folder", t.Place, "the folder does not ask for %s", t.Asks)
	}
	l.waits = false
	return wire.TrustedFolder{Place: t.Place, Project: t.Asks, Memories: 2, Sessions: 1}, nil
}

// ward is the quarantine of a crash journal, which is made at its first use. It has one entry of the session s1.
type ward struct{ open func() *journal.Journal }

const heldName = "00000000000000000001.entry"

func newWard(t testing.TB, clock amber.Clock) ward {
	return ward{sync.OnceValue(func() *journal.Journal {
		j := must.Get(journal.Open(filepath.Join(t.TempDir(), "spool"), journal.Options{Clock: clock}))(t)
		s := journal.Session{Host: "generic", ID: "s1"}
		must.Do(t, must.Err(j.Append(context.Background(), s, journal.Entry{Payload: []byte("hello")})))
		must.Do(t, j.Quarantine(context.Background(), s.Key(), 1, []byte("hello"), "canary7f3a: open /srv/secret"))
		return j
	})}
}

func (w ward) HeldEntries(ctx context.Context, session string) ([]wire.HeldEntry, error) {
	return w.open().HeldOf(ctx, session)
}

func (w ward) ShowHeld(_ context.Context, session, name string) (wire.HeldEntry, error) {
	return w.open().ShowHeld(session, name)
}

func (w ward) RetryHeld(ctx context.Context, r wire.HeldRetry) ([]wire.HeldEntry, error) {
	return w.open().RetryOf(ctx, r)
}

// places is a replica that knows nothing of any place.
type places struct{ amber.Replica }

func (places) SyncReport(context.Context, string) (amber.SyncReport, error) {
	return amber.SyncReport{}, nil
}

// open opens agents for the pool, and counts.
func (r *rig) open(_ context.Context, tenant amber.TenantID, id amber.AgentID, _ bool) (*op.Agent, func() error, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened[string(tenant)+"/"+string(id)]++
	closed := func() error { return nil }
	if id == "" {
		return &op.Agent{Tenant: tenant, Snapshots: r.snaps, Repository: r.snaps, Generations: r.snaps, Consolidations: r.snaps, Random: rand.Reader}, closed, nil
	}
	a, ok := r.agents[string(tenant)+"/"+string(id)]
	if !ok {
		return nil, nil, op.NotThere()
	}
	return a, closed, nil
}

func (r *rig) openings() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.opened {
		n += k
	}
	return n
}

func (r *rig) store(name string) amber.Store { return r.agents[name].Store }

const adaPath = "/v1/tenants/acme/agents/ada"

// call is a request. A path without a slash in front is ada's.
type call struct {
	method, path, body string
	token              string // "" is root's; "-" shows none
	header             http.Header
}

func (r *rig) request(ctx context.Context, c call) *http.Request {
	r.t.Helper()
	if !strings.HasPrefix(c.path, "/") {
		c.path = adaPath + "/" + c.path
	}
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	q := must.Get(http.NewRequestWithContext(ctx, c.method, r.url+c.path, body))(r.t)
	for name, values := range c.header {
		q.Header[http.CanonicalHeaderKey(name)] = values
	}
	switch c.token {
	case "-":
	case "":
		q.Header.Set("Authorization", "Bearer "+root)
	default:
		q.Header.Set("Authorization", "Bearer "+c.token)
	}
	return q
}

// reply is an answer that was read whole.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

func (r *rig) ask(c call) reply {
	r.t.Helper()
	resp := must.Get(r.do.Do(r.request(context.Background(), c)))(r.t)
	defer resp.Body.Close()
	a := reply{r.t, resp.StatusCode, resp.Header, must.Get(io.ReadAll(resp.Body))(r.t)}
	if wrong := r.undocumented(c, a); wrong != "" {
		r.t.Error(wrong)
	}
	return a
}

// want fails the test unless the status is the one.
func (a reply) want(status int) reply {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("got status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// statusFor is the status that an error of a kind must have in an answer with the headers h.
func statusFor(kind amber.Kind, h http.Header) int {
	switch {
	case kind == amber.KindRefused && h.Get("WWW-Authenticate") != "":
		return http.StatusUnauthorized
	case kind == amber.KindInvalid && h.Get("Allow") != "":
		return http.StatusMethodNotAllowed
	}
	return kind.HTTPStatus()
}

// failed checks that it is an error of a kind, in its shape.
func (a reply) failed(kind amber.Kind) reply {
	a.t.Helper()
	var f wire.Failure
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		a.t.Fatalf("not an error: %v: %s", err, a.body)
	}
	if f.Error.Kind != kind || a.status != statusFor(kind, a.header) || f.Error.Message == "" {
		a.t.Errorf("got %d %s, want kind %s", a.status, a.body, kind)
	}
	if f.Error.RequestID == "" || f.Error.RequestID != a.header.Get("X-Request-Id") {
		a.t.Errorf("request id %q in %s", a.header.Get("X-Request-Id"), a.body)
	}
	return a
}

// field returns a field of the answer, by its dotted path.
func (a reply) field(path string) any {
	a.t.Helper()
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			if name != "0" || len(x) == 0 {
				a.t.Fatalf("no %s in %s", path, a.body)
			}
			v = x[0]
		default:
			a.t.Fatalf("no %s in %s", path, a.body)
		}
	}
	return v
}

func (a reply) text(path string) string {
	a.t.Helper()
	s, ok := a.field(path).(string)
	if !ok {
		a.t.Fatalf("%s is no text: %s", path, a.body)
	}
	return s
}

// remember writes a memory of ada's.
func (r *rig) remember(content string) amber.WriteAck {
	r.t.Helper()
	return must.Get(r.store("acme/ada").LongTerm.Write(context.Background(), amber.WriteRequest{Content: content}))(r.t)
}
