package vaultapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// exchange gives an access token for an API key.
func (h *Handler) exchange(c *call) (answer, error) {
	b, err := h.readBody(c)
	if err != nil {
		return answer{}, err
	}
	secret, err := b.text("api_key", 1, maxKey)
	if err != nil {
		return answer{}, err
	}
	if _, err := h.grant(c.Context(), secret, "AUTH_INVALID_TOKEN", "Invalid API key"); err != nil {
		return answer{}, err
	}
	token, err := h.seal.close(secret, h.o.Clock())
	if err != nil {
		return answer{}, err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	return newAnswer("", struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
	}{token, "bearer"})
}

// caller finds out who asks. The secret inside of an access token is asked for
// with every request, so that one that was revoked is of no use at once.
func (h *Handler) caller(r *http.Request) (op.Caller, error) {
	secret, ok := h.seal.open(bearer(r), h.o.Clock())
	if !ok {
		if h.o.Failed != nil {
			h.o.Failed()
		}
		return op.Caller{}, unauthorized("AUTH_INVALID_TOKEN", "Invalid token")
	}
	g, err := h.grant(r.Context(), secret, "AUTH_TOKEN_REVOKED", "The API key of this token is not valid any more")
	return op.Caller{Grant: g, RequestID: r.Header.Get(requestIDHeader)}, err
}

// bearer returns the one token of a request, "" when there is none or there are
// several.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// grant returns what a key is for: one agent. Code and message are those of a
// key that is not known.
func (h *Handler) grant(ctx context.Context, secret, code, message string) (wire.Grant, error) {
	g, err := h.o.Grant(ctx, secret)
	switch {
	case amber.KindOf(err) == amber.KindRefused:
		return g, unauthorized(code, message)
	case err != nil:
		return g, err
	case !g.Bound.None():
		return g, newProblem(http.StatusForbidden, "AUTH_AGENT_ONLY", "A vault holds files of the whole agent, and the token is bound to "+g.Bound.String())
	case g.Tenant == "" || g.Agent == "":
		return g, newProblem(http.StatusForbidden, "AUTH_AGENT_ONLY", "Only a token for one agent has a vault: amber token create NAME --tenant T --agent A")
	}
	return g, nil
}

func unauthorized(code, message string) error {
	return newProblem(http.StatusUnauthorized, code, message)
}
