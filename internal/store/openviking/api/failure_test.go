package api_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
)

// isWrite are the calls that write files.
func isWrite(name string) bool {
	return strings.HasPrefix(name, "write") || strings.HasPrefix(name, "batch")
}

// isAbsent are the calls for which it is fine that nothing is there.
func isAbsent(name string) bool {
	return slices.Contains([]string{"delete", "delete all", "list"}, name)
}

// Every status and code is of its kind, for every call.
func TestEachFailureIsOfItsKind(t *testing.T) {
	t.Parallel()
	const page = "<html>not here"
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   amber.Kind
	}{
		"408":                    {says(408, ""), amber.KindUnreachable},
		"429":                    {failure(429, "RESOURCE_EXHAUSTED", "null"), amber.KindUnreachable},
		"502":                    {says(502, page), amber.KindUnreachable},
		"503":                    {failure(503, "UNAVAILABLE", "null"), amber.KindUnreachable},
		"504":                    {failure(504, "DEADLINE_EXCEEDED", "null"), amber.KindUnreachable},
		"500":                    {failure(500, "INTERNAL", "null"), amber.KindUnreachable},
		"500 page":               {says(500, page), amber.KindUnreachable},
		"507":                    {says(507, page), amber.KindUnreachable},
		"400 unavailable":        {failure(400, "UNAVAILABLE", "null"), amber.KindUnreachable},
		"400 late":               {failure(400, "DEADLINE_EXCEEDED", "null"), amber.KindUnreachable},
		"409 busy":               {failure(409, "CONFLICT", `{"conflict_type":"path_busy","retryable":true}`), amber.KindBusy},
		"409":                    {failure(409, "CONFLICT", `{"conflict_type":"revision"}`), amber.KindConflict},
		"409 not retryable":      {failure(409, "CONFLICT", `{"retryable":false}`), amber.KindConflict},
		"409 retryable as text":  {failure(409, "CONFLICT", `{"retryable":"true"}`), amber.KindConflict},
		"409 exists":             {failure(409, "ALREADY_EXISTS", "null"), amber.KindConflict},
		"409 page":               {says(409, page), amber.KindConflict},
		"412":                    {failure(412, "FAILED_PRECONDITION", "null"), amber.KindConflict},
		"401":                    {failure(401, "UNAUTHENTICATED", "null"), amber.KindRefused},
		"401 page":               {says(401, page), amber.KindRefused},
		"403":                    {failure(403, "PERMISSION_DENIED", "null"), amber.KindRefused},
		"403 invalid":            {failure(403, "INVALID_KEY", "null"), amber.KindRefused},
		"500 permission":         {failure(500, "PERMISSION_DENIED", "null"), amber.KindRefused},
		"400":                    {failure(400, "INVALID_ARGUMENT", `{"validation_errors":[]}`), amber.KindInvalid},
		"400 URI":                {failure(400, "INVALID_URI", "null"), amber.KindInvalid},
		"400 other":              {failure(400, "UNSUPPORTED_MODE", "null"), amber.KindInvalid},
		"422":                    {says(422, `{"detail":[{"msg":"extra"}]}`), amber.KindInvalid},
		"413":                    {says(413, page), amber.KindInvalid},
		"501":                    {says(501, ""), amber.KindUnsupported},
		"405":                    {says(405, `{"detail":"Method Not Allowed"}`), amber.KindUnsupported},
		"404 of no call":         {says(404, `{"detail":"Not Found"}`), amber.KindUnsupported},
		"404 page":               {says(404, page), amber.KindDamaged},
		"400 page":               {says(400, page), amber.KindDamaged},
		"418 page":               {says(418, page), amber.KindDamaged},
		"301":                    {says(301, "", "Location", "/health"), amber.KindDamaged},
		"302":                    {says(302, healthy, "Location", "http://127.0.0.1:1/"), amber.KindDamaged},
		"307":                    {says(307, "", "Location", "/health"), amber.KindDamaged},
		"304":                    {says(304, ""), amber.KindDamaged},
		"204":                    {says(204, ""), amber.KindDamaged},
		"200 with an error":      {failure(200, "UNAVAILABLE", "null"), amber.KindUnreachable},
		"200 with another error": {failure(200, "STRANGE", "null"), amber.KindDamaged},
		"half":                   {half, amber.KindUnreachable},
		"reset":                  {reset, amber.KindUnreachable},
	} {
		for call, do := range calls {
			plain := call == "download" || call == "health" || call == "user"
			if plain && strings.HasPrefix(name, "200") {
				continue // no envelope
			}
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				s := serve(t, tc.answer)
				_, err := do.do(t.Context(), s.open(t))
				must.Kind(t, call, err, tc.want, "OpenViking")
				checkError(t, err)
				must.Hides(t, "error", err.Error(), page)
				must.Hold(t, name == "reset" || len(s.requests()) == 1, "%d requests, want 1", len(s.requests()))
			})
		}
	}
}

// checkError says what every error has: an operation, a subject, one line and no secret.
func checkError(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*amber.Error](err)
	if !ok || e.Op == "" || e.ID == "" {
		t.Errorf("got %#v, want an error with operation and subject", err)
		return
	}
	must.Hides(t, "error", err.Error(), "\n", "\x1b")
	checkSecrets(t, err)
}

// A call for a file that is not there fails with not_found, except the calls for which that is fine.
func TestAbsent(t *testing.T) {
	t.Parallel()
	for name, tc := range calls {
		s := serve(t, failure(404, "NOT_FOUND", "null"))
		_, err := tc.do(t.Context(), s.open(t))
		want := amber.KindNotFound
		if isAbsent(name) {
			want = ""
		}
		must.Kind(t, name, err, want)
	}
}

// The client distinguishes a write whose vector could not be made from a write that was not made.
func TestNoVector(t *testing.T) {
	t.Parallel()
	for name, tc := range calls {
		for answer, want := range map[string]bool{"PROCESSING_ERROR": isWrite(name), "INTERNAL": false} {
			s := serve(t, failure(500, answer, "null"))
			_, err := tc.do(t.Context(), s.open(t))
			must.Kind(t, name, err, amber.KindUnreachable)
			must.Equal(t, name+" "+answer, errors.Is(err, api.ErrNoVector), want)
		}
	}
}

// A server that took another name is found out, and both names are in the error.
func TestAnotherURI(t *testing.T) {
	t.Parallel()
	const other = root + "/we_ird.md"
	for name, body := range map[string]string{
		"write": `{"uri":"` + other + `","vector_status":"queued"}`,
		"mkdir": `{"uri":"` + other + `"}`,
		"batch": `{"created":["` + other + `"],"updated":["` + file + `2"],"unchanged":["` + file + `3"]}`,
	} {
		_, err := calls[name].do(t.Context(), serve(t, result(body)).open(t))
		want := file
		if name == "mkdir" {
			want = root
		}
		must.Kind(t, name, err, amber.KindInvalid, `"`+other+`"`, `"`+want+`"`)
	}
	short := `{"created":["` + file + `"],"updated":[],"unchanged":[]}`
	_, err := calls["batch"].do(t.Context(), serve(t, result(short)).open(t))
	must.Kind(t, "a file is missing", err, amber.KindInvalid, file+"2")
	elsewhere := says(200, `{"status":"ok","result":["`+file+`","viking://user/bob/memories/x.md"],"has_more":false}`)
	_, err = calls["list"].do(t.Context(), serve(t, elsewhere).open(t))
	must.Kind(t, "list", err, amber.KindInvalid, root, "viking://user/bob/memories/x.md")
}

// A server that says that it is not well is away.
func TestNotHealthy(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]amber.Kind{
		`{"status":"ok","healthy":false,"version":"0.5.2"}`:    amber.KindUnreachable,
		`{"status":"error","healthy":true,"version":"0.5.2"}`:  amber.KindUnreachable,
		`{"status":"ok","version":"0.5.2"}`:                    amber.KindDamaged,
		`{"status":"ok","healthy":"yes","version":"0.5.2"}`:    amber.KindDamaged,
		`{"status":"ok","healthy":true,"version":5}`:           amber.KindDamaged,
		`{"status":"ok","healthy":true,"healthy":true}`:        amber.KindDamaged,
		`{"status":"ok","healthy":true,"version":"0.5.2"} {}`:  amber.KindDamaged,
		`{"status":"ok","healthy":true,"version":"0.5.2","x"}`: amber.KindDamaged,
	} {
		must.Fail(serve(t, says(200, body)).open(t).Health(t.Context()))(t, body, want)
	}
}

// A server that is not there, does not answer, or does not end is unreachable, with the reason.
func TestOutages(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	nobody := l.Addr().String()
	must.Do(t, l.Close())
	c := must.Get(api.New(api.Options{URL: "http://" + nobody}))(t)
	_, err := c.Download(t.Context(), file)
	must.Kind(t, "nobody listens", err, amber.KindUnreachable, nobody, "refused")

	for name, h := range map[string]http.HandlerFunc{"silent": silent, "slow": slow} {
		_, err := serve(t, h).open(t, hasty).Download(t.Context(), file)
		must.Kind(t, name, err, amber.KindUnreachable, "no answer within 30ms")
		must.Is(t, name, err, context.DeadlineExceeded)
	}
	tls := httptest.NewUnstartedServer(says(200, healthy))
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	strange := must.Get(api.New(api.Options{URL: tls.URL}))(t)
	_, err = strange.Health(t.Context())
	must.Kind(t, "certificate of nobody", err, amber.KindUnreachable, "certificate")
}

// A context that ends gives its cause.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("had enough")
	for name, tc := range calls {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			cancel(cause)
			<-r.Context().Done()
		})
		_, err := tc.do(ctx, s.open(t))
		must.Kind(t, name, err, amber.KindUnreachable)
		must.Is(t, name, err, cause)
	}
}

// Calls that wait for vectors, or write many files, may take longer than a request.
func TestWaits(t *testing.T) {
	t.Parallel()
	for name, tc := range calls {
		if name == "batch" { // it has some time for each file
			_, err := tc.do(t.Context(), serve(t, silent).open(t, hasty))
			must.Kind(t, name, err, amber.KindUnreachable, "no answer within 180ms")
			continue
		}
		answer := tc.answer
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(60 * time.Millisecond):
				answer(w, r)
			}
		})
		want := amber.KindUnreachable
		if name == "write" || name == "reindex" {
			want = ""
		}
		_, err := tc.do(t.Context(), s.open(t, func(o *api.Options) { o.Request = 10 * time.Millisecond }))
		must.Kind(t, name, err, want)
	}
}

// The client returns how long a server asks it to wait, within bounds.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	clock := func(o *api.Options) { o.Clock = func() time.Time { return now } }
	for name, tc := range map[string]struct {
		status int
		after  string
		date   string // of the answer; "": the client has a clock
		want   time.Duration
		ok     bool
	}{
		"seconds":          {429, "7", "", 7 * time.Second, true},
		"at once":          {503, "0", "", 0, true},
		"spaces":           {503, " 3 ", "", 3 * time.Second, true},
		"an hour":          {503, "3600", "", time.Minute, true},
		"huge":             {503, "18446744073709551615", "", time.Minute, true},
		"larger than huge": {503, "18446744073709551616", "", 0, false},
		"negative":         {503, "-5", "", 0, false},
		"text":             {503, "soon", "", 0, false},
		"none":             {503, "", "", 0, false},
		"date":             {503, in(20 * time.Second), "", 20 * time.Second, true},
		"far date":         {503, "Fri, 31 Dec 9999 23:59:59 GMT", "", time.Minute, true},
		"past date":        {503, in(-time.Hour), "", 0, true},
		"date by date":     {503, in(20 * time.Second), in(5 * time.Second), 15 * time.Second, true},
		"date by nothing":  {503, in(20 * time.Second), "never", 0, false},
		"500":              {500, "7", "", 0, false},
		"409":              {409, "7", "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := clock
			headers := []string{"Retry-After", tc.after}
			if tc.date != "" {
				change, headers = func(*api.Options) {}, append(headers, "Date", tc.date)
			}
			_, err := serve(t, says(tc.status, "{}", headers...)).open(t, change).Download(t.Context(), file)
			got, ok := api.RetryAfter(err)
			must.Equal(t, "wait", got, tc.want)
			must.Equal(t, "says so", ok, tc.ok)
		})
	}
	_, ok := api.RetryAfter(nil)
	must.Hold(t, !ok, "no error asks to wait")
}
