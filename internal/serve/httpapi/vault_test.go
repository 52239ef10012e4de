package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// safe is a vault that answers with the request that it got.
type safe struct{}

func (safe) Routes() []string { return []string{"/api/v1/{all}"} }

func (safe) Route(*http.Request) (string, bool) { return "/api/v1/{all}", false }

func (safe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %d %v", r.Method, r.URL.EscapedPath(), len(b), err)
}

func (safe) Fail(w http.ResponseWriter, _ *http.Request, err error) {
	http.Error(w, "no: "+err.Error(), http.StatusForbidden)
}

// TestVault: what lies below the path of vaults goes there as it came, within the
// bounds that hold for everything.
func TestVault(t *testing.T) {
	t.Parallel()
	observed := make(chan string, 100)
	r := newRig(t, func(_ *rig, o *httpapi.Options) {
		o.Vault, o.MaxBody, o.Hosts = safe{}, 10, []string{"127.0.0.1"}
		o.Observe = func(route, method string, _ int, _ time.Duration, _, _ int64) {
			observed <- method + " " + route
		}
	})
	must.Equal(t, "the vault is a route", slices.Contains(r.api.Routes(), "/api/v1/{all}"), true)
	for _, path := range []string{"/api/v1/a//b", "/api/v1/../x", "/api/v1/%2F/%2f", "/api/v1/%00", "/api/v1/a%20%E6%97%A5/", "/api/v1/"} {
		a := r.ask(call{method: "PUT", path: path, body: "12345", token: "-"}).want(200)
		if want := "PUT " + path + " 5 <nil>"; string(a.body) != want || a.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	must.Says(t, "the answer", string(r.ask(call{method: "PUT", path: "/api/v1/x", body: "12345678901", token: "-"}).body), "too large")
	q := r.request(t.Context(), call{method: "GET", path: "/api/v1/x"})
	q.Host = "evil.example"
	resp := must.Get(r.do.Do(q))(t)
	told, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); err != nil || cerr != nil || resp.StatusCode != http.StatusForbidden || !strings.HasPrefix(string(told), "no: ") {
		t.Errorf("%d %s, %v, %v", resp.StatusCode, told, err, cerr)
	}
	for _, path := range []string{"/api/v1", "/api/v2/x", "/API/v1/x"} {
		r.ask(call{method: "GET", path: path}).failed(amber.KindNotFound)
	}
	// The six names and the body that is too large are the vault's; the foreign host and the three other paths are not. A
	// request is observed after its answer, so the order is not that of the answers.
	want := slices.Concat(slices.Repeat([]string{"GET other"}, 4), slices.Repeat([]string{"PUT /api/v1/{all}"}, 7))
	var seen []string
	for range want {
		seen = append(seen, <-observed)
	}
	slices.Sort(seen)
	must.Equal(t, "observed", seen, want)
}

// TestNoVault: where there is none, nothing is served there.
func TestNoVault(t *testing.T) {
	t.Parallel()
	newRig(t).ask(call{method: "GET", path: "/api/v1/vault/status"}).failed(amber.KindNotFound)
}
