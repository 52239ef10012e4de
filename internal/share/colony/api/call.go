package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
)

// request is one call of the interface. Each may be sent twice: a PUT writes the
// same again, and a condition or an absent file shows what was done before.
type request struct {
	op     string
	method string
	path   string // escaped, with a slash in front
	query  url.Values
	header http.Header
	body   []byte // nil: none
	name   string // of the file, "" when it is about none
	login  bool   // it is the exchange of the key
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	// unsure says that an earlier request of the call may have been carried
	// out. It is also set beside an error.
	unsure bool
}

// Causes of answers that make no sense.
var (
	errTooLarge = errors.New("the answer is too large for a vault")
	errTooMany  = errors.New("the answer names more files than a vault can have")
	errNotWhole = errors.New("the answer counts more files than it names")
	errNotDone  = errors.New("the answer does not mention the file, which is unchanged")
	errEndless  = errors.New("the listing has no end")
	errNoCall   = errors.New("the server has no such operation at this URL")
	errNoLogin  = errors.New("the server has no vault at this URL")
	errSilent   = errors.New("the server did not answer in time")
)

// call makes a request, again where that may help, with a new token where the
// old one is refused.
func (c *Client) call(ctx context.Context, r request) (answer, error) {
	w := waits{o: &c.o, began: c.o.Clock()}
	renewed, unsure := false, false
	for {
		a, f := c.attempt(ctx, r)
		if f == nil {
			a.unsure = unsure
			return a, nil
		}
		unsure = unsure || f.unsure
		if f.expired && !renewed {
			renewed = true
			continue
		}
		if !f.again || ctx.Err() != nil {
			return answer{unsure: unsure}, f.err
		}
		if err := w.wait(ctx, f); err != nil {
			return answer{unsure: unsure}, err
		}
	}
}

// attempt makes a request once, after the exchange of the key where there is no
// token.
func (c *Client) attempt(ctx context.Context, r request) (answer, *failure) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, errSilent)
	defer cancel()
	token, f := c.token(ctx)
	if f != nil {
		return answer{}, f
	}
	a, f := c.send(ctx, r, token)
	if f != nil && f.expired {
		c.session.drop(token)
	}
	return a, f
}

// send sends a request and reads the answer, which has a status of success.
func (c *Client) send(ctx context.Context, r request, token string) (answer, *failure) {
	req, err := c.newRequest(ctx, r, token)
	if err != nil {
		return answer{}, final(amber.KindInvalid, r, errors.New("the request cannot be sent"))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.lost(ctx, r, err)
	}
	defer func() { _ = resp.Body.Close() }()
	success := resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusNoContent
	limit := maxAnswer
	if !success {
		limit = maxFailure
	}
	b, whole, err := httpcall.Read(resp.Body, int64(limit))
	if err != nil {
		return answer{}, c.lost(ctx, r, err)
	}
	if resp.StatusCode == http.StatusNoContent {
		b = nil
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: b}
	if !success {
		return answer{}, c.judge(r, a)
	}
	if !whole {
		return answer{}, &failure{err: r.senseless(errTooLarge), unsure: true}
	}
	return a, nil
}

func (c *Client) newRequest(ctx context.Context, r request, token string) (*http.Request, error) {
	u := c.base + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.header)
	req.Header.Set("Accept", "application/json")
	// An answer that the server compresses on the way has a weak ETag, and no write can name a weak ETag in a
	// condition.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", c.o.UserAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// escape makes a path of a name: it escapes every element by itself and leaves the slashes. A name is invalid when its
// path would mean another file: one with an element that is empty, . or .., or one that is not UTF-8.
func escape(op, name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", amber.Errorf(amber.KindInvalid, op, "", "the name is not valid UTF-8")
	}
	elements := strings.Split(name, "/")
	for i, e := range elements {
		if e == "" || e == "." || e == ".." {
			return "", amber.Errorf(amber.KindInvalid, op, name, "an element of the name is empty, . or ..")
		}
		elements[i] = url.PathEscape(e)
	}
	return strings.Join(elements, "/"), nil
}
