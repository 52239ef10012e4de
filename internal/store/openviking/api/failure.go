package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
)

// ErrNoVector is in the chain of an error, of kind unreachable, when files are written and the
// vector of at least one could not be made. The server does not try again by itself: the caller
// asks for [Client.Reindex].
var ErrNoVector = errors.New("the file is written, its vector could not be made")

// Causes of errors. None repeats what was answered.
var (
	errURL      = errors.New("the URL is not valid: want the form http://127.0.0.1:1933 or https://host:port/prefix")
	errURLParts = errors.New("the URL has more than scheme, host, port and path: the API key belongs into a file")
	errPlain    = errors.New("plain HTTP is for this machine alone: use https")

	errNotJSON  = errors.New("the answer is not valid JSON")
	errShape    = errors.New("the answer is JSON of another shape")
	errTooLarge = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	errRedirect = errors.New("the answer is a redirect, which is not followed")
	errEndless  = errors.New("the listing has no end")
)

const urlHint = "check the URL of the OpenViking server"

// fail is an error of a request. The subject is the URI, or the host where there is none.
func (c *Client) fail(r request, k amber.Kind, format string, args ...any) *amber.Error {
	id := r.id
	if id == "" {
		id = c.host
	}
	return amber.Errorf(k, r.op, id, format, args...)
}

// damaged is the error of an answer that no OpenViking server gives.
func (c *Client) damaged(r request, cause error) *amber.Error {
	return c.fail(r, amber.KindDamaged, "%s: %w", c.host, cause).WithHint(urlHint)
}

// lost is the error of a request without an answer, or with a part of one.
func (c *Client) lost(ctx context.Context, r request, err error) error {
	err = httpcall.Lost(ctx, err)
	if text := c.secrets.Scrub(err.Error()); text != err.Error() {
		err = errors.New(text)
	}
	return c.fail(r, amber.KindUnreachable, "ask %s: %w", c.host, err)
}

// judge says what an answer means that is no success.
func (c *Client) judge(r request, a answer) error {
	d := parseDetail(a.body)
	text := fmt.Sprintf("%s answers %s", c.host, c.describe(a.status, d))
	switch k := kindOf(a.status, d); {
	case a.status >= 300 && a.status < 400:
		return c.damaged(r, errRedirect)
	case k == amber.KindDamaged:
		return c.fail(r, k, "%s", text).WithHint(urlHint)
	case k == amber.KindUnreachable && r.write && a.status == http.StatusInternalServerError && d.code == "PROCESSING_ERROR":
		return c.fail(r, k, "%w: %s", ErrNoVector, text)
	case k == amber.KindConflict && d.code == "ALREADY_EXISTS":
		return c.fail(r, k, "what is to be made exists already: %s", text)
	case k == amber.KindUnreachable:
		return c.fail(r, k, "%w", c.later(a, errors.New(text)))
	default:
		return c.fail(r, k, "%s", text)
	}
}

// describe says on one line what was answered. Secrets go before anything is cut: a part of one
// would not be recognised.
func (c *Client) describe(status int, d detail) string {
	s := fmt.Sprint(status)
	if code := clean(c.secrets.Scrub(d.code)); code != "" {
		s += " " + code
	}
	if message := clean(c.secrets.Scrub(d.message)); message != "" {
		s += ": " + message
	}
	return s
}

// kindOf is the table from statuses and codes to kinds.
func kindOf(status int, d detail) amber.Kind {
	has := func(codes ...string) bool { return slices.Contains(codes, d.code) }
	is := func(statuses ...int) bool { return slices.Contains(statuses, status) }
	switch {
	case is(401, 403) || has("UNAUTHENTICATED", "PERMISSION_DENIED"):
		return amber.KindRefused
	case is(408, 429, 502, 503, 504) || has("UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"):
		return amber.KindUnreachable
	case is(405, 501) || has("UNIMPLEMENTED"):
		return amber.KindUnsupported
	case is(409) && d.retryable:
		return amber.KindBusy
	case is(409, 412) || has("CONFLICT", "ALREADY_EXISTS"):
		return amber.KindConflict
	case is(404) && has("NOT_FOUND"):
		return amber.KindNotFound
	case is(404) && d.json: // not by a call of the server, but by what looks for one
		return amber.KindUnsupported
	case is(413) || is(400, 422) && d.json || strings.HasPrefix(d.code, "INVALID_"):
		return amber.KindInvalid
	case status >= 500:
		return amber.KindUnreachable
	}
	return amber.KindDamaged
}

// detail is what an answer says of a failure.
type detail struct {
	json          bool // the answer is a JSON object
	code, message string
	retryable     bool
}

// parseDetail reads {"status":"error","error":{"code","message","details"}}. It leaves out fields that are not there or
// are of another type.
func parseDetail(b []byte) (d detail) {
	outer, err := decode[map[string]json.RawMessage](b)
	if err != nil || outer == nil {
		return d
	}
	d.json = true
	inner, err := decode[map[string]json.RawMessage](outer["error"])
	if err != nil {
		return d
	}
	d.code, _ = decode[string](inner["code"])
	d.message, _ = decode[string](inner["message"])
	details, _ := decode[map[string]json.RawMessage](inner["details"])
	d.retryable, _ = decode[bool](details["retryable"])
	return d
}
