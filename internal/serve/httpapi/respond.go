package httpapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// gzipFrom is the size from which answers are packed.
const gzipFrom = 1 << 10

const (
	typeJSON   = "application/json"
	typeLines  = "application/x-ndjson"
	typeEvents = "text/event-stream"
	typeBytes  = "application/octet-stream"
	typeZip    = "application/zip"
)

// response is an answer as it goes out.
type response struct {
	Status int             `json:"status"`
	ETag   string          `json:"etag,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	// Redacted says what was taken out of the request, by rule; "" for nothing.
	Redacted string `json:"redacted,omitempty"`
	kept     []byte // the body that is kept for a key; nil: the body
}

// redactedHeader says what was taken out of a request before it was stored.
const redactedHeader = "Amber-Redacted"

func newResponse(status int, etag string, body any) (response, error) {
	status = cmp.Or(status, http.StatusOK)
	r := response{Status: status, ETag: etag}
	b, err := marshal(body)
	if err != nil {
		return response{}, &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	r.Body = b
	return r, nil
}

// marshal writes one line of JSON, in which no list is null.
func marshal(v any) ([]byte, error) {
	b, err := strictjson.Line(solid(v))
	return append(b, '\n'), err
}

// send writes an answer.
func (a *API) send(w http.ResponseWriter, r *http.Request, resp response) {
	defer hurry(w, a.o.Timeout)()
	h := w.Header()
	shared(h)
	if resp.Redacted != "" {
		h.Set(redactedHeader, resp.Redacted)
	}
	if resp.ETag != "" {
		h.Set("ETag", `"`+resp.ETag+`"`)
		if resp.Status == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodHead) && op.Matches(r.Header.Get("If-None-Match"), resp.ETag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if resp.Body == nil {
		w.WriteHeader(resp.Status)
		return
	}
	h.Set("Content-Type", typeJSON)
	body := []byte(resp.Body)
	if len(body) >= gzipFrom && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = pack(body)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	settle(w, len(body))
	w.WriteHeader(resp.Status)
	_, _ = w.Write(body)                      // the caller may be gone
	_ = http.NewResponseController(w).Flush() // while it is hurried
}

// shared sets the headers by which caches know that an answer is one caller's, and what it depends on.
func shared(h http.Header) {
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Add("Vary", "Accept, Accept-Encoding, Authorization")
}

// packers are used again: each has about a megabyte of tables.
var packers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

func pack(b []byte) []byte {
	var out bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&out)
	_, _ = z.Write(b) // a buffer takes everything
	_ = z.Close()
	z.Reset(nil) // the pool keeps no answer
	return out.Bytes()
}

// fail answers with an error.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := a.failure(w, r, err)
	status := statusOf(err, f.Error.Kind)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="amber"`)
	}
	if errors.Is(err, errCrowded) {
		w.Header().Set("Retry-After", "2")
		w.Header().Set("Connection", "close") // otherwise net/http reads the body that there is no room for before it answers
	}
	resp, merr := newResponse(status, "", f)
	if merr != nil {
		resp = response{Status: status}
	}
	w.Header().Set("Cache-Control", "no-store")
	a.send(w, r, resp)
}

// statusOf is the status of an error: that of its kind, but for two things that
// clients of HTTP know by their status before they read anything.
func statusOf(err error, kind amber.Kind) int {
	switch {
	case errors.Is(err, errNoToken):
		return http.StatusUnauthorized
	case errors.Is(err, errMethod):
		return http.StatusMethodNotAllowed
	case errors.Is(err, errCrowded):
		return http.StatusServiceUnavailable
	}
	return kind.HTTPStatus()
}

// failure is the error as the caller gets it. Details that the caller may not see stay in the log.
func (a *API) failure(w http.ResponseWriter, r *http.Request, err error) wire.Failure {
	caller := speaker(w)
	told, hidden := op.Told(caller, err)
	f := wire.FailureOf(told)
	f.Error.RequestID = requestID(w)
	if errors.Is(err, errGone) || r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		a.o.Log.DebugContext(r.Context(), "caller has gone", "request_id", f.Error.RequestID)
	} else if hidden || f.Error.Kind == amber.KindInternal || f.Error.Kind == amber.KindDamaged {
		a.o.Log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("kind", string(f.Error.Kind)),
			slog.String("error", err.Error()), slog.String("actor", caller.Actor()), slog.String("request_id", f.Error.RequestID))
	}
	return f
}

// errGone is in the chain of an error of writing to a caller that has gone, or does not read.
var errGone = errors.New("the caller has gone")

func gone(err error) error {
	return &amber.Error{Op: "write answer", Kind: amber.KindUnreachable, Err: fmt.Errorf("%w: %w", errGone, err)}
}

func acceptsGzip(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Accept-Encoding"), func(v string) bool {
		for enc := range strings.SplitSeq(v, ",") {
			name, weight, _ := strings.Cut(enc, ";")
			weight, _ = strings.CutPrefix(strings.ToLower(strings.TrimSpace(weight)), "q=")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") && (weight == "" || strings.Trim(weight, "0.") != "") {
				return true
			}
		}
		return false
	})
}

func wantsLines(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Accept"), func(v string) bool { return strings.Contains(v, typeLines) })
}

// respond makes the answer to an operation as its caller may see it: a caller that may change something and may not
// read gets a receipt without stored text. A tag that is no number is a digest, by which a text can be guessed: a
// receipt has none.
func (q *request) respond(c *op.Call, out any) (response, error) {
	if q.Silent() {
		return response{Status: http.StatusNoContent, Redacted: intake.Said(c.Redacted)}, nil
	}
	tag := c.Tag
	show := func(out any) (any, error) { return out, nil }
	if q.Is(op.Changes) && !q.who.MayRead() {
		if _, err := strconv.ParseInt(tag, 10, 64); err != nil {
			tag = ""
		}
		show = func(out any) (any, error) { return op.Receipt(out, q.Echo...) }
	}
	body, err := show(out)
	if err != nil {
		return response{}, err
	}
	resp, err := newResponse(q.Status, tag, body)
	resp.Redacted = intake.Said(c.Redacted)
	if err != nil || q.Kept == nil {
		return resp, err
	}
	kept, err := show(q.Kept(out))
	if err == nil {
		resp.kept, err = marshal(kept)
	}
	return resp, err
}
