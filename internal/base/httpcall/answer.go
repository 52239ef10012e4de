package httpcall

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Read reads an answer of at most so many bytes to its end. It reports false, with the beginning, for a larger one.
func Read(body io.Reader, most int64) (b []byte, whole bool, err error) {
	b, err = io.ReadAll(io.LimitReader(body, most+1))
	return b, int64(len(b)) <= most, err
}

// Lost says why there is no answer: why ctx ended, if it did, else err without the URL, which may hold a secret.
func Lost(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if named, ok := errors.AsType[*url.Error](err); ok {
		err = named.Err
	}
	return err
}

// NeverSent reports whether a request has not left this machine.
func NeverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// RetryAfter reads the header Retry-After, which has seconds or a date; now is called for a date. It reports false for
// what the header does not say, and never returns more than most.
func RetryAfter(value string, most time.Duration, now func() (time.Time, bool)) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(n, uint64(most/time.Second))) * time.Second, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	from, ok := now()
	return min(max(date.Sub(from), 0), most), ok
}
