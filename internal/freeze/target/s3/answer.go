package s3

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// answer is an error that the server answered with.
type answer struct {
	status int
	code   string // as S3 names it; hostile
	region string // where the bucket is, if the server says so; hostile
	bare   bool   // it answers HEAD, so there is no code
}

// maxErrorBody bounds what is read of an error.
const maxErrorBody = 64 << 10

// readAnswer reads the error that a response is, and closes it.
func readAnswer(resp *http.Response) error {
	a := &answer{
		status: resp.StatusCode,
		region: resp.Header.Get("X-Amz-Bucket-Region"),
		bare:   resp.Request != nil && resp.Request.Method == http.MethodHead,
	}
	body, err := readBody(resp, maxErrorBody)
	if err != nil && !errors.Is(err, errGarbled) {
		return err
	}
	var said struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Region  string
	}
	if xml.Unmarshal(body, &said) == nil {
		a.code = said.Code
		a.region = cmp.Or(a.region, said.Region)
	}
	return a
}

// Error implements error. It shows what this package knows and nothing that
// the server made up: what a server was sent, it can send back.
func (a *answer) Error() string {
	text := fmt.Sprintf("the server answers %d", a.status)
	if s := http.StatusText(a.status); s != "" {
		text += " " + strings.ToLower(s)
	}
	if slices.Contains(shown, a.code) {
		text += ", " + a.code
	}
	return text
}

// Codes of S3 that mean more than their status does.
const (
	noSuchBucket = "NoSuchBucket"
	noSuchKey    = "NoSuchKey"
	noSuchUpload = "NoSuchUpload"
)

// transient are codes of errors that pass.
var transient = []string{
	"BadDigest", "IncompleteBody", "InternalError", "RequestTimeout", "ServiceUnavailable", "SlowDown",
	"SlowDownRead", "SlowDownWrite", "Throttling", "XAmzContentSHA256Mismatch",
}

// forbidding are codes of errors that forbid, whatever their status.
var forbidding = []string{
	"AccessDenied", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "RequestTimeTooSkewed",
	"SignatureDoesNotMatch", "TokenRefreshRequired",
}

// misplaced are codes of a server that is the wrong one for a bucket.
var misplaced = []string{
	"AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "InvalidRegion", "PermanentRedirect",
	"TemporaryRedirect",
}

var shown = slices.Concat(transient, forbidding, misplaced, []string{
	"ConditionalRequestConflict", "EntityTooLarge", "InvalidArgument", "InvalidRequest", "NotImplemented",
	"OperationAborted", "PreconditionFailed", "QuotaExceeded", noSuchBucket, noSuchKey, noSuchUpload,
})

// passes reports whether the same request may be answered otherwise later.
func (a *answer) passes() bool {
	switch a.status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return slices.Contains(transient, a.code)
}

// didNothing reports whether the server says that it left all as it was.
func (a *answer) didNothing() bool {
	switch a.status {
	case http.StatusRequestTimeout:
		return false
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return a.status >= 300 && a.status < 500
}

// answered reports whether err is an answer with the status.
func answered(err error, status int) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && a.status == status
}

// isAbsent reports whether err says that there is no such object. A page that
// was not found, by whatever sits between, does not say that.
func isAbsent(err error) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && a.status == http.StatusNotFound && (a.code == noSuchKey || a.bare)
}

// isUnmet reports whether err says that the condition of a write was not met.
// S3 answers If-Match for an object that is not there with 404.
func isUnmet(err error) bool { return answered(err, http.StatusPreconditionFailed) || isAbsent(err) }

// isCode reports whether err is an answer with the code.
func isCode(err error, code string) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && a.code == code
}
