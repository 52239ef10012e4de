package client

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/wire"
)

// Bounds of an answer.
const (
	maxAnswer  = 64 << 20
	maxFailure = 1 << 20
)

// Options say where Amber is served. URL is required.
type Options struct {
	URL   string // "https://memory.example.org", "http://127.0.0.1:7411"
	Token Token  // "" for a server that asks for none
	// Attempts is how often something that may be done twice is tried; 0: 4.
	// Backoff is the first pause, each is twice the one before; 0: 100 ms.
	Attempts int
	Backoff  time.Duration
	// Patience is how long an answer may take, except of operations that may take an
	// hour: snapshots, exports, erasing and the like; 0: 2 min.
	Patience time.Duration
	// MaxAnswer is how many bytes an answer may have; 0: 64 MiB.
	MaxAnswer int64
	// Wait pauses; nil: by a timer. It returns early, with the error, when ctx
	// ends.
	Wait func(ctx context.Context, d time.Duration) error
	// HTTP makes the requests; nil: one of its own. Redirects are never
	// followed, whatever it says: a token is for this server alone.
	HTTP *http.Client
	TLS  *tls.Config // of the client's own; nil: the system's roots
	// Random makes the keys by which the server knows a request that comes
	// again; nil: that of the system.
	Random io.Reader
}

// Token is what a caller shows. Printed, logged or encoded in any way it shows
// nothing.
type Token string

// String returns stars.
func (t Token) String() string {
	if t == "" {
		return ""
	}
	return "***"
}

// GoString returns what String does.
func (t Token) GoString() string { return t.String() }

// LogValue returns what String does.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText returns what String does.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Client speaks to one served Amber. Safe for concurrent use.
type Client struct {
	o    Options // without the token
	base *url.URL
	http *http.Client
	// authorize puts the token into a request. It is in a function so that no
	// way of printing the client shows it.
	authorize func(*http.Request)
}

// New returns a client. It touches no network. Errors: invalid for what is no
// URL of a server; refused for a token that would cross a network in the clear.
func New(o Options) (*Client, error) {
	const op = "use remote"
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// It is not repeated: it may be a token, or hold a password.
		return nil, amber.Errorf(amber.KindInvalid, op, "", "this is not the URL of a server, want the form http://127.0.0.1:7411")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the URL has more than scheme, host and path; put the token into a file")
	}
	if o.Token != "" && u.Scheme == "http" && !httpcall.Loopback(u.Hostname()) {
		return nil, amber.Errorf(amber.KindRefused, op, u.Host, "a token is not sent over plain HTTP to another machine").WithHint("use https://" + u.Host)
	}
	if strings.ContainsFunc(string(o.Token), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the token contains characters that are not valid")
	}
	if o.Attempts <= 0 {
		o.Attempts = 4
	}
	if o.Backoff <= 0 {
		o.Backoff = 100 * time.Millisecond
	}
	if o.Patience <= 0 {
		o.Patience = 2 * time.Minute
	}
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = maxAnswer
	}
	if o.Wait == nil {
		o.Wait = httpcall.Wait
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	c := &Client{o: o, base: u.JoinPath("/"), authorize: bearer(o.Token)}
	c.o.Token = ""
	if o.HTTP == nil {
		c.http = newHTTP(o.TLS)
	} else {
		own := *o.HTTP
		c.http = &own
	}
	c.http.CheckRedirect = httpcall.NoRedirect
	return c, nil
}

// bearer shows a token where there is one.
func bearer(t Token) func(*http.Request) {
	return func(r *http.Request) {
		if t != "" {
			r.Header.Set("Authorization", "Bearer "+string(t))
		}
	}
}

// newHTTP is a client with bounds. Requests end with their contexts.
func newHTTP(t *tls.Config) *http.Client {
	c, transport := httpcall.NewClient(10*time.Second, 64)
	transport.TLSClientConfig, transport.ExpectContinueTimeout, transport.IdleConnTimeout = t, 2*time.Second, 90*time.Second
	return c
}

// Close lets idle connections go.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Health asks how the server is doing. Errors: unreachable, refused.
func (c *Client) Health(ctx context.Context) (wire.ServerHealth, error) {
	var h wire.ServerHealth
	err := c.call(ctx, &request{method: http.MethodGet, path: []string{"health"}, header: http.Header{}, again: true}, &h)
	return h, err
}

// drain reads what is left of a body, so that its connection can be used again.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10) // whatever it is, the answer is known
	_ = body.Close()
}
