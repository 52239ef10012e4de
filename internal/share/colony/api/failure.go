package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/httpcall"
)

// failure is why a request was not answered as it should be.
type failure struct {
	err     *amber.Error
	again   bool          // trying again may help
	after   time.Duration // what the vault asks to wait; 0: it does not say
	unsure  bool          // the request may have been carried out
	expired bool          // the token is not taken, a new one may be
}

// final is a failure that stays.
func final(k amber.Kind, r request, cause error) *failure {
	return &failure{err: &amber.Error{Op: r.op, Kind: k, ID: r.name, Err: cause}}
}

// senseless is the error of an answer that no vault gives.
func (r request) senseless(cause error) *amber.Error {
	return &amber.Error{
		Op: r.op, Kind: amber.KindUnreachable, ID: r.name, Err: fmt.Errorf("the answer is not that of a vault: %w", cause),
		Hint: "check the URL: the URL of a vault usually ends in /api/v1",
	}
}

// lost is the failure of a request without an answer, or with half of one.
func (c *Client) lost(ctx context.Context, r request, err error) *failure {
	err = httpcall.Lost(ctx, err)
	neverSent := httpcall.NeverSent(err)
	if text := c.session.secrets.Scrub(err.Error()); text != err.Error() {
		err = errors.New(text)
	}
	return &failure{
		err:   &amber.Error{Op: r.op, Kind: amber.KindUnreachable, ID: r.name, Err: fmt.Errorf("ask %s: %w", c.host, err)},
		again: true, unsure: !neverSent,
	}
}

// judge says what an answer means that is no success.
func (c *Client) judge(r request, a answer) *failure {
	d := parseDetail(a.body)
	// Before anything is cut: half a secret would not be recognised.
	d.code, d.message = c.session.secrets.Scrub(d.code), c.session.secrets.Scrub(d.message)
	f := final(amber.KindUnreachable, r, fmt.Errorf("%s answers %s", c.host, d.text(a.status)))
	switch {
	case a.status == http.StatusTooManyRequests:
		f.err.Kind, f.again = amber.KindQuota, true
	case a.status == http.StatusInsufficientStorage:
		f.err.Kind = amber.KindQuota
	case a.status == http.StatusInternalServerError && d.code == "DAMAGED": // a vault of Amber looked at the file
		f.err.Kind = amber.KindDamaged
	case a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly, a.status >= 500 && a.status != http.StatusNotImplemented:
		f.again, f.unsure = true, true
	case a.status == http.StatusUnauthorized:
		f.err.Kind, f.expired = amber.KindRefused, !r.login
		f.err.Hint = "check the API key of the vault"
	case a.status == http.StatusForbidden, a.status == http.StatusPaymentRequired, a.status == http.StatusUnavailableForLegalReasons:
		f.err.Kind = amber.KindRefused
	default:
		c.judgeContent(r, a, d, f)
	}
	if f.again {
		f.after, _ = httpcall.RetryAfter(a.header.Get("Retry-After"), longestAsked, func() (time.Time, bool) { return c.o.Clock(), true })
	}
	return f
}

// judgeContent judges what a vault says about the request itself.
func (c *Client) judgeContent(r request, a answer, d detail, f *failure) {
	badRequest := a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity
	switch {
	case r.login && badRequest && d.there:
		f.err.Kind = amber.KindRefused
		f.err.Hint = "check the API key of the vault"
	case r.name == "" && (a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotImplemented):
		f.err = r.senseless(errNoCall)
		if r.login { // without it nothing is known about other calls
			f.err = r.senseless(errNoLogin)
		}
	case a.status == http.StatusNotFound && r.header.Get("If-Match") != "" && d.absent():
		f.err.Kind = amber.KindConflict
	case a.status == http.StatusNotFound && r.method != http.MethodPut && d.absent():
		f.err.Kind = amber.KindNotFound
	case a.status == http.StatusConflict, a.status == http.StatusPreconditionFailed:
		f.err.Kind = amber.KindConflict
	case a.status == http.StatusRequestEntityTooLarge, badRequest && d.bound():
		f.err.Kind = amber.KindQuota
	case badRequest && d.there:
		f.err.Kind = amber.KindInvalid
	default:
		f.err.Hint = "check the URL: the URL of a vault usually ends in /api/v1"
	}
}

// detail is the body of a refusal.
type detail struct {
	there         bool // it is one that a vault writes
	code, message string
}

// parseDetail reads {"detail": …}: an object with code and message, a text, or a
// list of what is wrong with the request.
func parseDetail(b []byte) detail {
	var outer struct {
		Detail json.RawMessage `json:"detail"`
	}
	if !utf8.Valid(b) || json.Unmarshal(b, &outer) != nil {
		return detail{}
	}
	var object struct{ Code, Message string }
	if json.Unmarshal(outer.Detail, &object) == nil && strings.HasPrefix(string(outer.Detail), "{") {
		return detail{there: true, code: object.Code, message: object.Message}
	}
	var text string
	if json.Unmarshal(outer.Detail, &text) == nil && strings.HasPrefix(string(outer.Detail), `"`) {
		return detail{there: true, message: text}
	}
	var list []struct{ Msg string }
	if json.Unmarshal(outer.Detail, &list) == nil && len(list) > 0 {
		return detail{there: true, message: list[0].Msg}
	}
	return detail{}
}

// absent reports whether the vault itself says that there is no such file.
func (d detail) absent() bool {
	return d.there && (d.code == "" || d.code == "NOT_FOUND" || d.code == "FILE_NOT_FOUND")
}

// bound reports whether a bound is reached.
func (d detail) bound() bool { return d.code == "QUOTA_EXCEEDED" || d.code == "LIMIT_EXCEEDED" }

// text says on one line what was answered.
func (d detail) text(status int) string {
	s := fmt.Sprint(status)
	if code := clean(d.code); code != "" {
		s += " " + code
	}
	if message := clean(d.message); message != "" {
		s += ": " + message
	}
	return s
}

// clean makes a line for a terminal of what a stranger wrote.
func clean(s string) string { return clip.Runes(clip.Printed(s), 200) }
