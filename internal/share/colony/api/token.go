package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/internal/base/strictjson"
)

// session is what the key was exchanged for.
type session struct {
	// gate is held by the one call that exchanges the key; the others wait for
	// it or the end of their contexts. A vault may know one token at a time.
	gate chan struct{}

	secrets httpcall.Secrets // keys and tokens

	mu    sync.Mutex
	token string
	at    time.Time // when it came
}

// current returns the token, "" where a new one is due.
func (s *session) current(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.at); age < 0 || age >= tokenAge {
		return ""
	}
	return s.token
}

func (s *session) set(token string, now time.Time) {
	s.secrets.Hide(token)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token, s.at = token, now
}

// drop forgets a token that was refused, unless there is a newer one.
func (s *session) drop(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == token {
		s.token = ""
	}
}

// token returns a token to show, after the exchange of the key where one is due.
func (c *Client) token(ctx context.Context) (string, *failure) {
	if token := c.session.current(c.o.Clock()); token != "" {
		return token, nil
	}
	r := request{op: "log in to vault", method: http.MethodPost, path: "/auth/token", login: true}
	select {
	case c.session.gate <- struct{}{}:
		defer func() { <-c.session.gate }()
	case <-ctx.Done():
		f := c.lost(ctx, r, ctx.Err())
		f.unsure = false
		return "", f
	}
	now := c.o.Clock()
	if token := c.session.current(now); token != "" {
		return token, nil
	}
	token, f := c.login(ctx, r)
	if f != nil {
		f.unsure = false // the request that matters was not sent
		return "", f
	}
	c.session.set(token, now)
	return token, nil
}

// login exchanges the key for a token.
func (c *Client) login(ctx context.Context, r request) (string, *failure) {
	key, err := c.key(ctx, r.op)
	if err != nil {
		return "", &failure{err: err}
	}
	body, encodeErr := strictjson.Line(map[string]string{"api_key": key})
	if encodeErr != nil {
		return "", final(amber.KindInternal, r, errors.New("the request cannot be written"))
	}
	r.body = body
	a, f := c.send(ctx, r, "")
	if f != nil {
		return "", f.ofKey()
	}
	token, senseless := parseToken(a.body)
	if senseless != nil {
		return "", &failure{err: r.senseless(senseless)}
	}
	return token, nil
}

// key asks for the key. Errors: what [Options.Key] returns; invalid for what is no
// key.
func (c *Client) key(ctx context.Context, op string) (string, *amber.Error) {
	key, err := c.o.Key(ctx)
	if err != nil {
		if e, ok := errors.AsType[*amber.Error](err); ok {
			return "", e
		}
		return "", &amber.Error{Op: op, Kind: amber.KindOf(err), Err: err}
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return "", amber.Errorf(amber.KindInvalid, op, "", "the API key is empty")
	}
	if !printable(key) || len(key) > maxToken {
		return "", amber.Errorf(amber.KindInvalid, op, "", "the API key contains characters that are not printable ASCII")
	}
	c.session.secrets.Hide(key)
	return key, nil
}

// maxToken bounds a key and a token.
const maxToken = 16 << 10

// printable reports whether a text can be in a header, without spaces.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func parseToken(b []byte) (string, error) {
	inner, err := unwrap(b)
	if err != nil {
		return "", err
	}
	var t struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(inner, &t); err != nil {
		return "", errShape
	}
	if t.Token == "" || len(t.Token) > maxToken || !printable(t.Token) {
		return "", errors.New("the answer contains no token")
	}
	return t.Token, nil
}
