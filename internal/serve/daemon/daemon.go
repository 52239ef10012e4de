package daemon

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/serve/backup"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Options say which home is served, and to whom. Home, Ledger, Config, Clock,
// Random, Log, Getenv and Listen are required.
type Options struct {
	Home            *home.Home
	Ledger          *ledger.DB // the caller closes it after the daemon
	Replica         *Replica   // nil: agents live in the home
	Config          *config.Reloader
	Clock           amber.Clock
	Random          io.Reader
	Log             *slog.Logger
	Getenv          func(string) string // where traces go
	Version, Commit string

	// Private says that a program serves the home for itself and others of the same user: over a socket, without a
	// port. Where no socket is possible it is a port of this machine, with a key. It leaves when another process
	// wants to serve the home.
	Private        bool
	Listen         string      // host:port; port 0 is any free one
	AnyPort        bool        // where the port is taken, any free one will do
	TLS            *tls.Config // nil: plain HTTP
	BehindProxy    bool        // a proxy ends TLS: everybody needs a token
	Hosts, Origins []string    // names to answer to; origins whose pages may ask
	Tools          string      // of MCP
	AllowRestore   bool        // over MCP
	Beat           bool        // open tabs of the page show that they are open, see [Daemon.Visitors]
	Grace          time.Duration
	// Drain is how long the server goes on to answer after ctx has ended, while it says that it is not ready: a balancer sends requests
	// elsewhere before the port closes.
	Drain time.Duration

	After func(time.Duration) <-chan time.Time // of the schedule of snapshots; nil: [time.After]
}

// Engine takes, keeps and restores snapshots of every tenant.
type Engine interface {
	wire.Snapshotter
	wire.RepositoryChecker
}

// Parts are what a daemon needs of the agents of its home. All but Names, Vault, Digests and Leaving are required.
type Parts struct {
	Open server.Opener // is not asked for an agent without an id
	// Names lists the agents that are served, of a tenant or of every one for ""; nil: those with a folder in
	// the home.
	Names func(ctx context.Context, tenant amber.TenantID) ([]server.AgentName, error)
	// Vault returns the files of an agent's vault where agents live in a database, and reports whether there is such an agent; nil: they
	// lie in the home.
	Vault  func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (rows vaultrow.Rows, there bool, err error)
	Engine Engine
	// Worker is the engine for what the server does unasked: its collection of garbage publishes no report. Under returns it for work
	// that this server may do only under a permit; it is required where there is a Replica.
	Worker wire.Snapshotter
	Under  func(permit.Permit) wire.Snapshotter
	// Redact returns the rules for what jobs write.
	Redact func() *redact.Redactor
	// Leaving returns the rules for exports; nil: those of Amber alone.
	Leaving func(private bool) *redact.Redactor
	// Journal opens the crash journal of an agent.
	Journal func(*home.Agent) (*journal.Journal, error)
	// Digests returns who writes digests of sessions; nil, and where it returns nil:
	// the rules do.
	Digests func() digest.Writer
	// Backup backs up the notes of an agent to the vault of the configuration.
	// With lends it the open agent for a moment.
	Backup func(ctx context.Context, agent *home.Agent, c config.Vault, with func(func(*op.Agent) error) error) (backup.Outcome, error)
}

// Daemon is a home being served.
type Daemon struct {
	o        Options
	parts    Parts
	lock     *fsx.Lock // that this process serves the home
	pool     *server.Pool
	desk     *server.Desk // nil before the API is made
	crew     *server.Crew
	bus      *events.Bus // listeners of this process
	feeds    *server.Feeds
	hasty    chan server.AgentName // agents to be published at once
	started  amber.Time
	watchers *watchers
	indexes  indexes
	traffic  hooksocket.Traffic
	page     *web.Page // nil before the API is made
	secret   string    // shows that this server is that of the home
	key      string    // the token of the user, for a private server without a socket
	left     chan struct{}
	leave    func() // closes left
	draining atomic.Bool
}

// New prepares to serve a home: it takes the lock of the process that serves it,
// and opens the broker, metrics and traces. Close lets go of all of them. Errors:
// busy when another process serves the home; those of the broker and of traces.
func New(ctx context.Context, o Options) (*Daemon, error) {
	lock, err := serveAlone(ctx, o.Home)
	if amber.KindOf(err) == amber.KindBusy && !o.Private {
		lock, err = takeOver(ctx, o.Home, err)
	}
	if err != nil {
		return nil, err
	}
	left := make(chan struct{})
	crew := server.NewCrew(o.Clock)
	crew.Log = o.Log
	s := &Daemon{o: o, lock: lock, left: left, leave: sync.OnceFunc(func() { close(left) }), secret: rand.Text(), crew: crew, bus: &events.Bus{}, hasty: make(chan server.AgentName, 256), started: amber.At(o.Clock()), traffic: hooksocket.Traffic{Clock: o.Clock, Crowded: proc.Crowded}}
	if s.watchers, err = s.newWatchers(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// lockFile is held by the process that serves a home.
const lockFile = "serve.lock"

// lookWait is how long the lock of another process is waited for: one that only looks whether there is a server
// has it for a moment.
const lookWait = 250 * time.Millisecond

// serveAlone takes the lock of the process that serves a home: two would publish
// every event twice. Errors: busy.
func serveAlone(ctx context.Context, h *home.Home) (*fsx.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	lock, err := fsx.AcquireLock(ctx, filepath.Join(h.Dir(), lockFile), fsx.Exclusive)
	switch {
	case errors.Is(err, fsx.ErrLocked) || errors.Is(err, context.DeadlineExceeded):
		return nil, amber.Errorf(amber.KindBusy, "serve", h.Dir(), "another process serves this home")
	case err != nil:
		return nil, &amber.Error{Op: "serve", Kind: amber.KindInternal, ID: h.Dir(), Err: err}
	}
	return lock, nil
}

// Publisher is where this process publishes what happens: to its own listeners, or to those of all servers of the database,
// and to the outbox of the home where a broker is configured.
func (s *Daemon) Publisher() events.Publisher {
	listeners := events.Publisher(s.bus)
	if s.o.Replica != nil {
		listeners = s.o.Replica
	}
	if s.o.Config.Loaded().Config.Events.NATSURL == "" {
		return listeners
	}
	return events.Fan(listeners, &s.watchers.outbox)
}

// Visitors is what [web.Page.Visitors] says, for a daemon that listens.
func (s *Daemon) Visitors() (now int, last time.Time) { return s.page.Visitors() }

// Serve serves until ctx ends, then lets callers finish. Listening is called with
// where that is once the server can be reached; its error ends the server. Errors: those
// of listening; unreachable when requests had to be cut off at the end.
func (s *Daemon) Serve(ctx context.Context, p Parts, listening func(Where) error) error {
	s.parts = p
	s.pool = server.NewPool(s.openAgent, server.PoolOptions{Clock: s.o.Clock, Log: s.o.Log})
	if s.feeds = server.NewFeeds(s.pool, s.databaseMark); s.o.Replica != nil {
		s.feeds = server.NewExactFeeds(s.pool, s.o.Replica.mark)
	}
	d, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.run(ctx, d, listening)
}

// openAgent opens an agent for the pool, measured and traced. Without an agent it
// is what concerns the tenant: its snapshots.
func (s *Daemon) openAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*op.Agent, func() error, error) {
	a, closeAgent := &op.Agent{Tenant: tenant, Random: s.o.Random}, func() error { return nil }
	if id != "" {
		var err error
		if a, closeAgent, err = s.parts.Open(ctx, tenant, id, create); err != nil {
			return nil, nil, err
		}
		a.Store = s.watchers.Store(tenant, id, a.Store)
	}
	a.Snapshots = s.watchers.Snapshots(tenant, id, s.parts.Engine)
	a.Repository = s.watchers.Repository(tenant, s.parts.Engine)
	a.Generations, _ = s.parts.Engine.(wire.GenerationReader)
	a.Consolidations, _ = s.parts.Engine.(wire.Consolidator)
	return a, closeAgent, nil
}

// newAPI puts everything together.
func (s *Daemon) newAPI(addr net.Addr) (*httpapi.API, error) {
	c := s.o.Config.Loaded().Config
	s.desk = &server.Desk{
		Agents: s.pool, Audit: s.watchers.Audit(s.o.Ledger), BeforeTool: s.beforeTool, Observe: s.watchers.Tool, Clock: s.o.Clock, Log: s.o.Log,
		Refused: func() { s.watchers.AuthFailed(metrics.AuthScope) },
		Redact:  s.parts.Redact,
		Changed: s.changed,
	}
	if r := s.o.Replica; r != nil {
		s.desk.Enter, s.desk.Entered = r.enter, s.watchers.AuditEntered
	}
	budget := httpapi.NewBudget(int64(c.Server.Memory), int64(c.Server.MaxBody))
	mcp, err := mcpapi.NewHandler(mcpapi.Options{
		Desk: s.desk, Version: s.o.Version, Tools: s.o.Tools, AllowRestore: s.o.AllowRestore, Clock: s.o.Clock, Log: s.o.Log,
		Budget: budget, MaxBytes: int64(c.Server.MaxBody), AnyHost: true, // names are checked before
	})
	if err != nil {
		return nil, err
	}
	tokens := s.watchers.Tokens(s.o.Ledger)
	keeper := &doorkeeper{tokens: tokens, any: s.o.Ledger.HasTokens, local: s.isLocal(addr), key: s.key, failed: func() { s.watchers.AuthFailed(metrics.AuthMissing) }}
	vaults, err := s.newVaults(keeper)
	if err != nil {
		return nil, err
	}
	api, err := httpapi.New(httpapi.Options{
		Desk: s.desk, Authenticator: keeper, Clock: s.o.Clock, Random: s.o.Random, Log: s.o.Log,
		Version: s.o.Version, Answers: s.o.Ledger, Tokens: tokens, Names: s.names, Health: s.health, Ready: s.ready,
		Feeds: s.feeds, Listener: listening{s.bus, c.Events}, MutationPrefix: c.Events.MutationPrefix,
		MutationsOff: func() bool { return !s.current().Events.MutationEnabled },
		Metrics:      func(w http.ResponseWriter, r *http.Request, c op.Caller) { s.watchers.Handler(c.Grant).ServeHTTP(w, r) },
		MCP:          mcp, Vault: vaults, Observe: s.watchers.HTTP, Leaving: s.parts.Leaving, Budget: budget, MaxBody: int64(c.Server.MaxBody), Hosts: s.hosts(addr), Origins: s.o.Origins,
	})
	if err != nil {
		return nil, err
	}
	s.page = web.New(web.Options{
		API: api.Handler(), Authenticator: keeper, Ask: s.desk.Ask, Budget: budget, Clock: s.o.Clock, Random: s.o.Random, Log: s.o.Log, Version: s.o.Version,
		Insecure: s.o.TLS == nil && !s.o.BehindProxy, Secret: s.secret, Beat: s.o.Beat,
	})
	api.ServePage(s.page)
	api.RemoveAbandoned()
	s.watchers.ExpectRoutes(api.Routes()...)
	s.watchers.ExpectTools(mcpapi.Names()...)
	return api, nil
}

// current is the configuration as it is now.
func (s *Daemon) current() config.Config {
	c, err := s.o.Config.Current()
	if err != nil {
		s.o.Log.Warn("configuration", "error", err)
	}
	return c
}

// beforeTool freezes an agent before a tool changes something, as configured.
func (s *Daemon) beforeTool(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) error {
	g := snapshot.ToolGuard{
		Taker: s.watchers.Snapshots("", "", s.parts.Engine), Insist: snapshot.Insistence(s.current().Snapshot.Auto.BeforeMutatingTool),
		Warn: func(text string) { s.o.Log.Warn(text) },
	}
	_, err := g.BeforeMutatingTool(ctx, tenant, agent, tool)
	return err
}
