package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/ledger"
	"github.com/amber-memory/amber/metrics"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/server/httpapi"
	"github.com/amber-memory/amber/server/mcpapi"
	"github.com/amber-memory/amber/snapshot"
)

// serveFlags say how Amber is served.
type serveFlags struct {
	listen, cert, key string
	proxy             bool
	hosts, origins    []string
	tools             string
	allowRestore      bool
	grace             time.Duration
	logLevel          string
	logJSON           bool
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents over HTTP and MCP",
		Long: `Serve every agent of the home over HTTP: a REST API (/v1, described by /openapi.json and shown
by /docs), MCP (/mcp), a vault for documents that clients of colony-memory/1 back up to (/api/v1),
metrics (/metrics), and how it is doing (/livez, /readyz, /health). It drains crash journals, takes
scheduled snapshots, applies retention, backs notes up to a vault and publishes events, beside
whatever other commands and hooks do in the same home.

It listens on this machine only. There it asks for no token until the first one is made with
"amber token create"; from then on everybody needs one. Beyond this machine it wants tokens and
TLS, or --behind-proxy where a proxy ends TLS.

It ends at SIGTERM or Ctrl-C: requests that are being answered are finished, then the databases
are closed. A second signal ends it at once; what was acknowledged is there all the same.`,
		Example: `  amber serve
  amber serve --listen 0.0.0.0:7411 --tls-cert cert.pem --tls-key key.pem
  curl -s localhost:7411/v1/tenants/default/agents/default/recall --json '{"text":"which database"}'`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "", "where to listen (default server.listen, 127.0.0.1:7411); port 0 is any free one")
	fl.StringVar(&f.cert, "tls-cert", "", "the certificate, in PEM (default server.tls_cert)")
	fl.StringVar(&f.key, "tls-key", "", "the key of the certificate, in PEM (default server.tls_key)")
	fl.BoolVar(&f.proxy, "behind-proxy", false, "a proxy in front of it ends TLS: everybody needs a token, wherever it listens")
	fl.StringArrayVar(&f.hosts, "host", nil, "answer to this name only (repeat); on this machine its own names without it")
	fl.StringArrayVar(&f.origins, "allow-origin", nil, "let pages of this origin ask (repeat)")
	fl.StringVar(&f.tools, "tools", "default", "the tools of MCP: default, all, profiles or names, joined by commas")
	fl.BoolVar(&f.allowRestore, "allow-restore", false, "let MCP restore snapshots")
	spanVar(fl, &f.grace, "shutdown-timeout", 30*time.Second, "how long requests may take to end when the server does")
	fl.StringVar(&f.logLevel, "log-level", "info", "what is logged: debug, info, warn or error")
	fl.BoolVar(&f.logJSON, "log-json", false, "log in JSON")
	return cmd
}

// check refuses flags that say nothing. The error is of kind invalid.
func (f serveFlags) check() error {
	if f.grace < 0 {
		return usage("--shutdown-timeout is negative")
	}
	for _, origin := range f.origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.String() != u.Scheme+"://"+u.Host {
			return usage("--allow-origin %q is no origin, as in https://example.org", oneLine(origin, 80))
		}
	}
	return mcpapi.Check(f.tools)
}

// serving is a home being served.
type serving struct {
	*app
	flags    serveFlags
	log      *slog.Logger
	config   *config.Reloader
	home     *home.Home
	lock     *fsx.Lock // that this process serves the home
	db       *ledger.DB
	pool     *server.Pool
	desk     *server.Desk // nil before the API is made
	crew     *server.Crew
	bus      *events.Bus // listeners of this process
	feeds    *server.Feeds
	hasty    chan server.AgentName // agents to be published at once
	engine   snapshotEngine
	keeper   snapshot.Keeper
	started  amber.Time
	watchers *watchers
}

// serve runs until the context ends.
func (a *app) serve(cmd *cobra.Command, f serveFlags) error {
	ctx := cmd.Context()
	s, err := a.newServing(ctx, cmd, f)
	if err != nil {
		return err
	}
	door, err := s.open(ctx)
	if err == nil {
		err = s.run(ctx, door)
	}
	return errors.Join(err, s.close())
}

// newServing opens what belongs to the home.
func (a *app) newServing(ctx context.Context, cmd *cobra.Command, f serveFlags) (*serving, error) {
	log, err := a.newLog(f)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	in, err := a.configInput()
	if err != nil {
		return nil, err
	}
	config, err := config.NewReloader(in, a.clock)
	if err != nil {
		return nil, err
	}
	c := config.Loaded().Config
	for _, flag := range []struct {
		value *string
		name  string
		usual string
	}{{&f.listen, "listen", c.Server.Listen}, {&f.cert, "tls-cert", c.Server.TLSCert}, {&f.key, "tls-key", c.Server.TLSKey}} {
		if !cmd.Flags().Changed(flag.name) {
			*flag.value = flag.usual
		}
	}
	h, _, err := a.openHome()
	if err != nil {
		return nil, err
	}
	lock, err := serveAlone(h)
	if err != nil {
		return nil, err
	}
	db, err := a.openHomeDB(ctx)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	crew := server.NewCrew(a.clock)
	crew.Log = log
	s := &serving{
		app: a, flags: f, log: log, config: config, home: h, lock: lock, db: db,
		crew: crew, bus: &events.Bus{}, hasty: make(chan server.AgentName, 256), started: amber.At(a.clock()),
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// serveAlone takes the lock of whoever serves a home: two would publish every
// event twice. Errors: busy.
func serveAlone(h *home.Home) (*fsx.Lock, error) {
	lock, err := fsx.TryLock(filepath.Join(h.Dir(), "serve.lock"), fsx.Exclusive)
	switch {
	case errors.Is(err, fsx.ErrLocked):
		return nil, amber.Errorf(amber.KindBusy, "serve", h.Dir(), "another process serves this home")
	case err != nil:
		return nil, &amber.Error{Op: "serve", Kind: amber.KindInternal, ID: h.Dir(), Err: err}
	}
	return lock, nil
}

// prepare makes what serves agents.
func (s *serving) prepare(ctx context.Context) (err error) {
	if s.watchers, err = s.newWatchers(ctx); err != nil {
		return err
	}
	s.publisher = s.publishTo()
	if s.engine, s.keeper, err = s.openEngine(ctx); err != nil {
		return err
	}
	s.pool, err = server.NewPool(s.openAgent, server.PoolOptions{Clock: s.clock, Log: s.log})
	s.feeds = server.NewFeeds(s.pool, s.databaseMark)
	return err
}

// newLog is the logger of a server.
func (a *app) newLog(f serveFlags) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, usage("--log-level is %q, not debug, info, warn or error", oneLine(f.logLevel, 40))
	}
	if a.global.quiet {
		level = max(level, slog.LevelWarn)
	}
	o := &slog.HandlerOptions{Level: level}
	if f.logJSON {
		return slog.New(slog.NewJSONHandler(a.stderr, o)), nil
	}
	return slog.New(slog.NewTextHandler(a.stderr, o)), nil
}

// newAPI puts everything together.
func (s *serving) newAPI(addr net.Addr) (*httpapi.API, error) {
	c := s.config.Loaded().Config
	s.desk = &server.Desk{
		Agents: s.pool, Audit: s.watchers.Audit(s.db), BeforeTool: s.beforeTool, Observe: s.watchers.Tool, Clock: s.clock, Log: s.log,
		Refused: func() { s.watchers.AuthFailed(metrics.AuthScope) },
		Redact:  s.writeRules(),
		Changed: s.changed,
	}
	mcp, err := mcpapi.NewHandler(mcpapi.Options{
		Desk: s.desk, Version: thisBuild().Version, Tools: s.flags.tools, AllowRestore: s.flags.allowRestore, Clock: s.clock, Log: s.log,
		MaxBytes: int64(c.Server.MaxBody), AnyHost: true, // names are checked before
	})
	if err != nil {
		return nil, err
	}
	keeper := &doorkeeper{tokens: s.watchers.Tokens(s.db), any: s.db.HasTokens, local: s.isLocal(addr), failed: func() { s.watchers.AuthFailed(metrics.AuthMissing) }}
	vaults, err := s.newVaults(keeper)
	if err != nil {
		return nil, err
	}
	api, err := httpapi.New(httpapi.Options{
		Desk: s.desk, Authenticator: keeper, Clock: s.clock, Random: s.random, Log: s.log,
		Version: thisBuild().Version, Answers: answers{s.db}, Health: s.health, Ready: s.ready,
		Feeds: s.feeds, Listener: listening{s.bus, c.Events}, MutationPrefix: c.Events.MutationPrefix,
		MutationsOff: func() bool { return !s.current().Events.MutationEnabled },
		Metrics:      s.watchers.Handler(func(r *http.Request) amber.Grant { return server.CallerOf(r.Context()).Grant }),
		MCP:          mcp, Vault: vaults, Observe: s.watchers.HTTP, MaxBody: int64(c.Server.MaxBody), Hosts: s.hosts(addr), Origins: s.flags.origins,
	})
	if err == nil {
		s.watchers.ExpectRoutes(api.Routes()...)
		s.watchers.ExpectTools(mcpapi.Names()...)
	}
	return api, err
}

// current is the configuration as it is now.
func (s *serving) current() config.Config {
	c, err := s.config.Current()
	if err != nil {
		s.log.Warn("configuration", "error", err)
	}
	return c
}
