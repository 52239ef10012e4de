package httpapi

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
)

// errNoToken is in the chain of the error for a caller that shows no token, or a wrong one.
var errNoToken = errors.New("a token is needed")

// requestIDHeader names the request in the answer, in the log and in the audit
// log.
const requestIDHeader = "X-Request-Id"

// noPolicy is the policy of answers that are no page: the browser runs nothing of them, and shows them in no frame.
const noPolicy = "default-src 'none'; frame-ancestors 'none'"

// guard is in front of every route: bounds, names, and what is remembered of a
// request.
func (a *API) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := a.o.Clock()
		rec := &recorder{ResponseWriter: w, id: a.newRequestID(r)}
		w = rec
		h := w.Header()
		h.Set(requestIDHeader, rec.id)
		r.Header.Set(requestIDHeader, rec.id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", noPolicy)
		body := &counter{ReadCloser: http.MaxBytesReader(w, r.Body, a.o.MaxBody), raw: r.Body, whole: func() { unhurried(w) }}
		if r.Body == http.NoBody {
			body.whole()
		}
		r.Body = body
		defer a.finish(rec, r, started, body)
		if err := a.checkNames(r); err != nil {
			a.failOutside(w, r, err)
			return
		}
		if a.welcome(w, r) || a.vault(w, r) {
			return
		}
		if err := checkPath(r.URL); err != nil {
			a.fail(w, r, err)
			return
		}
		if !plainPath(r) { // the router would answer with a redirect
			a.fail(w, r, nowhereTo(r))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// finish catches a bug, and reports to the log and the metrics what became of a request.
func (a *API) finish(rec *recorder, r *http.Request, started time.Time, body *counter) {
	p := recover()
	cutOff := p == http.ErrAbortHandler //nolint:errorlint // it is compared by net/http in the same way
	if cutOff {
		rec.status = http.StatusInternalServerError // whatever was sent is not all of it
	} else if p != nil {
		a.o.Log.ErrorContext(r.Context(), "bug", "panic", fmt.Sprint(p), "stack", string(debug.Stack()), "request_id", rec.id)
		if rec.status == 0 {
			a.failOutside(rec, r, amber.Errorf(amber.KindInternal, "serve request", "", "a bug in Amber; see the log of the server"))
		}
	}
	took := a.o.Clock().Sub(started)
	rec.status = cmp.Or(rec.status, http.StatusOK) // nothing was said
	route := cmp.Or(rec.route, "other")
	if a.o.Observe != nil {
		a.o.Observe(route, r.Method, rec.status, took, body.n, rec.n)
	}
	a.o.Log.DebugContext(r.Context(), "request", "route", route, "method", r.Method, "status", rec.status, "took", took,
		"in", body.n, "out", rec.n, "request_id", rec.id)
	if cutOff {
		panic(p) // so that the connection is closed
	}
}

// newRequestID keeps the id a caller gives, as far as it is harmless.
func (a *API) newRequestID(r *http.Request) string {
	if id := r.Header.Get(requestIDHeader); id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" {
		return id
	}
	var b [12]byte
	if _, err := io.ReadFull(a.o.Random, b[:]); err != nil {
		_, _ = rand.Read(b[:]) // it never fails
	}
	return hex.EncodeToString(b[:])
}

// plainPath reports whether a path has neither empty elements nor dots that
// mean a folder, and is one at all.
func plainPath(r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/")
	if !ok || r.Method == http.MethodConnect {
		return false
	}
	for element := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
		if element == "." || element == ".." || element == "" && rest != "" {
			return false
		}
	}
	return true
}

// caller finds out who asks.
func (a *API) caller(r *http.Request) (op.Caller, error) {
	secret := ""
	if len(r.Header.Values("Authorization")) > 1 {
		return op.Caller{}, unauthorized("there are several tokens")
	}
	if v := r.Header.Get("Authorization"); v != "" {
		scheme, rest, ok := strings.Cut(v, " ")
		if !ok || !strings.EqualFold(scheme, "Bearer") {
			return op.Caller{}, unauthorized("only bearer tokens are understood")
		}
		if secret = strings.TrimSpace(rest); secret == "" {
			return op.Caller{}, unauthorized("the token is empty")
		}
	}
	g, err := a.o.Authenticator.Grant(r.Context(), secret)
	if amber.KindOf(err) == amber.KindRefused {
		return op.Caller{}, unauthorized(err.Error())
	}
	return op.Caller{Grant: g, RequestID: r.Header.Get(requestIDHeader), Program: programOf(r)}, err
}

// programOf names the program that asks, by the first product of its User-Agent.
func programOf(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), " ")
	if name, _, _ = strings.Cut(name, "/"); name == "Go-http-client" { // what Go says for a program that does not name itself
		return ""
	}
	return name
}

func unauthorized(why string) error {
	return &amber.Error{Op: "authenticate", Kind: amber.KindRefused, Err: fmt.Errorf("%w: %s", errNoToken, why), Hint: "amber token create NAME"}
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	id     string
	route  string
	status int
	n      int64
	held   *server.Held // of the budget; nil: nothing
	who    op.Caller    // that was found out; none: a caller that may do nothing
}

func (w *recorder) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.n += int64(n)
	return n, err
}

// Unwrap lets response controllers through.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// note remembers the pattern of the route.
func note(w http.ResponseWriter, route string) {
	if rec, ok := w.(*recorder); ok {
		rec.route = route
	}
}

// introduce remembers who asks.
func introduce(w http.ResponseWriter, c op.Caller) {
	if rec, ok := w.(*recorder); ok {
		rec.who = c
	}
}

// speaker is the caller of a request, as far as the API has found out.
func speaker(w http.ResponseWriter) op.Caller {
	if rec, ok := w.(*recorder); ok {
		return rec.who
	}
	return op.Caller{}
}

func requestID(w http.ResponseWriter) string { return w.Header().Get(requestIDHeader) }

// counter counts what is read of a body.
type counter struct {
	io.ReadCloser
	raw   io.ReadCloser // without a bound
	whole func()        // called when all of it was read
	n     int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n += int64(n)
	if errors.Is(err, io.EOF) {
		c.whole()
	}
	return n, err
}
