package client

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// request is one call.
type request struct {
	method string
	path   []string // elements, not escaped
	query  url.Values
	header http.Header
	body   []byte    // JSON; nil: none
	file   io.Reader // a body that is sent as it is read; nil: none
	size   int64     // of the file; 0: not known
	long   bool      // the answer may take as long as a snapshot
	// again says that doing it twice is the same as doing it once, whatever
	// others do in between. Reads are.
	again bool
	// keyed gives the request a key of its own, by which the server knows it when
	// it comes again.
	keyed bool
}

func (r *request) mayRepeat() bool { return r.again || r.keyed }

// errTooLarge is the cause when an answer has more bytes than are read.
var errTooLarge = errors.New("the answer is too large")

// tooLarge is the error of an answer that has more bytes than are read.
func tooLarge(most int64) error {
	return &amber.Error{Op: "read answer", Kind: amber.KindDamaged, Err: fmt.Errorf("%w: it has more than %d bytes", errTooLarge, most)}
}

// longWait is how long the answer of an operation may take that the table of operations calls long. A server gives up earlier.
const longWait = 65 * time.Minute

var errSilent = errors.New("the server does not answer")

// call makes a request and reads the answer into out. A request that may be done twice is tried again while the server
// cannot be reached.
func (c *Client) call(ctx context.Context, r *request, out any) error {
	if r.keyed {
		key, err := c.newKey()
		if err != nil {
			return err
		}
		r.header.Set(op.KeyHeader, key)
	}
	pause := c.o.Backoff
	for attempt := 1; ; attempt++ {
		err := c.try(ctx, r, out)
		again := amber.KindOf(err) == amber.KindUnreachable && (r.mayRepeat() || httpcall.NeverSent(err))
		again = again || errors.Is(err, errCrowded)
		if r.keyed && attempt > 1 && amber.KindOf(err) == amber.KindBusy {
			again = true // the server is still at the first one
		}
		if !again || attempt >= c.o.Attempts || ctx.Err() != nil || c.o.Wait(ctx, pause) != nil {
			return r.explain(err)
		}
		pause *= 2
	}
}

// explain adds to the error of a request whose answer did not come that the server may have carried it out: the
// client cannot know.
func (r *request) explain(err error) error {
	var e *amber.Error
	if amber.KindOf(err) != amber.KindUnreachable || r.mayRepeat() || httpcall.NeverSent(err) || !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Hint = "the server may have carried out the request: check before you repeat it"
	return &told
}

// newKey makes an idempotency key.
func (c *Client) newKey() (string, error) {
	b := make([]byte, 16)
	if _, err := io.ReadFull(c.o.Random, b); err != nil {
		return "", &amber.Error{Op: "write request", Kind: amber.KindInternal, Err: fmt.Errorf("read random bytes: %w", err)}
	}
	return hex.EncodeToString(b), nil
}

// try makes a request once.
func (c *Client) try(ctx context.Context, r *request, out any) error {
	patience := c.o.Patience
	if r.long {
		patience = longWait
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	resp, err := c.send(ctx, r, "application/json")
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	return decode(ctx, resp, out, c.o.MaxAnswer)
}

// decode reads an answer.
func decode(ctx context.Context, resp *http.Response, out any, most int64) error {
	if resp.StatusCode/100 != 2 {
		return failure(resp)
	}
	if _, ok := out.(*op.None); ok {
		return noContent(resp)
	}
	if err := answerType(resp, "application/json"); err != nil {
		return err
	}
	b, whole, err := httpcall.Read(resp.Body, most)
	if err != nil {
		return brokenOff(ctx, err)
	}
	if !whole {
		return tooLarge(most)
	}
	if !utf8.Valid(b) { // JSON would mend it
		return amber.Errorf(amber.KindDamaged, "read answer", "", "the answer is not UTF-8")
	}
	if err := json.Unmarshal(b, out); err != nil {
		return &amber.Error{Op: "read answer", Kind: amber.KindDamaged, Err: err}
	}
	return nil
}

// encode writes the JSON of a body.
func encode(body any) ([]byte, error) {
	b, err := strictjson.Line(body)
	if err != nil {
		return nil, &amber.Error{Op: "write request", Kind: amber.KindInvalid, Err: err}
	}
	return append(b, '\n'), nil
}

// send sends a request. Errors: unreachable; invalid for what cannot be sent.
func (c *Client) send(ctx context.Context, r *request, accept string) (*http.Response, error) {
	u := *c.base
	u.RawPath = strings.TrimSuffix(u.EscapedPath(), "/")
	for _, element := range r.path {
		if element == "" { // it would be another path
			return nil, amber.Errorf(amber.KindInvalid, "write request", "", "an id is empty")
		}
		u.RawPath += "/" + escape(element)
	}
	u.Path, _ = url.PathUnescape(u.RawPath) // it was escaped just now
	u.RawQuery = r.query.Encode()
	var content io.Reader
	switch {
	case r.body != nil:
		content = bytes.NewReader(r.body)
	case r.file != nil:
		content = io.NopCloser(r.file)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), content)
	if err != nil {
		return nil, &amber.Error{Op: "write request", Kind: amber.KindInvalid, Err: err}
	}
	req.Header = r.header.Clone()
	req.Header.Set("Accept", accept)
	switch {
	case r.body != nil:
		req.Header.Set("Content-Type", "application/json")
	case r.file != nil:
		req.ContentLength = r.size
		req.Header.Set("Content-Type", "application/octet-stream")
		req.Header.Set("Expect", "100-continue") // a server that refuses it need not be sent it
	}
	c.authorize(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return resp, nil
}

// escape makes one element of a path of any text. A dot would be taken for the
// folder, so it is written as a number.
func escape(element string) string {
	s := url.PathEscape(element)
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return s
}

// unreachable is the error of a request that got no answer.
func unreachable(ctx context.Context, err error) error {
	err = httpcall.Lost(ctx, err)
	hint := "check that amber serve runs at this URL"
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		hint = "--remote-ca FILE, or memory.backends.remote.ca, names the certificate, if you trust the server"
	}
	return &amber.Error{Op: "ask server", Kind: amber.KindUnreachable, Err: err, Hint: hint}
}

// brokenOff is the error of an answer that did not come to its end, or whose
// bytes were changed on the way.
func brokenOff(ctx context.Context, err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt) {
		return &amber.Error{Op: "read answer", Kind: amber.KindDamaged, Err: err}
	}
	return unreachable(ctx, err)
}

// noContent checks the answer to a call that has none: a page that a proxy
// sends does not say that something was done.
func noContent(resp *http.Response) error {
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	return notAmber(fmt.Sprint(resp.StatusCode))
}

// errCrowded is in the chain of what a server answers that had no room for a request: it did nothing.
var errCrowded = errors.New("the server has no room")

// failure reads the error of an answer. An error that no Amber wrote says nothing about what was asked for: the
// request did not reach a server that could know.
func failure(resp *http.Response) error {
	var f wire.Failure
	if answerType(resp, "application/json") == nil {
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
		if err == nil && json.Unmarshal(b, &f) == nil && f.Error.Kind != "" {
			if f.Error.Kind == amber.KindBusy && resp.StatusCode == http.StatusServiceUnavailable {
				return crowded(f.Err())
			}
			return f.Err()
		}
	}
	return notAmber(fmt.Sprint(resp.StatusCode))
}

// crowded marks the error of a server that had no room.
func crowded(err error) error {
	var e *amber.Error
	if !errors.As(err, &e) {
		return err
	}
	marked := *e
	marked.Err = fmt.Errorf("%w: %w", errCrowded, e.Err)
	return &marked
}

// answerType checks what kind of document an answer is.
func answerType(resp *http.Response, want string) error {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err == nil && kind == want {
		return nil
	}
	return notAmber(fmt.Sprintf("%q", resp.Header.Get("Content-Type")))
}

// notAmber is the error of an answer that no Amber gives.
func notAmber(what string) error {
	return &amber.Error{
		Op: "ask server", Kind: amber.KindUnreachable, Err: fmt.Errorf("the server answers %s, which is not an answer of Amber", what), Hint: "check the URL",
	}
}
