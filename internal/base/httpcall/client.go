package httpcall

import (
	"net"
	"net/http"
	"time"
)

// NewClient returns a client with bounds that follows no redirect. Connect bounds the time until a connection stands;
// conns is how many of a server are kept for the next request. A caller sets what differs in the transport. Requests end
// with their contexts.
func NewClient(connect time.Duration, conns int) (*http.Client, *http.Transport) {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy: Proxy, DialContext: dialer.DialContext, TLSHandshakeTimeout: connect, ForceAttemptHTTP2: true,
		MaxIdleConns: conns, MaxIdleConnsPerHost: conns, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{Transport: t, CheckRedirect: NoRedirect}, t
}
