package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// calls remembers what a screen asked of the API first, for "as JSON". A screen may ask for large
// records by the hundred, so later answers are counted alone. One goroutine uses it.
type calls struct {
	made *apiCall
	read int64 // bytes of all answers
}

// apiCall is one request to the API and its answer.
type apiCall struct {
	Method string
	URL    string
	Body   string // of the request
	status int
	answer []byte
}

// inside carries requests to the API of this process without a network.
type inside struct {
	v *visit
}

// RoundTrip implements [http.RoundTripper]. The whole answer is in memory: the API
// bounds its answers, and streams go another way, see pass.
func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	inner := r.Clone(r.Context())
	inner.Host, inner.RemoteAddr, inner.RequestURI = t.v.r.Host, t.v.r.RemoteAddr, r.URL.RequestURI()
	inner.Header.Set("User-Agent", "page")
	inner.Header.Set("X-Request-Id", t.v.w.Header().Get("X-Request-Id"))
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	sent := ""
	if r.GetBody != nil {
		if b, err := r.GetBody(); err == nil {
			var text bytes.Buffer
			_, _ = text.ReadFrom(b) // it is in memory
			sent = text.String()
		}
	}
	w := &answer{header: http.Header{}}
	if r.Body != nil && r.GetBody == nil { // it arrives while the API reads it
		w.visitor = t.v.w
	}
	t.v.p.o.API.ServeHTTP(w, inner)
	w.WriteHeader(http.StatusOK) // nothing was said
	t.v.log.note(apiCall{Method: r.Method, URL: r.URL.RequestURI(), Body: sent, status: w.status, answer: w.body.Bytes()})
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(bytes.NewReader(w.body.Bytes())), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// note remembers the first call, and adds up the bytes of the answers. It leaves out requests for the capabilities of
// the store: one is made before every first call, and no screen is about it.
func (c *calls) note(call apiCall) {
	if strings.HasSuffix(call.URL, "/capabilities") {
		return
	}
	c.read += int64(len(call.answer))
	if c.made == nil {
		c.made = &call
	}
}

// size is how many bytes the API has answered with.
func (c *calls) size() int64 {
	return c.read
}

// forget drops what was asked so far: it is not what the screen is about.
func (c *calls) forget() {
	c.made = nil
}

// first is the call that a screen is about.
func (c *calls) first() (apiCall, bool) {
	if c.made == nil {
		return apiCall{}, false
	}
	return *c.made, true
}

// answer is a response in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	// visitor is whom the body of the request comes from as it is read; nil: it was read before.
	visitor http.ResponseWriter
}

// SetReadDeadline lets a handler that receives a file give each piece of it its time.
func (w *answer) SetReadDeadline(at time.Time) error {
	if w.visitor == nil {
		return http.ErrNotSupported
	}
	return http.NewResponseController(w.visitor).SetReadDeadline(at)
}

func (w *answer) Header() http.Header { return w.header }

func (w *answer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *answer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// pass answers with what the API answers at a path: a stream, or a file.
func (v *visit) pass(path string, query url.Values) error {
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.over, cancel)()
	inner := v.r.Clone(ctx)
	u := url.URL{Path: path, RawQuery: query.Encode()}
	if unescaped, err := url.PathUnescape(path); err == nil {
		u.Path, u.RawPath = unescaped, path
	}
	inner.URL, inner.RequestURI = &u, u.RequestURI()
	inner.Header.Del("Cookie")
	inner.Header.Del("Authorization")
	if v.secret != "" {
		inner.Header.Set("Authorization", "Bearer "+v.secret)
	}
	v.p.o.API.ServeHTTP(v.w, inner)
	return nil
}
