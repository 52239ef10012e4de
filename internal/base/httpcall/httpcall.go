// Package httpcall is what programs that call servers over HTTP have in common: what goes to this machine in the clear goes through no
// proxy, a secret for one server is not sent to another and is not shown, an answer has a bound, and a pause ends with its context.
package httpcall

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Loopback reports whether a host is this machine, however it is written.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// Proxy returns the proxy that the environment names, and none for this machine: what goes there in the clear goes nowhere else.
func Proxy(r *http.Request) (*url.URL, error) {
	if Loopback(r.URL.Hostname()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// NoRedirect makes a redirect the answer: a key is for one server alone.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Wait pauses. Errors: why ctx ended, where it ends before.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
