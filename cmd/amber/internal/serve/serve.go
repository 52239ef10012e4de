package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/serve/daemon"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// serveFlags say how Amber is served.
type serveFlags struct {
	listen, cert, key string
	proxy             bool
	hosts, origins    []string
	tools             string
	allowRestore      bool
	grace, drain      time.Duration
	logLevel          string
	logJSON           bool
	unsafeDatabase    bool
	private           bool
}

// defaultDrain is longer than balancers take to find that a server is not ready.
const defaultDrain = 5 * time.Second

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := cli.Verb("serve", func(cmd *cobra.Command, _ []string) error { return a.serve(cmd, f) })
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "", "where to listen (default server.listen, 127.0.0.1:7411); port 0 is any free one")
	fl.StringVar(&f.cert, "tls-cert", "", "the certificate, in PEM (default server.tls_cert)")
	fl.StringVar(&f.key, "tls-key", "", "the key of the certificate, in PEM (default server.tls_key)")
	fl.BoolVar(&f.proxy, "behind-proxy", false, "a proxy in front of it ends TLS: everybody needs a token, wherever it listens")
	fl.StringArrayVar(&f.hosts, "host", nil, "answer to this name only (repeat); on this machine its own names without it")
	fl.StringArrayVar(&f.origins, "allow-origin", nil, "let pages of this origin ask (repeat)")
	fl.StringVar(&f.tools, "tools", "default", "the tools of MCP: default, all, profiles or names, joined by commas")
	fl.BoolVar(&f.allowRestore, "allow-restore", false, "let MCP restore snapshots")
	cli.SpanVar(fl, &f.grace, "shutdown-timeout", 30*time.Second, "how long requests may take to end when the server does")
	cli.SpanVar(fl, &f.drain, "drain", defaultDrain, "how long it goes on to answer while /readyz says that it ends, so that a balancer sends requests elsewhere; without --behind-proxy and a database of several servers it does not wait")
	fl.StringVar(&f.logLevel, "log-level", "info", "what is logged: debug, info, warn or error")
	fl.BoolVar(&f.unsafeDatabase, "accept-unsafe-database", false, "serve though the PostgreSQL server may lose what it acknowledged (fsync, synchronous_commit)")
	fl.BoolVar(&f.private, "private", false, "have a socket for programs of this user and no port, and end with standard input")
	fl.BoolVar(&f.logJSON, "log-json", false, "log in JSON")
	return cmd
}

// check refuses flags that say nothing. The error is of kind invalid.
func (f serveFlags) check() error {
	if f.grace < 0 || f.drain < 0 {
		return cli.Usage("--shutdown-timeout or --drain is negative")
	}
	for _, origin := range f.origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.String() != u.Scheme+"://"+u.Host {
			return cli.Usage("--allow-origin %q is no origin, as in https://example.org", cli.OneLine(origin, 80))
		}
	}
	if f.private && (f.listen != "" || f.cert != "" || f.key != "" || f.proxy || len(f.hosts) > 0 || len(f.origins) > 0) {
		return cli.Usage("--private has no port: it goes without --listen, --tls-cert, --tls-key, --behind-proxy, --host and --allow-origin")
	}
	return mcpapi.Check(f.tools)
}

// serving is a home being served.
type serving struct {
	*app
	log    *slog.Logger
	config *config.Reloader
	home   *home.Home
	engine cli.SnapshotEngine
	unsafe bool // a database that may lose what it acknowledged is served, too
}

// Served is the JSON of what is printed once the server listens.
type Served struct {
	URL  string `json:"url"`
	Page string `json:"page"`
	Home string `json:"home"`
	// Socket is where programs of the user ask without a token; Key is what they show at URL where there is none.
	Socket string `json:"socket,omitempty"`
	Key    string `json:"key,omitempty"`
	// Private reports whether the server is a private one, and Started whether it is this process.
	Private bool `json:"private,omitempty"`
	Started bool `json:"started"`
}

// serve runs until the context ends.
func (a *app) serve(cmd *cobra.Command, f serveFlags) error {
	s, o, err := a.newServing(cmd, f)
	if err != nil {
		return err
	}
	s.unsafe = f.unsafeDatabase
	// The memory that requests hold is bounded (server.memory); with the default of 100 as much again would be
	// garbage.
	a.CollectEarly(50)
	if f.private {
		return s.servePrivately(cmd.Context(), o)
	}
	return s.run(cmd.Context(), o, func(_ *daemon.Daemon, at daemon.Where) error {
		if !f.logJSON { // the log tells it, too
			s.Out.Note("the page for people: %s", at.Page)
		}
		return s.showServed(at, true)
	})
}

// showServed prints where the home is served. A key is for programs and is not printed in words.
func (s *serving) showServed(at daemon.Where, started bool) error {
	v := Served{URL: at.URL, Page: at.Page, Home: s.home.Dir(), Socket: at.Socket, Key: at.Key, Private: at.Private, Started: started}
	return s.Out.Show(v, func(w io.Writer) { fmt.Fprintln(w, at.URL) })
}

// run serves until the context ends. Listening is called once the server can be reached.
func (s *serving) run(ctx context.Context, o daemon.Options, listening func(*daemon.Daemon, daemon.Where) error) error {
	leave, err := s.openLedger(ctx, &o)
	if err != nil {
		return err
	}
	d, err := daemon.New(ctx, o)
	if err != nil {
		return errors.Join(err, leave())
	}
	s.Publisher = d.Publisher()
	if err = s.openEngine(ctx); err == nil {
		err = d.Serve(ctx, s.parts(), func(at daemon.Where) error { return listening(d, at) })
	}
	return errors.Join(err, d.Close(), leave())
}

// newServing reads what the flags and the configuration say.
func (a *app) newServing(cmd *cobra.Command, f serveFlags) (*serving, daemon.Options, error) {
	o := daemon.Options{
		Clock: a.Clock, Random: a.Random, Getenv: a.Getenv, After: a.After, Version: a.Version, Commit: a.Commit,
		BehindProxy: f.proxy, Hosts: f.hosts, Origins: f.origins, Tools: f.tools, AllowRestore: f.allowRestore, Grace: f.grace,
	}
	var err error
	if o.Log, err = a.newLog(f); err != nil {
		return nil, o, err
	}
	if err := f.check(); err != nil {
		return nil, o, err
	}
	in, err := a.ConfigInput()
	if err != nil {
		return nil, o, err
	}
	if o.Config, err = config.NewReloader(in, a.Clock); err != nil {
		return nil, o, err
	}
	c := o.Config.Loaded().Config
	for _, flag := range []struct {
		value *string
		name  string
		usual string
	}{{&f.listen, "listen", c.Server.Listen}, {&f.cert, "tls-cert", c.Server.TLSCert}, {&f.key, "tls-key", c.Server.TLSKey}} {
		if !cmd.Flags().Changed(flag.name) && !f.private {
			*flag.value = flag.usual
		}
	}
	if f.private {
		f.listen = "127.0.0.1:0" // where no socket is possible
	}
	if f.proxy || c.OnPostgres() && !f.private {
		o.Drain = f.drain
	}
	o.Private = f.private
	o.Listen = f.listen
	if o.TLS, err = f.certificate(); err != nil {
		return nil, o, err
	}
	if o.Home, _, err = a.OpenHome(); err != nil {
		return nil, o, err
	}
	return &serving{app: a, log: o.Log, config: o.Config, home: o.Home}, o, nil
}

// parts are what the daemon needs of agents.
func (s *serving) parts() daemon.Parts {
	p := daemon.Parts{
		Open: s.openAgent, Names: s.agentNames(), Vault: s.vaults(), Engine: s.engine, Worker: s.engine, Redact: s.writeRules(), Backup: s.backupAgent,
		Leaving: func(private bool) *redact.Redactor { return s.current().Leaving(private) },
		Digests: func() digest.Writer { return agent.DigestWriter(s.current().Digest, s.Getenv) },
		Journal: func(folder *home.Agent) (*journal.Journal, error) {
			return journal.Open(folder.SpoolDir(), agent.JournalOptions(s.current().Journal, s.Clock))
		},
	}
	if e, ok := s.engine.(agent.Engine); ok {
		p.Worker, p.Under = e.Worker(), func(p permit.Permit) wire.Snapshotter { return e.Under(p).Worker() }
	}
	return p
}

// certificate reads the certificate the server shows; nil without --tls-cert and
// server.tls_cert. Errors: invalid.
func (f serveFlags) certificate() (*tls.Config, error) {
	switch {
	case (f.cert == "") != (f.key == ""):
		return nil, cli.Usage("--tls-cert and --tls-key go together")
	case f.cert == "":
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, &amber.Error{Op: "read certificate", Kind: amber.KindInvalid, ID: f.cert, Err: err}
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// withoutSecret takes secrets out of what a server writes to its log: a path or an error may hold one that was refused.
func withoutSecret(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value; v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(intake.Line(v.String()))
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			a.Value = slog.StringValue(intake.Line(err.Error()))
		}
	}
	return a
}

// newLog is the logger of a server.
func (a *app) newLog(f serveFlags) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, cli.Usage("--log-level is %q, not debug, info, warn or error", cli.OneLine(f.logLevel, 40))
	}
	if a.Global.Quiet {
		level = max(level, slog.LevelWarn)
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: withoutSecret}
	if f.logJSON {
		return slog.New(slog.NewJSONHandler(a.Stderr, o)), nil
	}
	return slog.New(slog.NewTextHandler(a.Stderr, o)), nil
}

// current is the configuration as it is now.
func (s *serving) current() config.Config {
	c, err := s.config.Current()
	if err != nil {
		s.log.Warn("configuration", "error", err)
	}
	return c
}

// writeRules returns what gives the rules of the configuration as it is now. They
// are made anew only when it has changed.
func (s *serving) writeRules() func() *redact.Redactor {
	var mu sync.Mutex
	last := config.Default()
	rules := last.Intake()
	return func() *redact.Redactor {
		now := s.current()
		mu.Lock()
		defer mu.Unlock()
		if now.Write != last.Write || !slices.Equal(now.Redact.Rules, last.Redact.Rules) || !slices.Equal(now.Redact.Exceptions, last.Redact.Exceptions) {
			last, rules = now, now.Intake()
		}
		return rules
	}
}
