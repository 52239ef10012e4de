package httpapi

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Defaults and bounds.
const (
	DefaultMaxBody = 8 << 20
	DefaultTimeout = 60 * time.Second // of a request that reads or writes records
	LongTimeout    = time.Hour        // of one that takes, checks or restores snapshots

	maxHeader = 32 << 10
	maxQuery  = 24 << 10 // every filter at its bound, escaped
)

// Authenticator finds out who asks.
type Authenticator interface {
	// Grant returns what the bearer of a secret may do; the secret is "" for a caller that shows none. Errors:
	// refused.
	Grant(ctx context.Context, secret string) (wire.Grant, error)
}

// Listener hears what happens to snapshots and notes, in this process.
type Listener interface {
	// Listen calls fn with every event of an agent from now on until ctx ends,
	// one after the other, and returns nil then. Fn does not wait. Errors: busy
	// when events came faster than they were taken, and some are lost.
	Listen(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, fn func(events.Event)) error
}

// Options say what is served. Desk, Authenticator, Clock and Random are
// required.
type Options struct {
	Desk          *server.Desk
	Authenticator Authenticator
	Clock         amber.Clock
	Random        io.Reader
	Log           *slog.Logger // nil: silent
	Version       string

	// Answers remembers what was answered to requests with an Idempotency-Key;
	// nil: only writes of memories take one, and package client cannot replace or
	// delete anything else.
	Answers wire.Answers
	// Tokens keeps the tokens of the home; nil: they are not served.
	Tokens wire.Tokens
	// Names names the agents of a tenant, or of every one for "", sorted; it may name others. nil: they are not listed.
	Names func(ctx context.Context, tenant amber.TenantID) ([]server.AgentName, error)
	// Health reports how the server is doing. Ready reports whether it takes requests, with writes also those that
	// change something. Nil: the server is well, and takes requests.
	Health func(ctx context.Context) wire.ServerHealth
	Ready  func(ctx context.Context, writes bool) error
	// The event stream sends mutations under MutationPrefix unless MutationsOff, and the events that Listener
	// hears. Feeds read the mutations; nil: the stream sends only those that are made through Desk, as they happen.
	Feeds          *server.Feeds
	Listener       Listener
	MutationPrefix string
	MutationsOff   func() bool // nil: they are on
	// Metrics and MCP are served under /metrics and /mcp; nil: they are not.
	Metrics, MCP Handler
	// Vault is served under VaultPath; nil: it is not.
	Vault Vault
	// Observe is called after every request that was answered. Route is the pattern, never the path.
	Observe func(route, method string, status int, took time.Duration, in, out int64)

	// Leaving returns the rules by which secrets are taken out of an export, and
	// passages that are marked private, unless private says that they may leave;
	// nil: those of Amber alone.
	Leaving func(private bool) *redact.Redactor

	// Budget bounds what requests hold at one time; nil: one of their own.
	Budget  *server.Budget
	MaxBody int64         // 0: DefaultMaxBody
	Timeout time.Duration // 0: DefaultTimeout
	// Hosts are the names the server answers to; empty: all of them. Origins
	// are pages of other sites that may ask.
	Hosts, Origins []string
	// MaxStreams is how many event streams there are at one time; 0: 256. One
	// tenant has at most a quarter of them, one token an eighth.
	MaxStreams int
}

// Handler answers requests of callers that are known.
type Handler func(w http.ResponseWriter, r *http.Request, c op.Caller)

// API serves agents over HTTP. Safe for concurrent use.
type API struct {
	o       Options
	mux     *http.ServeMux
	ops     []*op.Row
	house   *op.House
	opened  []string // the patterns of routes that concern no agent
	pace    pace     // of event streams
	streams *crowd
	ending  context.Context // ends when Close is called
	end     context.CancelFunc
	openapi func() []byte

	uploads   *crowd
	maxUpload int64
	disk      func(dir string) (fsx.FSInfo, error)
}

// New returns what serves agents. The error is of kind invalid.
func New(o Options) (*API, error) {
	if o.Desk == nil || o.Desk.Agents == nil || o.Authenticator == nil || o.Clock == nil || o.Random == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make API", "", "desk, authenticator, clock and random source are required")
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Budget == nil {
		o.Budget = NewBudget(DefaultMemory, o.MaxBody)
	}
	if o.MaxStreams <= 0 {
		o.MaxStreams = 256
	}
	if o.Feeds == nil {
		o.Feeds = server.NewFeeds(o.Desk.Agents, nil)
	}
	if o.Desk.Changed == nil {
		o.Desk.Changed = o.Feeds.Changed
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	ending, end := context.WithCancel(context.Background())
	a := &API{o: o, mux: http.NewServeMux(), pace: streamPace, streams: newCrowd("streams", o.MaxStreams), uploads: newCrowd("uploads", maxUploads), maxUpload: MaxUpload, disk: fsx.Info, ending: ending, end: end}
	a.house = &op.House{
		Clock: o.Clock, Random: o.Random, Log: o.Log, Audit: o.Desk.Audit, Tokens: o.Tokens, Names: o.Names, Alone: o.Desk.Alone, Made: o.Desk.Made,
		Exchange: &exchange{desk: o.Desk, clock: o.Clock, random: o.Random, leaving: o.Leaving, turns: newTurns(maxImports)},
	}
	for _, row := range op.All() {
		a.add(row)
	}
	a.openRoutes()
	a.openapi = sync.OnceValue(func() []byte { return a.document(inTable) })
	return a, nil
}

// Routes returns the patterns of all routes, as Observe gets them.
func (a *API) Routes() []string {
	routes := []string{"other"}
	for _, o := range a.ops {
		if !slices.Contains(routes, o.Path()) {
			routes = append(routes, o.Path())
		}
	}
	if a.o.Vault != nil {
		routes = append(routes, a.o.Vault.Routes()...)
	}
	return append(routes, a.opened...)
}

// Handler returns the whole of it, guarded.
func (a *API) Handler() http.Handler { return a.guard(a.mux) }

// Close ends the event streams. Requests that are being answered go on.
func (a *API) Close() { a.end() }

// NewServer returns an HTTP server with bounds on slow and on many callers. The
// caller listens with [Limit], serves and shuts it down.
func (a *API) NewServer() *http.Server {
	return &http.Server{
		Handler:           a.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       a.o.Timeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(a.o.Log.Handler(), slog.LevelDebug),
	}
}
