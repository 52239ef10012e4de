package vaultapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// requestIDHeader names the request in the log and in the audit log.
const requestIDHeader = "X-Request-Id"

// answer is what goes out.
type answer struct {
	Status int             `json:"status"` // 0: it was sent already
	Tag    string          `json:"tag,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`

	each []string // the files that were changed, where they are not the one in the path
}

// newAnswer is an answer with a document.
func newAnswer(tag string, v any) (answer, error) {
	b, err := strictjson.Line(v)
	if err != nil {
		return answer{}, &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	return answer{Status: http.StatusOK, Tag: tag, Body: b}, nil
}

// send writes an answer.
func send(w http.ResponseWriter, a answer) {
	if a.Status == 0 {
		return
	}
	h := w.Header()
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Add("Vary", "Authorization")
	if a.Tag != "" {
		h.Set("ETag", quote(a.Tag))
	}
	if a.Body != nil {
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the caller may be gone
}

func quote(tag string) string { return `"` + tag + `"` }

// problem is an error with the status and the body that clients of the service
// know. It is answered as it is.
type problem struct {
	status  int
	detail  any // what stands under "detail"
	allowed []string
	wait    int // seconds; 0: nothing is said about when
}

func (p *problem) Error() string { return fmt.Sprintf("%d %v", p.status, p.detail) }

// Unwrap gives the problem the kind that the audit log knows it by: those that
// come up while something is done are about the request.
func (p *problem) Unwrap() error { return &amber.Error{Op: "read request", Kind: amber.KindInvalid} }

// coded is the detail of most errors.
type coded struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// field is what is wrong with one value of a request.
type field struct {
	Type    string   `json:"type"`
	Where   []string `json:"loc"`
	Message string   `json:"msg"`
}

func newProblem(status int, code, message string) *problem {
	return &problem{status: status, detail: coded{code, message}}
}

func badInput(message string) error {
	return newProblem(http.StatusBadRequest, "INVALID_INPUT", message)
}

// unprocessable is an error about one value of a request.
func unprocessable(kind, message string, where ...string) error {
	return &problem{status: http.StatusUnprocessableEntity, detail: []field{{kind, where, message}}}
}

// nowhere and wrongMethod answer as the service answers a path that is no route of its own, so that clients do not
// take the path for a file that is not there.
func nowhere() error { return &problem{status: http.StatusNotFound, detail: "Not Found"} }

func wrongMethod(allowed []string) error {
	return &problem{status: http.StatusMethodNotAllowed, detail: "Method Not Allowed", allowed: allowed}
}

// Fail answers with an error in the words of the vault, also with one that came up before a request got here.
func (h *Handler) Fail(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem
	if !errors.As(err, &p) {
		p = h.problemOf(r, err)
	}
	if p.allowed != nil {
		w.Header().Set("Allow", strings.Join(p.allowed, ", "))
	}
	if p.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.wait))
	}
	if p.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="amber"`)
	}
	w.Header().Set("Cache-Control", "no-store")
	b, merr := strictjson.Line(map[string]any{"detail": p.detail})
	if merr != nil {
		b = nil
	}
	send(w, answer{Status: p.status, Body: b})
}

// problemOf gives an error its status and code. Details that callers may not see stay in the log.
func (h *Handler) problemOf(r *http.Request, err error) *problem {
	told, hidden := op.Discreet(err)
	kind := amber.KindOf(err)
	if hidden || kind == amber.KindInternal || kind == amber.KindDamaged {
		h.o.Log.LogAttrs(r.Context(), slog.LevelError, "vault request failed", slog.String("kind", string(kind)),
			slog.String("error", err.Error()), slog.String("request_id", r.Header.Get(requestIDHeader)))
	}
	c, ok := codes[kind]
	if !ok {
		c = codes[amber.KindInternal]
	}
	if kind == amber.KindQuota && errors.Is(err, shelf.ErrTooMany) {
		c.code = "LIMIT_EXCEEDED"
	}
	message := wire.FailureOf(told).Error.Message
	if own, ok := ownWords[kind]; ok {
		message = own + nameOf(err)
	}
	if _, ok := errors.AsType[*unmet](err); ok {
		c.status, c.code = http.StatusPreconditionFailed, "PRECONDITION_FAILED"
	}
	p := newProblem(c.status, c.code, message)
	if c.status == http.StatusServiceUnavailable && !errors.Is(err, context.Canceled) {
		p.wait = 1
	}
	return p
}

// ownWords replace the text of errors of kinds whose text may name places of this machine: those are for the log.
var ownWords = map[amber.Kind]string{
	amber.KindNotFound:  "File not found.",
	amber.KindDamaged:   "A file of the vault is damaged; the log of the server and amber doctor tell more. Putting or deleting the file mends the vault.",
	amber.KindUntrusted: "A stored file is not to be trusted; the log of the server tells more.",
	amber.KindTooNew:    "A file of the vault was written by a newer Amber; the log of the server tells more.",
	amber.KindInternal:  "The server failed; its log tells more.",
}

// nameOf names the file that an error is about, where its store knows it.
func nameOf(err error) string {
	var known interface{ FileName() string }
	if !errors.As(err, &known) {
		return ""
	}
	return " The file is " + strconv.Quote(known.FileName()) + "."
}

// codes are the status and the code of every kind. The first seven are those of
// the service; it has none for what is damaged.
var codes = map[amber.Kind]struct {
	status int
	code   string
}{
	amber.KindInvalid:     {http.StatusBadRequest, "INVALID_INPUT"},
	amber.KindNotFound:    {http.StatusNotFound, "NOT_FOUND"},
	amber.KindConflict:    {http.StatusConflict, "CONFLICT"},
	amber.KindQuota:       {http.StatusBadRequest, "QUOTA_EXCEEDED"},
	amber.KindRefused:     {http.StatusForbidden, "FORBIDDEN"},
	amber.KindCrossTenant: {http.StatusForbidden, "FORBIDDEN"},
	amber.KindBusy:        {http.StatusServiceUnavailable, "BUSY"},
	amber.KindUnreachable: {http.StatusServiceUnavailable, "UNAVAILABLE"},
	amber.KindDamaged:     {http.StatusInternalServerError, "DAMAGED"},
	amber.KindUntrusted:   {http.StatusInternalServerError, "DAMAGED"},
	amber.KindTooNew:      {http.StatusInternalServerError, "TOO_NEW"},
	amber.KindUnsupported: {http.StatusNotImplemented, "UNSUPPORTED"},
	amber.KindInternal:    {http.StatusInternalServerError, "INTERNAL_ERROR"},
}
