package api

import (
	"context"
	"net/http"
)

const accountsPath = "/api/v1/admin/accounts"

// CreateAccount makes an account and its first user, who administers it, and returns the key of
// that user. It needs the root key. Errors: conflict for an account that is there.
func (c *Client) CreateAccount(ctx context.Context, account, admin string) (key string, err error) {
	r := request{op: "create OpenViking account", method: http.MethodPost, path: accountsPath, id: account}
	if err := checkIDs(r.op, account, admin); err != nil {
		return "", err
	}
	r.body = map[string]string{"account_id": account, "admin_user_id": admin}
	return c.newKey(ctx, r)
}

// CreateUser makes a user of an account and returns the key. It needs the key of an administrator.
// Errors: conflict for a user who is there.
func (c *Client) CreateUser(ctx context.Context, account, user string) (key string, err error) {
	r := request{op: "create OpenViking user", method: http.MethodPost, path: accountsPath + "/" + account + "/users", id: account + "/" + user}
	if err := checkIDs(r.op, account, user); err != nil {
		return "", err
	}
	r.body = map[string]string{"user_id": user, "role": "user"}
	return c.newKey(ctx, r)
}

// NewKey returns a new key for a user; the old one is refused at once. It needs the key of an
// administrator. Errors: not_found.
func (c *Client) NewKey(ctx context.Context, account, user string) (key string, err error) {
	r := request{op: "make OpenViking key", method: http.MethodPost, path: accountsPath + "/" + account + "/users/" + user + "/key", id: account + "/" + user}
	if err := checkIDs(r.op, account, user); err != nil {
		return "", err
	}
	r.body = struct{}{}
	return c.newKey(ctx, r)
}

// newKey makes a request whose answer has a key.
func (c *Client) newKey(ctx context.Context, r request) (string, error) {
	a, err := ask[struct {
		Key string `json:"user_key"`
	}](ctx, c, r)
	if err != nil {
		return "", err
	}
	if !isKey(a.Key) {
		return "", c.damaged(r, errShape)
	}
	c.secrets.Hide(a.Key)
	return a.Key, nil
}
