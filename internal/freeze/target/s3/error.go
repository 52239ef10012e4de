package s3

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// errGarbled says that an answer is not one of S3. It does not show the answer.
var errGarbled = errors.New("the answer is not valid S3")

// garbled replaces errors of reading an answer that is already here.
func garbled(err error) error {
	var syntax *xml.SyntaxError
	var other xml.UnmarshalError
	if errors.As(err, &syntax) || errors.As(err, &other) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errGarbled
	}
	return err
}

// asIs is an error of the caller's own code, which is passed on.
type asIs struct{ error }

func (e asIs) Unwrap() error { return e.error }

// failure gives the last error of a request its kind: what the server forbids
// is refused, a bound of the server is quota, what it cannot do is
// unsupported, everything else is unreachable.
func failure(ctx context.Context, op, name string, err error) error {
	if own, ok := errors.AsType[asIs](err); ok {
		return own.error
	}
	if _, ok := errors.AsType[*amber.Error](err); ok {
		return err
	}
	if err := target.Alive(ctx, op, name); err != nil {
		return err
	}
	e := &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: name, Err: err}
	if a, ok := errors.AsType[*answer](err); ok {
		e.Kind, e.Hint = a.kind()
	}
	return e
}

// kind returns what an answer means. That there is no such object is for the
// caller to say; a bucket that is gone is, like a disk that was taken away,
// unreachable.
func (a *answer) kind() (kind amber.Kind, hint string) {
	switch {
	case a.code == noSuchBucket:
		return amber.KindUnreachable, hintBucket
	case a.code == "RequestTimeTooSkewed":
		return amber.KindRefused, "set the clock of this computer"
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden, slices.Contains(forbidding, a.code):
		return amber.KindRefused, "check the credentials and what they permit in this bucket"
	case a.status/100 == 3, slices.Contains(misplaced, a.code):
		return amber.KindUnreachable, a.hintRegion()
	case a.code == "QuotaExceeded", a.status == http.StatusInsufficientStorage:
		return amber.KindQuota, "make room at the server, or raise its bound"
	case a.status == http.StatusNotImplemented:
		return amber.KindUnsupported, ""
	}
	return amber.KindUnreachable, ""
}

const hintBucket = "check the name of the bucket and the endpoint; a bucket is made with the tools of the server"

// hintRegion names the region only if it looks like one.
func (a *answer) hintRegion() string {
	if a.region == "" || len(a.region) > 32 || !consists(a.region, "-") || strings.ToLower(a.region) != a.region {
		return "check the region and the endpoint"
	}
	return "set AWS_REGION=" + a.region
}

// again reports whether a request that ended so may succeed later.
func again(err error) bool {
	var (
		own    asIs
		a      *answer
		known  *amber.Error
		record tls.RecordHeaderError
		cert   *tls.CertificateVerificationError
		name   *net.DNSError
	)
	switch {
	case errors.As(err, &a):
		return a.passes()
	case errors.As(err, &own), errors.As(err, &known), errors.As(err, &record), errors.As(err, &cert):
		return false
	case errors.As(err, &name):
		return !name.IsNotFound
	}
	return true
}
