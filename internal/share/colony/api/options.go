package api

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
)

// Defaults and bounds.
const (
	// DefaultPatience is how long a call is tried again.
	DefaultPatience = 30 * time.Second
	// DefaultTimeout is how long one answer may take.
	DefaultTimeout = 30 * time.Second

	maxAnswer  = 8 << 20
	maxFailure = 64 << 10
	maxPages   = 1000
	// maxListing and maxListed bound all pages of a listing, in bytes and names.
	maxListing = 32 << 20
	maxListed  = 100_000
	// longestWait bounds one wait of a client that waits.
	longestWait = time.Hour
	// tokenAge is how long a token is used; it is good for an hour longer.
	tokenAge = 23 * time.Hour
)

// Options say where a vault is. URL, Key and Clock are required.
type Options struct {
	// URL is where the interface begins: "https://thecolony.ai/api/v1",
	// "http://127.0.0.1:7411/api/v1". Plain HTTP is for this machine alone.
	URL string
	// Key returns the key that is exchanged for a token. The client calls it for each exchange and drops spaces around
	// the key.
	Key func(ctx context.Context) (string, error)
	// HTTP makes the requests; nil: one of its own. Redirects to another host
	// are never followed, whatever it says.
	HTTP  *http.Client
	Clock amber.Clock
	// Sleep pauses; nil: by a timer. It returns early, with the error, when ctx
	// ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter returns a number from 0 to below 1 that spreads the pauses of
	// many clients; nil: a random one.
	Jitter func() float64
	// Patience bounds the time that a call is tried again for; 0:
	// DefaultPatience. Timeout is how long one answer may take; 0:
	// DefaultTimeout.
	Patience, Timeout time.Duration
	// Wait tries again until ctx ends, whatever Patience says, and also waits
	// when the vault asks for a long time, up to an hour at once.
	Wait bool
	// Notify is called before each wait; it may be nil.
	Notify    func(Waiting)
	UserAgent string // "": amber
}

// Waiting is a wait that is about to begin.
type Waiting struct {
	Why     string        // what happened
	Kind    amber.Kind    // unreachable or quota
	For     time.Duration // how long
	Attempt int           // how often it was tried so far
}

// New returns a client. It touches no network. Errors: invalid for options that
// miss something or what is no URL; refused for a key that would cross a network
// in the clear.
func New(o Options) (*Client, error) {
	const op = "use vault"
	u, err := url.Parse(strings.TrimSpace(o.URL))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		// It is not repeated: it may be a key, or hold a password.
		return nil, amber.Errorf(amber.KindInvalid, op, "", "this is not the URL of a vault, want the form http://127.0.0.1:7411/api/v1")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the URL has more than scheme, host and path; put the API key into a file")
	}
	if u.Scheme == "http" && !httpcall.Loopback(u.Hostname()) {
		return nil, amber.Errorf(amber.KindRefused, op, u.Host, "an API key is not sent over plain HTTP to another machine").WithHint("use https://" + u.Host)
	}
	if o.Key == nil || o.Clock == nil {
		return nil, amber.Errorf(amber.KindInvalid, op, u.Host, "Options need Key and Clock")
	}
	o.fill()
	c := &Client{o: o, base: strings.TrimRight(u.String(), "/"), host: u.Host, session: &session{gate: make(chan struct{}, 1), secrets: httpcall.NewSecrets()}}
	if o.HTTP == nil {
		c.http, _ = httpcall.NewClient(10*time.Second, 8)
	} else {
		own := *o.HTTP
		c.http = &own
	}
	c.http.CheckRedirect = sameOrigin
	return c, nil
}

// fill sets what was left out.
func (o *Options) fill() {
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Sleep == nil {
		o.Sleep = httpcall.Wait
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Notify == nil {
		o.Notify = func(Waiting) {}
	}
	o.UserAgent = cmp.Or(o.UserAgent, "amber")
}

// sameOrigin follows a redirect only to the same host, by the same scheme and
// with the same method: a key is for this host alone, and a PUT that was turned
// into a GET would seem to be done. Otherwise the redirect is the answer.
func sameOrigin(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host || r.Method != first.Method {
		return http.ErrUseLastResponse
	}
	return nil
}
