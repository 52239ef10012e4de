package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// ofUserKey marks connections of the user.
type ofUserKey struct{}

// OfUser marks the context of a connection of which the kernel says that the user of this
// process has made it. No page of a site makes one, so the name it asks for is not checked.
func OfUser(ctx context.Context) context.Context { return context.WithValue(ctx, ofUserKey{}, true) }

// IsOfUser reports whether a request came over such a connection.
func IsOfUser(ctx context.Context) bool { return ctx.Value(ofUserKey{}) != nil }

// checkNames refuses requests that a page of another site made: by a name that
// leads here and is not ours, or by saying where it comes from.
func (a *API) checkNames(r *http.Request) error {
	if len(a.o.Hosts) > 0 && !IsOfUser(r.Context()) && !slices.ContainsFunc(a.o.Hosts, func(h string) bool { return strings.EqualFold(h, hostOf(r.Host)) }) {
		return amber.Errorf(amber.KindRefused, "check host", "", "host name %q is not one of this server", clip.Name(r.Host))
	}
	origin := r.Header.Get("Origin")
	switch {
	case origin == "":
		return checkSite(r)
	case slices.Contains(a.o.Origins, origin):
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
		return amber.Errorf(amber.KindRefused, "check origin", "", "pages of origin %q may not use this server", clip.Name(origin))
	}
	return nil
}

// checkSite refuses what a browser asks for another site without naming it: a
// picture, a frame, a link. Links to the reference are welcome, and links to the page for
// people: it opens in a window of its own, and the cookie of a log-in does not come along.
func checkSite(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return nil
	}
	if r.URL.Path == "/docs" || strings.HasPrefix(r.URL.Path, "/docs/") {
		return nil
	}
	if isPage(r.URL.Path) && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "check origin", "", "pages of other sites may not use this server")
}

// hostOf cuts the port off.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// The methods and headers that a page of an allowed origin can send, and the headers that it can see, beyond those
// that any page can.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsSent    = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id"
	corsSeen    = "Amber-Redacted, ETag, Idempotent-Replayed, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
)

// welcome lets pages of the origins that may ask see the answers, and answers
// a browser that asks whether they may. It reports whether that was all.
func (a *API) welcome(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if len(a.o.Origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if !slices.Contains(a.o.Origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", corsSeen)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsSent)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
