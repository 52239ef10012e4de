package api

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/internal/base/strictjson"
)

// request is one call of the interface.
type request struct {
	op     string
	method string
	path   string // escaped, with a slash in front
	query  url.Values
	body   any           // is sent as JSON; nil: none
	id     string        // the subject of errors
	wait   time.Duration // for vectors and many files, beyond what a request may take
	write  bool          // it writes files
	key    string        // "": the one that [Options.Key] returns
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// rules are what an answer has to keep. Servers add fields, so unknown ones are fine.
var rules = strictjson.Rules{Space: true, AnyCase: true, Null: true, Unknown: true, MaxDepth: 64, MaxElements: 100_000}

// envelope is around the result of all calls but those about the server itself.
type envelope struct {
	Status  string          `json:"status"`
	Result  json.RawMessage `json:"result"`
	HasMore *bool           `json:"has_more"` // of a listing
}

// ask makes a request and reads the result into T.
func ask[T any](ctx context.Context, c *Client, r request) (T, error) {
	v, _, err := askPage[T](ctx, c, r)
	return v, err
}

// askPage is ask with the envelope.
func askPage[T any](ctx context.Context, c *Client, r request) (v T, e envelope, err error) {
	a, err := c.send(ctx, r)
	if err != nil {
		return v, e, err
	}
	if e, err = decode[envelope](a.body); err != nil {
		return v, e, c.damaged(r, err)
	}
	switch {
	case e.Status == "error":
		return v, e, c.judge(r, a)
	case e.Status != "ok":
		return v, e, c.damaged(r, errShape)
	case len(e.Result) == 0:
		e.Result = json.RawMessage("null") // some calls leave it out
	}
	if v, err = decode[T](e.Result); err != nil {
		return v, e, c.damaged(r, err)
	}
	return v, e, nil
}

// askPlain is ask for an answer without an envelope.
func askPlain[T any](ctx context.Context, c *Client, r request) (v T, err error) {
	a, err := c.send(ctx, r)
	if err != nil {
		return v, err
	}
	if v, err = decode[T](a.body); err != nil {
		return v, c.damaged(r, err)
	}
	return v, nil
}

// decode reads JSON that others made. The errors repeat nothing of it.
func decode[T any](b []byte) (v T, err error) {
	if rules.Check(b, strictjson.Of(reflect.TypeFor[T]())) != nil || !json.Valid(b) {
		return v, errNotJSON
	}
	if json.Unmarshal(b, &v) != nil {
		return v, errShape
	}
	return v, nil
}

// send makes a request and returns the answer, which has a status of success.
func (c *Client) send(ctx context.Context, r request) (answer, error) {
	most := c.o.Request + r.wait
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("no answer within %s: %w", most, context.DeadlineExceeded))
	defer cancel()
	req, err := c.newRequest(ctx, r)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.lost(ctx, r, err)
	}
	defer func() { _ = resp.Body.Close() }()
	success := resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusAccepted
	limit := maxAnswer
	if !success {
		limit = maxFailure
	}
	b, whole, err := httpcall.Read(resp.Body, int64(limit))
	if err != nil {
		return answer{}, c.lost(ctx, r, err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: b}
	switch {
	case !success:
		return answer{}, c.judge(r, a)
	case !whole:
		return answer{}, c.damaged(r, errTooLarge)
	}
	return a, nil
}

func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	var body []byte
	var err error
	if r.body != nil {
		if body, err = strictjson.Line(r.body); err != nil {
			return nil, c.fail(r, amber.KindInternal, "the request cannot be written as JSON")
		}
	}
	u := c.base + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u, bytes.NewReader(body))
	if err != nil {
		return nil, c.fail(r, amber.KindInvalid, "the request cannot be made")
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, c.setHeader(ctx, req.Header, r)
}

// setHeader says who asks.
func (c *Client) setHeader(ctx context.Context, h http.Header, r request) error {
	key := r.key
	if key == "" {
		var err error
		if key, err = c.key(r); err != nil {
			return err
		}
		if err = c.owned(ctx, r, key); err != nil {
			return err
		}
	}
	id, err := c.requestID()
	if err != nil {
		return c.fail(r, amber.KindInternal, "no random bytes for the id of the request: %w", err)
	}
	h.Set("Accept", "application/json")
	h.Set("User-Agent", "amber")
	h.Set("X-Request-ID", id)
	for name, value := range map[string]string{"X-API-Key": key, "X-OpenViking-Account": c.o.Account, "X-OpenViking-User": c.o.User} {
		if value != "" {
			h.Set(name, value)
		}
	}
	return nil
}

// requestID makes an id that finds the request in the log of the server.
func (c *Client) requestID() (string, error) {
	c.random.Lock()
	defer c.random.Unlock()
	var id [16]byte
	if _, err := io.ReadFull(c.o.Random, id[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(id[:]), nil
}
