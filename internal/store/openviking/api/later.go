package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/amber-memory/amber/internal/base/httpcall"
)

// longestAsked bounds what a server can ask a client to wait.
const longestAsked = time.Minute

// later is an error of a server that says when to ask again.
type later struct {
	err   error
	after time.Duration
}

func (l *later) Error() string { return fmt.Sprintf("%v; the server asks to wait %s", l.err, l.after) }
func (l *later) Unwrap() error { return l.err }

// RetryAfter returns how long the server asked to wait, at most a minute. It reports false for an
// error that does not say.
func RetryAfter(err error) (time.Duration, bool) {
	l, ok := errors.AsType[*later](err)
	if !ok {
		return 0, false
	}
	return l.after, true
}

// later adds what the header Retry-After of a 429 or 503 says: seconds, or a date.
func (c *Client) later(a answer, err error) error {
	if a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
		return err
	}
	after, ok := httpcall.RetryAfter(a.header.Get("Retry-After"), longestAsked, func() (time.Time, bool) { return c.now(a) })
	if !ok {
		return err
	}
	return &later{err, after}
}

// now is the time that a date in an answer counts from.
func (c *Client) now(a answer) (time.Time, bool) {
	if c.o.Clock != nil {
		return c.o.Clock(), true
	}
	t, err := http.ParseTime(a.header.Get("Date"))
	return t, err == nil
}
