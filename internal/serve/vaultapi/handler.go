package vaultapi

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Bounds of what is sent.
const (
	DefaultMaxChars = 1_100_000 // of the content of a file
	maxPrefix       = 255
	maxText         = 200  // that is searched for
	maxKey          = 1024 // of an API key
	maxQuery        = 8 << 10
)

// Options say what is served. Desk, Grant, Vault, Clock and Random are required.
type Options struct {
	Desk *server.Desk
	// Grant returns what the bearer of an API key may do. Errors: refused.
	Grant func(ctx context.Context, secret string) (wire.Grant, error)
	// Vault returns the vault of an agent. Errors: not_found when there is no
	// such agent.
	Vault func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (Store, error)
	// Key is what access tokens are sealed with, 32 bytes that several servers share; nil: one that is made up.
	Key []byte
	// First returns nil when a file may be the first one of a vault: an agent
	// that is not there is made only for such a file. Nil: any may be.
	First func(tenant amber.TenantID, name, content string) error
	// Failed is called for every request without an access token or with a wrong one;
	// it may be nil. Wrong keys are passed to Grant.
	Failed func()
	// Room is the quota that a vault shows before anything was written to it. The service shows 0 until then, which
	// colony-memory 0.1.0 takes for a full vault. Nil or 0: as the service does.
	Room func(tenant amber.TenantID) int64
	// Rates are asked for with every request; nil: there is no bound.
	Rates func(tenant amber.TenantID) Rates
	// Answers remembers what was answered to requests with an
	// Idempotency-Key; nil: the header is refused.
	Answers wire.Answers
	Clock   amber.Clock
	Random  io.Reader    // unpredictable, and safe for concurrent use
	Log     *slog.Logger // nil: silent
}

// Handler serves the vaults of agents. Safe for concurrent use.
type Handler struct {
	o      Options
	routes []*operation
	seal   *seal
	rates  rates
}

// New returns what serves vaults. The error is of kind invalid.
func New(o Options) (*Handler, error) {
	if o.Desk == nil || o.Desk.Agents == nil || o.Grant == nil || o.Vault == nil || o.Clock == nil || o.Random == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make vault API", "", "desk, grant, vault, clock and random source are required")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s, err := newSeal(o.Key, o.Random)
	if err != nil {
		return nil, err
	}
	h := &Handler{o: o, seal: s}
	h.routes = h.operations()
	return h, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, name, err := h.find(r)
	if err == nil {
		err = h.serve(w, r, op, name)
	}
	if err != nil {
		h.Fail(w, r, err)
	}
}

// call is a request that was read.
type call struct {
	*http.Request
	op    *operation
	name  string // of a file, where the path has one
	w     http.ResponseWriter
	body  body
	store Store
	who   op.Caller
	done  bool // what was asked for was done, whatever came then
}

// serve answers a request whose route is known.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, op *operation, name string) error {
	c := &call{Request: r, op: op, name: name, w: w}
	if op.open {
		a, err := h.exchange(c)
		if err == nil {
			send(w, a)
		}
		return err
	}
	var err error
	if c.who, err = h.caller(r); err != nil {
		return err
	}
	if err := h.take(c, requests); err != nil {
		return err
	}
	if op.body {
		if c.body, err = h.readBody(c); err != nil {
			return err
		}
	}
	a, err := h.once(c)
	if err != nil {
		return err
	}
	send(w, a)
	return nil
}

// act does what is asked for, as far as the caller may.
func (h *Handler) act(c *call) (a answer, err error) {
	g := c.who.Grant
	j := server.Job{
		Tenant: g.Tenant, Agent: g.Agent, Scope: c.op.scope, Action: c.op.action, Mutates: c.op.action != "",
		Subject: subject(c.name), Closed: true,
	}
	if g.Has(c.op.scope) { // a caller that may not uses up nothing
		if err := h.take(c, c.op.bucket); err != nil {
			return answer{}, err
		}
	}
	c.store, err = h.o.Vault(c.Context(), g.Tenant, g.Agent)
	var unfit error
	if amber.KindOf(err) == amber.KindNotFound {
		c.store, err = nothing{}, nil
		if c.op.first {
			unfit = h.first(c)
			j.Closed = unfit != nil // the desk makes the agent
		}
	}
	if err != nil {
		return answer{}, err
	}
	err = h.o.Desk.Do(c.Context(), c.who, j, func(ctx context.Context, did *op.Call) (err error) {
		if unfit != nil {
			return unfit
		}
		if !j.Closed {
			if c.store, err = h.o.Vault(ctx, g.Tenant, g.Agent); err != nil {
				return err
			}
		}
		a, err = c.op.do(ctx, c)
		c.done = err == nil
		did.Did = a.each
		return err
	})
	return a, err
}

// first returns nil when the request is for a file that may be the first one of a vault: a request that is refused
// makes no agent.
func (h *Handler) first(c *call) error {
	content, err := h.content(c)
	if err != nil {
		return err
	}
	w, err := c.op.wants(c.Header)
	if err != nil {
		return err
	}
	if w.there() {
		return noneThere()
	}
	if h.o.First == nil {
		return nil
	}
	return h.o.First(c.who.Grant.Tenant, c.name, content)
}
