package mcpapi

import (
	"cmp"
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
)

// NewHandler returns the server over streamable HTTP, for the caller that
// [server.CallerOf] finds in a request. The agent is the one of the path values
// "tenant" and "agent", else that of the grant, else the default one. There are
// no sessions: every request has a server of its own, so none can be used by
// another caller. Errors: invalid.
func NewHandler(o Options) (http.Handler, error) {
	o, tools, err := o.check()
	if err != nil {
		return nil, err
	}
	s := &shared{Options: o, tools: tools}
	inner := mcp.NewStreamableHTTPHandler(
		func(r *http.Request) *mcp.Server { return serverOf(r.Context()) },
		&mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, Logger: warnings(o.Log), MaxRequestBodyBytes: o.MaxBytes,
			DisableLocalhostProtection: o.AnyHost, PropagateRequestCancellation: true,
		},
	)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := server.CallerOf(r.Context())
		tenant := cmp.Or(amber.TenantID(r.PathValue("tenant")), who.Grant.Tenant, amber.DefaultTenant)
		agent := cmp.Or(amber.AgentID(r.PathValue("agent")), who.Grant.Agent, amber.DefaultAgent)
		b := newBound(s, who, tenant, agent)
		// Older versions of the protocol would go on without the caller.
		b.left = func(gone func()) func() bool { return context.AfterFunc(r.Context(), gone) }
		inner.ServeHTTP(w, r.WithContext(withServer(r.Context(), b.server())))
	}), nil
}

// serverKey is the key of a request's own server in its context.
type serverKey struct{}

func withServer(ctx context.Context, s *mcp.Server) context.Context {
	return context.WithValue(ctx, serverKey{}, s)
}

func serverOf(ctx context.Context) *mcp.Server {
	s, _ := ctx.Value(serverKey{}).(*mcp.Server)
	return s
}
