package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/amber-memory/amber/internal/base/httpcall"
)

// expect says what the answer to a request may be.
type expect struct {
	streams bool   // the body is an object, read by the caller
	root    string // the XML element the body is; "" is anything
}

// maxAnswer bounds the answers that are not objects. A full page of a list,
// with the longest keys there are, is a third of it.
const maxAnswer = 16 << 20

// maxPages is how many pages without a name a list may have in a row.
const maxPages = 16

// attempt is one request and its answer. Its context, which the request goes
// out with, ends at the first thing that goes wrong, and its cause says what
// that was. So minio-go, which would wait and ask again on its own, does
// neither, and the cause is not lost in what minio-go makes of it.
type attempt struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	expect expect
	stall  time.Duration
	timer  *time.Timer // runs while the network is waited for
	pages  int         // answers since the last name of a list
}

type attemptKey struct{}

var errStalled = errors.New("the server stopped sending")

// begin returns an attempt, which the caller ends.
func (t *Target) begin(ctx context.Context, e expect) *attempt {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &attempt{cancel: cancel, expect: e, stall: t.stall}
	a.timer = time.AfterFunc(t.stall, func() { cancel(errStalled) })
	a.rest()
	a.ctx = context.WithValue(ctx, attemptKey{}, a)
	return a
}

// end frees what the attempt holds. Reading its answer is over then.
func (a *attempt) end() {
	a.rest()
	a.cancel(context.Canceled)
}

// watch ends the attempt unless something happens before long; rest ends the
// watch.
func (a *attempt) watch() { a.timer.Reset(a.stall) }
func (a *attempt) rest()  { a.timer.Stop() }

func (a *attempt) fail(err error) error {
	a.rest()
	a.cancel(err)
	return err
}

// why returns what ended the attempt, given what a reader of it says.
func (a *attempt) why(err error) error {
	if cause := context.Cause(a.ctx); cause != nil {
		return cause
	}
	return err
}

// cause is why, given what minio-go says.
func (a *attempt) cause(err error) error {
	var r minio.ErrorResponse // an error in an answer with status 200
	if err := a.why(err); !errors.As(err, &r) {
		return garbled(err)
	}
	return &answer{status: r.StatusCode, code: r.Code}
}

// once makes one attempt of f, which asks with the context it is given.
func (t *Target) once(ctx context.Context, e expect, f func(context.Context) error) error {
	a := t.begin(ctx, e)
	defer a.end()
	if err := f(a.ctx); err != nil {
		return a.cause(err)
	}
	return nil
}

// wire is what minio-go takes for the network.
type wire struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	a, ok := req.Context().Value(attemptKey{}).(*attempt)
	if !ok {
		return nil, errors.New("a request outside of an attempt")
	}
	a.watch()
	if req.Body != nil {
		body := req.Body
		req = req.WithContext(req.Context()) // a copy
		req.Body = &watched{a, body, false}
	}
	resp, err := w.next.RoundTrip(req)
	a.rest()
	if err != nil {
		return nil, a.fail(err)
	}
	resp.Body = &watched{a, resp.Body, true}
	if resp.StatusCode >= 300 {
		return nil, a.fail(readAnswer(resp))
	}
	if a.expect.streams {
		return resp, nil
	}
	if a.pages++; a.pages > maxPages {
		return nil, a.fail(errors.Join(errGarbled, resp.Body.Close()))
	}
	body, err := readBody(resp, maxAnswer)
	if err == nil && a.expect.root != "" && rootOf(body) != a.expect.root {
		err = errGarbled
	}
	if err != nil {
		return nil, a.fail(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// readBody reads a body to its end and closes it.
func readBody(resp *http.Response, limit int64) ([]byte, error) {
	body, whole, err := httpcall.Read(resp.Body, limit)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if !whole {
		return nil, errGarbled
	}
	return body, nil
}

// rootOf returns the name of the element that a document is, "" when it is
// none. minio-go does not look: every page of a hotel's wireless network would
// be an empty list to it.
func rootOf(document []byte) string {
	d := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok {
			return start.Name.Local
		}
	}
}

// watched is a body that is cut when it stands still. A body that is received is watched during
// each read: its reader may take its time in between. A body that is sent is watched from its last
// read on, until the answer comes.
type watched struct {
	attempt  *attempt
	body     io.ReadCloser
	received bool
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	w.attempt.watch()
	n, err := w.body.Read(p)
	if w.received {
		w.attempt.rest()
	}
	return n, err
}

// Close implements [io.Closer].
func (w *watched) Close() error { return w.body.Close() }
