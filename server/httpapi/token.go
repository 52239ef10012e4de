package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// createToken asks for a token; the part of the home that it is for is in the body.
type createToken struct {
	Body wire.TokenRequest `body:"json"`
}

func (c createToken) aim(_ context.Context, _ *API, j *server.Job) {
	j.Tenant, j.Agent = c.Body.Tenant, c.Body.Agent
}

// revokeToken names a token.
type revokeToken struct {
	ID wire.TokenID `path:"id" doc:"the whole id of the token"`
}

// aim says whose token it is, so that the entry of the audit log is seen by those
// that the token was for. One that the caller may not see is nobody's.
func (t revokeToken) aim(ctx context.Context, a *API, j *server.Job) {
	if a.o.Tokens == nil {
		return
	}
	if found, err := server.FindToken(ctx, a.o.Tokens, t.ID); err == nil {
		j.Tenant, j.Agent, j.Subject = found.Tenant, found.Agent, string(found.ID)
	}
}

// tokenRoutes serve the tokens of the home.
func tokenRoutes(a *API) {
	handle(a, operation{
		id: "token.list", method: "GET", path: tokenPath, scope: wire.TokenAdmin, home: true,
		summary: "List the tokens that reach no farther than the one that asks, oldest first, revoked and expired ones too; never a secret",
	}, func(ctx context.Context, part *server.Agent, _ ofHome) (answer[amber.Page[wire.Token]], error) {
		if a.o.Tokens == nil {
			return answer[amber.Page[wire.Token]]{}, noTokens()
		}
		return items(server.ListTokens(ctx, a.o.Tokens, part.Tenant, part.ID))
	})

	handle(a, operation{
		id: "token.create", method: "POST", path: tokenPath, scope: wire.TokenAdmin, home: true, mutates: true, status: http.StatusCreated, kept: withoutSecret,
		summary: "Make a token that may do no more than the one that asks, in no other place and not for longer; its secret is in this answer and never again, so a repetition with the same Idempotency-Key has an empty one",
	}, func(ctx context.Context, _ *server.Agent, in createToken) (answer[wire.NewToken], error) {
		if a.o.Tokens == nil {
			return answer[wire.NewToken]{}, noTokens()
		}
		t, err := server.CreateToken(ctx, a.o.Tokens, in.Body)
		return answer[wire.NewToken]{body: t, subject: string(t.ID), undo: func(ctx context.Context) {
			if _, err := a.o.Tokens.RevokeToken(ctx, t.ID); err != nil {
				a.o.Log.WarnContext(ctx, "revoke token that was not written down", "error", err, "token", string(t.ID))
			}
		}}, err
	})

	handle(a, operation{
		id: "token.revoke", method: "DELETE", path: tokenPath + "/{id}", scope: wire.TokenAdmin, home: true, mutates: true, repeatable: true, lasting: true,
		summary: "Revoke a token, at once and for good; revoking it twice does nothing",
	}, func(ctx context.Context, _ *server.Agent, in revokeToken) (answer[wire.Token], error) {
		if a.o.Tokens == nil {
			return answer[wire.Token]{}, noTokens()
		}
		t, err := server.FindToken(ctx, a.o.Tokens, in.ID)
		if err == nil {
			t, err = a.o.Tokens.RevokeToken(ctx, t.ID)
		}
		return got(t, err)
	})
}

// withoutSecret is what is kept of the answer that shows a secret: no secret is
// stored anywhere.
func withoutSecret(r response) (response, error) {
	var t wire.NewToken
	if err := json.Unmarshal(r.Body, &t); err != nil {
		return response{}, &amber.Error{Op: "keep answer", Kind: amber.KindInternal, Err: err}
	}
	t.Secret = ""
	out, err := newResponse(r.Status, r.ETag, t)
	out.Redacted = r.Redacted
	return out, err
}

func noTokens() error { return unsupported("open tokens", "this server has no tokens") }
