package httpcall_test

import (
	"context"
	"net/http"
	"net/http/httptest"
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
