package httpcall_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestThisMachineHasManyNames(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "192.168.0.1": false, "127.0.0.1.example.org": false, "localhost.example.org": false, "127.1": false,
	} {
		must.Equal(t, host, httpcall.Loopback(host), want)
		if want {
			r := httptest.NewRequest(http.MethodGet, "http://example.org/", nil)
			r.URL.Host = host
			if host == "::1" || host == "::ffff:127.0.0.1" {
				r.URL.Host = "[" + host + "]:80"
			}
			proxy, err := httpcall.Proxy(r)
			must.Hold(t, proxy == nil && err == nil, "%s goes through the proxy %v, %v", host, proxy, err)
		}
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	must.NoError(t, httpcall.Wait(t.Context(), time.Nanosecond))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, "wait", httpcall.Wait(ctx, time.Hour), context.Canceled)
}

func TestARedirectIsTheAnswer(t *testing.T) {
	t.Parallel()
	var followed bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		followed = followed || r.URL.Path != "/"
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer srv.Close()
	c := http.Client{CheckRedirect: httpcall.NoRedirect}
	resp := must.Get(c.Get(srv.URL))(t)
	must.NoError(t, resp.Body.Close())
	must.Equal(t, "status", resp.StatusCode, http.StatusFound)
	must.Hold(t, !followed, "the redirect was followed")
}

func TestAServerSaysWhenToAskAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"0": 0, " 7 ": 7 * time.Second, "99999999999": time.Minute, now.Add(9 * time.Second).Format(http.TimeFormat): 9 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat): 0, now.Add(time.Hour).Format(http.TimeFormat): time.Minute,
	} {
		got, ok := httpcall.RetryAfter(header, time.Minute, func() (time.Time, bool) { return now, true })
		must.Hold(t, ok && got == want, "Retry-After %q is %v, %v, want %v", header, got, ok, want)
	}
	for _, header := range []string{"", "soon", "-1", "1.5"} {
		_, ok := httpcall.RetryAfter(header, time.Minute, func() (time.Time, bool) { return now, true })
		must.Hold(t, !ok, "Retry-After %q was understood", header)
	}
	_, ok := httpcall.RetryAfter(now.Format(http.TimeFormat), time.Minute, func() (time.Time, bool) { return now, false })
	must.Hold(t, !ok, "a date was understood without a clock")
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	s := httpcall.NewSecrets()
	s.Hide("first")
	s.Hide("second")
	must.Equal(t, "scrubbed", s.Scrub("first, second and third"), "***, *** and third")
	for i := range 15 { // the newest sixteen are kept
		s.Hide(fmt.Sprint("key", i, "."))
	}
	must.Equal(t, "scrubbed", s.Scrub("first second key0. key14."), "first *** *** ***")
	must.Hides(t, "a printed client", fmt.Sprintf("%+v %#v", s, s), "second", "key0.")
}

func TestAnAnswerHasABound(t *testing.T) {
	t.Parallel()
	for most, whole := range map[int64]bool{2: false, 3: true, 4: true} {
		_, got, err := httpcall.Read(strings.NewReader("abc"), most)
		must.Hold(t, err == nil && got == whole, "an answer of 3 bytes, at most %d: whole is %v, %v", most, got, err)
	}
}

func TestAnErrorNamesNoURL(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	lost := &url.Error{Op: "Get", URL: "http://example.org/secret", Err: refused}
	must.Is(t, "lost", httpcall.Lost(t.Context(), lost), refused)
	must.Hides(t, "lost", httpcall.Lost(t.Context(), lost).Error(), "secret")
	ended := errors.New("the wait is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ended)
	must.Is(t, "lost", httpcall.Lost(ctx, lost), ended)
}
