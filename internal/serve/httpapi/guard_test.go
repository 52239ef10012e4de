package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// asHost asks under a name, as a browser does that was led here by it.
func (r *rig) asHost(host string, header ...string) reply {
	r.t.Helper()
	q := r.request(context.Background(), call{method: "GET", path: "/livez", header: servertest.Header(header...)})
	q.Host = host
	resp := must.Get(r.do.Do(q))(r.t)
	defer resp.Body.Close()
	return reply{t: r.t, status: resp.StatusCode, header: resp.Header}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Hosts = []string{"localhost", "127.0.0.1", "::1"} })
	for host, ok := range map[string]bool{
		"localhost": true, "LOCALHOST:7411": true, "127.0.0.1:1": true, "[::1]:7411": true, "[::1]": true,
		"evil.example": false, "evil.example:7411": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "localhost@evil.example": false,
	} {
		must.Equal(t, host, (r.asHost(host).status == 200), ok)
	}
}

// Pages of other sites may not ask, however they do; those that are named may,
// and see the answer.
func TestOrigins(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Origins = []string{"https://app.example"} })
	for _, c := range []struct {
		path, origin, site string
		ok                 bool
	}{
		{"/livez", "", "", true},
		{"/livez", r.url, "same-origin", true},
		{"/livez", "https://app.example", "cross-site", true},
		{"/livez", "https://evil.example", "", false},
		{"/livez", "http://app.example", "", false},
		{"/livez", "https://app.example.evil.example", "", false},
		{"/livez", "null", "", false},
		{"/livez", "http://127.0.0.1:1", "same-site", false},
		{"/livez", "::", "", false},
		{"/livez", "", "none", true},
		{"/livez", "", "same-origin", true},
		{"/livez", "", "cross-site", false},
		{"/livez", "", "same-site", false},
		{adaPath + "/memories", "", "cross-site", false},
		{"/docs", "", "cross-site", true},
		{"/docs/style.css", "", "cross-site", true},
		{"/docsx", "", "cross-site", false},
	} {
		header := servertest.Header()
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		if c.site != "" {
			header.Set("Sec-Fetch-Site", c.site)
		}
		a := r.ask(call{method: "GET", path: c.path, header: header})
		if (a.status == 200) != c.ok {
			t.Errorf("%+v: %d %s", c, a.status, a.body)
		}
		want := ""
		if c.origin == "https://app.example" {
			want = c.origin
		}
		if got := a.header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%+v: may see it from %q", c, got)
		}
		for _, name := range []string{"ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			if seen := a.header.Get("Access-Control-Expose-Headers"); want != "" && !slices.Contains(strings.Split(seen, ", "), name) {
				t.Errorf("%+v: %s is not among %q", c, name, seen)
			}
		}
	}
	ask := servertest.Header("Origin", "https://app.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	a := r.ask(call{method: "OPTIONS", path: "memories", token: "-", header: ask}).want(204)
	if h := a.header; !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("headers %v", h)
	}
	ask.Set("Origin", "https://evil.example")
	r.ask(call{method: "OPTIONS", path: "memories", token: "-", header: ask}).failed(amber.KindRefused)
	must.Equal(t, "agents opened", r.openings(), 0)
}

// A request with a method that the path does not have gets the methods that it has, and touches nothing.
func TestMethods(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct{ method, path, allow string }{
		{"OPTIONS", "memories", "GET, POST"},
		{"PUT", "memories", "GET, POST"},
		{"TRACE", "recall", "POST"},
		{"GET", "recall", "POST"},
		{"HEAD", "recall", "POST"},
		{"POST", "/livez", "GET"},
		{"DELETE", "/docs", "GET"},
		{"BREW", "stats", "GET"},
		{"POST", "memories/x", "GET, PATCH, DELETE"},
	} {
		a := r.ask(call{method: c.method, path: c.path}).want(405)
		must.Equal(t, c.method+" "+c.path+": Allow", a.header.Get("Allow"), c.allow)
	}
	r.remember("x")
	if a := r.ask(call{method: "HEAD", path: "memories"}).want(200); len(a.body) > 0 || a.header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: %q %v", a.body, a.header)
	}
}

// Metrics and the log know routes by their pattern, never by their path.
func TestObservedRoutes(t *testing.T) {
	t.Parallel()
	type seen struct {
		Route, Method string
		Status        int
	}
	all := make(chan seen, 1)
	r := newRig(t, func(_ *rig, o *httpapi.Options) {
		o.Observe = func(route, method string, status int, took time.Duration, in, out int64) {
			if took <= 0 || out <= 0 && status != 204 || in < 0 {
				t.Errorf("%s took %v, in %d, out %d", route, took, in, out)
			}
			all <- seen{route, method, status}
		}
	})
	const agent = "/v1/tenants/{tenant}/agents/{agent}"
	for _, c := range []struct {
		call call
		want seen
	}{
		{call{method: "GET", path: "memories"}, seen{agent + "/memories", "GET", 200}},
		{call{method: "GET", path: "sessions/secret"}, seen{agent + "/sessions/{id}", "GET", 404}},
		{call{method: "GET", path: "stats", token: "-"}, seen{agent + "/stats", "GET", 401}},
		{call{method: "GET", path: "/nowhere/secret"}, seen{"other", "GET", 404}},
		{call{method: "GET", path: "/../x"}, seen{"other", "GET", 404}},
		{call{method: "GET", path: "/docs"}, seen{"/docs", "GET", 200}},
		{call{method: "DELETE", path: "sessions/x"}, seen{agent + "/sessions/{id}", "DELETE", 404}},
	} {
		r.ask(c.call)
		must.Equal(t, "", <-all, c.want)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) {
		o.Ready = func(context.Context, bool) error { return amber.Errorf(amber.KindUnreachable, "serve", "", "going") }
	})
	r.ask(call{method: "GET", path: "/readyz", token: "-"}).failed(amber.KindUnreachable)
	r.ask(call{method: "GET", path: "/livez", token: "-"}).want(200)
}

func TestNewWantsWhatItNeeds(t *testing.T) {
	t.Parallel()
	for i, o := range []httpapi.Options{{}, {Desk: &server.Desk{}}, {Authenticator: newKeyring(), Clock: time.Now}} {
		must.Fail(httpapi.New(o))(t, fmt.Sprint(i), amber.KindInvalid)
	}
}

// blind is an authenticator that cannot check a secret. The API then neither lets the caller in nor says that the
// token is wrong.
type blind struct{}

func (blind) Grant(context.Context, string) (wire.Grant, error) {
	return wire.Grant{}, &amber.Error{Op: "authenticate", Kind: amber.KindBusy, Err: errors.New("locked")}
}

func TestAnAuthenticatorThatCannotTell(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Authenticator = blind{} })
	for _, path := range []string{"stats", "/metrics", "/health", "/mcp"} {
		must.Equal(t, path, r.ask(call{method: "GET", path: path}).failed(amber.KindBusy).header.Get("WWW-Authenticate"), "")
	}
	must.Equal(t, "agents opened", r.openings(), 0)
}

// Headers that hold a line of their own do not get into the answer.
func TestHeadersAreNotRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.dial()
	must.Do(t, must.Err(fmt.Fprintf(c, "GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\x00b\r\n\r\n")))
	a := r.answerOf(c)
	must.Equal(t, "status", a.status, 400)
	must.Equal(t, "request id", a.header.Get("X-Request-Id"), "")
}
