package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// openRoutes are those that concern the server and no agent.
func (a *API) openRoutes() {
	a.open("GET /livez", a.o.Timeout, func(w http.ResponseWriter, r *http.Request) { a.show(w, r, serverStatus{"alive"}, nil) })
	a.open("GET /readyz", a.o.Timeout, func(w http.ResponseWriter, r *http.Request) {
		var err error
		if a.o.Ready != nil {
			err = a.o.Ready(r.Context(), r.URL.Query().Has("writes"))
		}
		a.show(w, r, serverStatus{"ready"}, err)
	})
	a.known("GET /health", a.o.Timeout, func(w http.ResponseWriter, r *http.Request, c op.Caller) { a.show(w, r, a.health(r.Context(), c), nil) })
	a.open("GET /openapi.json", a.o.Timeout, func(w http.ResponseWriter, r *http.Request) {
		a.send(w, r, response{Status: http.StatusOK, Body: a.openapi()})
	})
	a.pages()
	if a.o.Metrics != nil {
		a.known("GET /metrics", a.o.Timeout, a.o.Metrics)
	}
	if a.o.MCP != nil {
		// A tool may take as long as a snapshot does.
		a.known("/mcp", LongTimeout, a.o.MCP)
		a.known(op.AgentPath+"/mcp", LongTimeout, a.o.MCP)
	}
	a.open("/", a.o.Timeout, a.nowhere)
}

// serverStatus is the answer to a supervisor.
type serverStatus struct {
	Status string `json:"status"`
}

// open adds a route that needs no token: its answer says nothing about any tenant. A caller that does not take the
// answer within the limit is cut off.
func (a *API) open(pattern string, limit time.Duration, fn http.HandlerFunc) {
	route := pattern[strings.Index(pattern, "/"):]
	if route == "/" {
		route = "other"
	}
	a.opened = append(a.opened, route)
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		note(w, route)
		defer hurry(w, limit)()
		fn(w, r)
		_ = http.NewResponseController(w).Flush() // the caller may be gone
	})
}

// known adds a route for every caller with a token; the handler decides what to show.
func (a *API) known(pattern string, limit time.Duration, fn Handler) {
	a.open(pattern, limit, func(w http.ResponseWriter, r *http.Request) {
		caller, err := a.caller(r)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		introduce(w, caller)
		fn(w, r, caller)
	})
}

// show answers with one document, or an error.
func (a *API) show(w http.ResponseWriter, r *http.Request, body any, err error) {
	var resp response
	if err == nil {
		resp, err = newResponse(0, "", body)
	}
	if err != nil {
		a.fail(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	a.send(w, r, resp)
}

// health reports how the server is doing. The errors of the background may name agents, so only a caller that may
// see all agents gets them.
func (a *API) health(ctx context.Context, c op.Caller) wire.ServerHealth {
	h := wire.ServerHealth{Status: amber.Healthy, Version: a.o.Version, Workers: []wire.WorkerHealth{}}
	if a.o.Health != nil {
		h = a.o.Health(ctx)
	}
	g := c.Grant
	if g.Tenant != "" || g.Agent != "" || !g.Bound.None() {
		for i := range h.Workers {
			h.Workers[i].LastError, h.Workers[i].Detail = "", ""
		}
		h.Index, h.Servers = nil, nil // of all tenants
	}
	return h
}

// nowhere answers for paths and methods without a route.
func (a *API) nowhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := a.mux.Handler(probe); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		a.fail(w, r, &amber.Error{Op: "find route", Kind: amber.KindInvalid, Err: fmt.Errorf("%w: %s; %s does", errMethod, clip.Name(r.Method), strings.Join(allowed, ", "))})
		return
	}
	a.fail(w, r, nowhereTo(r))
}

// errMethod is in the chain of the error for a method that a path does not have.
var errMethod = errors.New("the method is not allowed here")

func nowhereTo(r *http.Request) error {
	return amber.Errorf(amber.KindNotFound, "find route", "", "nothing is served at %q; see /openapi.json", clip.Name(r.URL.Path))
}
