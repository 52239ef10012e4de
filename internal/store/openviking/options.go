package openviking

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// Server is what the store needs of an OpenViking server. Errors are *amber.Error: unreachable,
// busy, refused, invalid, not_found, unsupported, damaged; [api.RetryAfter] and [api.ErrNoVector] say
// more of them. Safe for concurrent use.
type Server interface {
	Health(ctx context.Context) (api.Health, error)
	// User returns the user whose files the key opens.
	User(ctx context.Context) (string, error)
	Mkdir(ctx context.Context, uri string) error
	// WriteBatch writes files below a folder that exists, at most 200 of them and 16 MiB.
	WriteBatch(ctx context.Context, root string, files []api.File) error
	// Write writes a file and waits for its vector.
	Write(ctx context.Context, uri, content string) error
	Find(ctx context.Context, q api.Query) ([]api.Found, error)
	Download(ctx context.Context, uri string) ([]byte, error)
	// List calls fn with everything below a folder.
	List(ctx context.Context, root string, fn func(uri string) error) error
	// Delete does nothing where there is nothing.
	Delete(ctx context.Context, uri string, recursive bool) error
	Missing(ctx context.Context, root string) (api.Missing, error)
	Reindex(ctx context.Context, uri string) (api.Rebuilt, error)
}

// FusionRRF merges the hits of both sides by reciprocal rank.
const FusionRRF = "rrf"

// The defaults of [Options].
const (
	DefaultMinScore    = 0.75
	DefaultFindTimeout = 800 * time.Millisecond
	DefaultBehind      = 1000
)

// Options say what a store is put together from.
type Options struct {
	// Primary keeps everything. Required: LongTerm, Memories, Changes.
	Primary amber.Parts
	Cursors amber.IndexCursors // of the primary; required
	Server  Server             // required
	URL     string             // of the server; required
	Tenant  amber.TenantID     // required
	Agent   amber.AgentID      // required
	User    string             // "": the server is asked

	// Redact takes secrets out of what leaves: files and questions. nil: nothing is taken out.
	Redact func(string) string
	// Rules names the rules of Redact. After a change everything is sent again.
	Rules string
	// Include are the private scopes, user and session, that leave to a server elsewhere, too.
	Include []amber.Scope

	MinScore    float64       // of the server, per embedder; 0: DefaultMinScore
	Fusion      string        // "": behind the primary's answers; or FusionRRF
	FindTimeout time.Duration // 0: DefaultFindTimeout
	Behind      int           // changes from which health is degraded; 0: DefaultBehind
	AnyVersion  bool          // use a server of a version that was not tested

	Clock amber.Clock // required
	// Wait returns after d or with the error of ctx; nil: with a timer.
	Wait func(ctx context.Context, d time.Duration) error
	// Lock keeps other processes from feeding. Errors: busy. nil: there are no others.
	Lock func(ctx context.Context) (release func() error, err error)
}

// complete fills defaults in and checks the options.
func (o Options) complete() (Options, error) {
	const op = "open openviking"
	switch {
	case o.Primary.LongTerm == nil || o.Primary.Memories == nil || o.Primary.Changes == nil:
		return o, amber.Errorf(amber.KindInvalid, op, "", "the primary needs long-term memory, a reader and a change log")
	case o.Cursors == nil || o.Server == nil || o.Clock == nil || o.URL == "":
		return o, amber.Errorf(amber.KindInvalid, op, "", "cursors, server, clock and URL are required")
	case o.Fusion != "" && o.Fusion != FusionRRF:
		return o, amber.Errorf(amber.KindInvalid, op, "", "fusion is %.40q, want %q or nothing", o.Fusion, FusionRRF)
	case !(o.MinScore >= 0 && o.MinScore <= 1):
		return o, amber.Errorf(amber.KindInvalid, op, "", "min score is %v, want 0 up to 1", o.MinScore)
	case o.FindTimeout < 0 || o.Behind < 0:
		return o, amber.Errorf(amber.KindInvalid, op, "", "find timeout and behind are %v and %d, want 0 or more", o.FindTimeout, o.Behind)
	}
	if _, err := amber.ParseTenantID(string(o.Tenant)); err != nil {
		return o, err
	}
	if _, err := amber.ParseAgentID(string(o.Agent)); err != nil {
		return o, err
	}
	if o.User != "" && !validUser(o.User) {
		return o, amber.Errorf(amber.KindInvalid, op, "", "user is %.40q, want 1 to %d letters, digits and any of -_.@", o.User, maxUser)
	}
	o.fill()
	return o, nil
}

func (o *Options) fill() {
	o.URL = strings.TrimRight(o.URL, "/")
	o.Include = slices.Clone(o.Include)
	if o.MinScore == 0 {
		o.MinScore = DefaultMinScore
	}
	if o.FindTimeout == 0 {
		o.FindTimeout = DefaultFindTimeout
	}
	if o.Behind == 0 {
		o.Behind = DefaultBehind
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Wait == nil {
		o.Wait = httpcall.Wait
	}
	if o.Lock == nil {
		o.Lock = func(context.Context) (func() error, error) { return func() error { return nil }, nil }
	}
}

// leaves reports whether memories of a scope are sent: those of a user or a session only to this
// machine, or where that was asked for.
func (o *Options) leaves(s amber.Scope) bool {
	if s != amber.ScopeUser && s != amber.ScopeSession {
		return true
	}
	return IsLoopback(o.URL) || slices.Contains(o.Include, s)
}

// IsLoopback reports whether a URL is one of this machine.
func IsLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && httpcall.Loopback(u.Hostname())
}
