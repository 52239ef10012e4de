package mcpapi

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
)

// MaxMessageBytes bounds one message where nothing else is said: the largest
// memory, escaped.
const MaxMessageBytes = 8 << 20

// budgetBytes bounds what requests over HTTP hold where nothing else is said.
const budgetBytes = 64 << 20

// How long calls may take where nothing else is said.
const (
	DefaultTimeout     = time.Minute
	DefaultLongTimeout = time.Hour
)

// Options say what is offered. Desk and Clock are required.
type Options struct {
	Desk    *server.Desk
	Version string // of this build, told to clients
	// Tools are those that are offered: profiles and names of tools, joined by
	// commas. Empty means "default".
	Tools string
	// AllowRestore offers snapshot_restore to those who may restore.
	AllowRestore bool
	// Identities are what project, user and session mean where a call names
	// none.
	Identities amber.Identities
	// Folder returns the project of the folder in which the host runs, where Identities names none, and whether the
	// folder claims one that its user has not confirmed. The server calls it at every call of a tool; nil: there is
	// no folder.
	Folder func() (project string, waits bool)
	Clock  amber.Clock
	Log    *slog.Logger // nil: silent
	// Timeout bounds a call, LongTimeout one that takes, checks or restores
	// snapshots; 0: DefaultTimeout and DefaultLongTimeout.
	Timeout, LongTimeout time.Duration
	// MaxBytes bounds one request over HTTP; 0: MaxMessageBytes.
	MaxBytes int64
	// Budget bounds what requests over HTTP hold at one time; nil: one of their own.
	Budget *server.Budget
	// AnyHost lets requests to a loopback address name any host, as behind a
	// proxy. Without it a page in a browser that points its own name at this
	// machine is refused; the caller that sets it checks the name before.
	AnyHost bool
}

func (o Options) check() (Options, []*tool, error) {
	if o.Desk == nil || o.Clock == nil {
		return o, nil, amber.Errorf(amber.KindInvalid, "make MCP server", "", "a desk and a clock are required")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.LongTimeout <= 0 {
		o.LongTimeout = DefaultLongTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxMessageBytes
	}
	if o.Budget == nil {
		o.Budget = server.NewBudget(budgetBytes, server.Weight(o.MaxBytes+toolBytes))
	}
	tools, err := choose(o.Tools)
	if err == nil && !o.AllowRestore {
		tools = slices.DeleteFunc(tools, func(t *tool) bool { return t.Name == op.RestoreTool })
	}
	return o, tools, err
}

// NewServer returns a server for one caller and one agent, as over stdio: see
// [Stdio]. Errors: invalid.
func NewServer(o Options, who op.Caller, tenant amber.TenantID, agent amber.AgentID) (*mcp.Server, error) {
	o, tools, err := o.check()
	if err != nil {
		return nil, err
	}
	return newBound(newShared(o, tools), who, tenant, agent).server(), nil
}

// warnings is a logger for the SDK. It drops the lower levels, at which the SDK logs each message, since Amber logs
// the calls itself.
func warnings(l *slog.Logger) *slog.Logger { return slog.New(loud{l.Handler()}) }

// loud leaves out what is less than a warning.
type loud struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (h loud) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h loud) WithAttrs(attrs []slog.Attr) slog.Handler { return loud{h.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (h loud) WithGroup(name string) slog.Handler { return loud{h.Handler.WithGroup(name)} }
