package api

import (
	"cmp"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
)

// Defaults and bounds.
const (
	DefaultConnect = time.Second
	DefaultRequest = 5 * time.Second

	maxAnswer  = 8 << 20
	maxFailure = 64 << 10 // what is read of an answer that is no success
	maxURL     = 2048

	longestWait = time.Hour // that an option can ask for
)

// Options say where a server is. URL is required.
type Options struct {
	// URL is where the server is: "http://127.0.0.1:1933", "https://viking.example/prefix".
	// Plain HTTP is for this machine alone.
	URL string
	// Key returns the API key. The client calls it before each request, so that a new key counts at once; spaces around
	// the key are dropped. nil: no key is sent.
	Key func() (string, error)
	// Account and User are sent as headers, for a server in mode trusted; "" is not sent.
	Account, User string
	// Owner is the owner that the key must have: the client refuses a key of another owner before it sends anything
	// with it. The zero value: any owner.
	Owner Owner
	// SameOwner has keys refused that are not of the owner of the first one.
	SameOwner bool
	// Connect bounds the time until a connection stands, Request the whole of a request that
	// does not wait for vectors; a batch has 50 ms more for each file. 0: DefaultConnect and
	// DefaultRequest.
	Connect, Request time.Duration
	// Clock is the time from which a date in Retry-After is counted. nil: the Date of the answer is.
	Clock amber.Clock
	// Random makes the id of each request; nil: crypto/rand.
	Random io.Reader
}

// Client asks an OpenViking server. Safe for concurrent use.
type Client struct {
	o    Options
	base string // without a slash at the end
	host string
	http *http.Client

	secrets httpcall.Secrets
	proof   *proof
	random  *sync.Mutex // guards o.Random
}

// New returns a client. Nothing is sent yet. Errors: invalid.
func New(o Options) (*Client, error) {
	const op = "use OpenViking"
	u, err := parseURL(o.URL)
	if err != nil {
		return nil, &amber.Error{Op: op, Kind: amber.KindInvalid, Err: err}
	}
	for _, id := range []string{o.Account, o.User} {
		if id != "" && !isID(id) {
			return nil, amber.Errorf(amber.KindInvalid, op, u.Host, "%q is not an account or user: want 1 to %d letters, digits or any of _.@-", clean(id), maxID)
		}
	}
	for _, d := range []time.Duration{o.Connect, o.Request} {
		if d < 0 || d > longestWait {
			return nil, amber.Errorf(amber.KindInvalid, op, u.Host, "the timeout is %s, want 0s to %s", d, longestWait)
		}
	}
	o.Connect, o.Request = cmp.Or(o.Connect, DefaultConnect), cmp.Or(o.Request, DefaultRequest)
	if o.Random == nil {
		o.Random = rand.Reader
	}
	client, transport := httpcall.NewClient(o.Connect, 8)
	transport.DisableCompression = true
	return &Client{
		o: o, base: strings.TrimRight(u.String(), "/"), host: u.Host, http: client,
		secrets: httpcall.NewSecrets(), random: &sync.Mutex{}, proof: &proof{},
	}, nil
}

// Close lets idle connections go.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// parseURL checks the URL of a server. The error does not repeat the text, which may be a key or
// hold a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || len(text) > maxURL || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errURL
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errURLParts
	case u.Scheme == "http" && !httpcall.Loopback(u.Hostname()):
		return nil, errPlain
	}
	return u, nil
}
