package api

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
)

const healthPath = "/health"

// healthAnswer is the answer to GET /health.
type healthAnswer struct {
	Status   string `json:"status"`
	Healthy  *bool  `json:"healthy"`
	Version  string `json:"version"`
	AuthMode string `json:"auth_mode"`
	Account  string `json:"account_id"`
	User     string `json:"user_id"`
	Role     string `json:"role"`
}

// Health asks the server what it is.
func (c *Client) Health(ctx context.Context) (Health, error) {
	return c.health(ctx, request{op: "ask OpenViking for its health", method: http.MethodGet, path: healthPath})
}

func (c *Client) health(ctx context.Context, r request) (h Health, err error) {
	if r.key == "" {
		if r.key, err = c.key(r); err != nil {
			return h, err
		}
	}
	a, err := askPlain[healthAnswer](ctx, c, r)
	if err != nil {
		return Health{}, err
	}
	h = Health{Version: a.Version, AuthMode: a.AuthMode, Account: a.Account, User: a.User, Role: a.Role}
	for _, s := range []string{h.Version, h.AuthMode, h.Account, h.User, h.Role} {
		if len(s) > maxID || clean(s) != s {
			return Health{}, c.damaged(r, errShape)
		}
	}
	if h.Version == "" || a.Healthy == nil {
		return Health{}, c.damaged(r, errShape)
	}
	if !*a.Healthy || a.Status != "ok" {
		return Health{}, c.fail(r, amber.KindUnreachable, "the server says that it is not healthy")
	}
	return h, c.prove(r, h)
}

// User returns the user whom the server takes this client for: the first part of the names of
// all files. Errors: refused for a key that is not known.
func (c *Client) User(ctx context.Context) (string, error) {
	r := request{op: "ask OpenViking for the user", method: http.MethodGet, path: healthPath}
	if c.o.Key != nil {
		h, err := c.health(ctx, r)
		if err != nil {
			return "", err
		}
		if h.User != "" {
			return c.user(r, h.User)
		}
	}
	r.path = "/api/v1/system/status"
	a, err := ask[struct {
		User string `json:"user"`
	}](ctx, c, r)
	if err != nil {
		return "", err
	}
	return c.user(r, a.User)
}

func (c *Client) user(r request, user string) (string, error) {
	if !isID(user) {
		return "", c.damaged(r, errShape)
	}
	return user, nil
}
