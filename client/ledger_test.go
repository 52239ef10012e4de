package client_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// keptHome serves the ledger of a home to everybody, through a handler in between.
func keptHome(t *testing.T, between func(http.Handler) http.Handler) (*client.Client, *ledger.DB) {
	t.Helper()
	d := servertest.Ledger(t, time.Now)
	api := must.Get(httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: one{&op.Agent{}}, Audit: d}, Authenticator: everybody{}, Clock: time.Now, Random: rand.Reader, Answers: d, Tokens: d,
		Names: func(context.Context, amber.TenantID) ([]server.AgentName, error) {
			return []server.AgentName{{Tenant: "acme", Agent: "ada"}, {Tenant: "umbrella", Agent: "eve"}}, nil
		},
	}))(t)
	srv := httptest.NewServer(between(api.Handler()))
	t.Cleanup(srv.Close)
	c := must.Get(client.New(client.Options{URL: srv.URL, HTTP: unkept(), Backoff: time.Nanosecond}))(t)
	return c, d
}

func straight(h http.Handler) http.Handler { return h }

func TestTheLedgerIsTheSameOverHTTP(t *testing.T) {
	t.Parallel()
	c, d := keptHome(t, straight)
	ctx := t.Context()
	times := cmp.AllowUnexported(amber.Time{})
	must.Equal(t, "tokens of a new home", must.Get(c.ListTokens(ctx, "", ""))(t), []wire.Token{})
	end := amber.At(time.Now().Add(time.Hour))
	made := must.Get(c.CreateToken(ctx, wire.TokenRequest{Name: "ci", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead}, ExpiresAt: end}))(t)
	must.Get(d.Authenticate(ctx, made.Secret))(t)
	must.Get(c.CreateToken(ctx, wire.TokenRequest{Name: "all", Scopes: wire.TokenScopes()}))(t)
	must.Equal(t, "tokens", must.Get(c.ListTokens(ctx, "", ""))(t), must.Get(d.ListTokens(ctx, ""))(t), times)
	must.Equal(t, "tokens of an agent", len(must.Get(c.ListTokens(ctx, "acme", "ada"))(t)), 1)
	must.Equal(t, "tokens of another", len(must.Get(c.ListTokens(ctx, "acme", "bob"))(t)), 0)
	for range 2 {
		gone := must.Get(c.RevokeToken(ctx, made.ID))(t)
		must.Hold(t, !gone.RevokedAt.IsZero(), "the token is %+v", gone)
	}
	for _, q := range []wire.AuditQuery{
		{}, {Limit: 1}, {Tenant: "acme"}, {Tenant: "acme", Agent: "ada"}, {Action: "token.revoke"}, {Actor: "local"}, {Since: amber.At(time.Now().Add(time.Hour))},
	} {
		want := must.Get(d.ListAudit(ctx, q))(t)
		must.Equal(t, "", must.Get(c.ListAudit(ctx, q))(t), want, times)
		if q.Cursor = want.Next; q.Cursor != "" {
			must.Equal(t, "the next page", must.Get(c.ListAudit(ctx, q))(t), must.Get(d.ListAudit(ctx, q))(t), times)
		}
	}
	must.Equal(t, "", must.Get(c.VerifyAudit(ctx))(t), must.Get(d.VerifyAudit(ctx))(t), times)
	must.Equal(t, "agents", must.Get(c.ListAgents(ctx, ""))(t), []wire.AgentName{{Tenant: "acme", Agent: "ada"}, {Tenant: "umbrella", Agent: "eve"}})
	must.Equal(t, "agents of a tenant", must.Get(c.ListAgents(ctx, "umbrella"))(t), []wire.AgentName{{Tenant: "umbrella", Agent: "eve"}})
	must.Fail(c.ListAgents(ctx, "../x"))(t, "no tenant id", amber.KindInvalid)
	must.Fail(c.ListAudit(ctx, wire.AuditQuery{Cursor: "x"}))(t, "a broken cursor", amber.KindInvalid)
	must.Fail(c.ListAudit(ctx, wire.AuditQuery{Limit: -1}))(t, "a negative limit", amber.KindInvalid)
	must.Fail(c.RevokeToken(ctx, "aaaaaaaa"))(t, "an unknown token", amber.KindNotFound)
	must.Fail(c.RevokeToken(ctx, ""))(t, "no token", amber.KindInvalid)
	must.Fail(c.CreateToken(ctx, wire.TokenRequest{Name: "x"}))(t, "no scope", amber.KindInvalid)
}

// A token whose secret is lost on the way is made once, and the error names it.
func TestALostSecretIsTold(t *testing.T) {
	t.Parallel()
	var lost atomic.Bool
	c, d := keptHome(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && lost.CompareAndSwap(false, true) {
				next.ServeHTTP(httptest.NewRecorder(), r)
				reset(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	made, err := c.CreateToken(t.Context(), wire.TokenRequest{Name: "ci", Scopes: []wire.TokenScope{wire.TokenRead}})
	must.Kind(t, "", err, amber.KindConflict)
	tokens := must.Get(d.ListTokens(t.Context(), ""))(t)
	must.Hold(t, len(tokens) == 1 && tokens[0].ID == made.ID && made.Secret == "", "tokens: %+v, answer %s", tokens, made.ID)
	must.Says(t, "", amber.HintOf(err), string(made.ID))
}

func TestAnAnswerThatIsNoLedgerIsDamaged(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(says(200, "application/json", `{"id":"other"}`))
	defer srv.Close()
	c := must.Get(client.New(client.Options{URL: srv.URL, HTTP: unkept()}))(t)
	must.Fail(c.ListAudit(t.Context(), wire.AuditQuery{}))(t, "a page", amber.KindDamaged)
	must.Fail(c.VerifyAudit(t.Context()))(t, "a report", amber.KindDamaged)
	must.Fail(c.ListTokens(t.Context(), "", ""))(t, "tokens", amber.KindDamaged)
	must.Fail(c.RevokeToken(t.Context(), "aaaaaaaa"))(t, "another token", amber.KindDamaged)
}
