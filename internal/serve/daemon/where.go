package daemon

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/internal/serve/web"
)

// whereFile is the file of a home in which its server says where it listens.
const whereFile = "serve.json"

// Bounds of the file and of the question whether it is true.
const (
	maxWhere  = 4 << 10
	askWithin = 5 * time.Second
)

// Where is where the server of a home listens.
type Where struct {
	URL    string `json:"url"`    // as the server prints it; unix:// and a path for one that has no port
	Page   string `json:"page"`   // of the page for people; "" without a port
	Secret string `json:"secret"` // shows that a server is the one that wrote this
	// Socket is where processes of the same user ask without a token; "": nowhere.
	Socket string `json:"socket,omitempty"`
	// Key is the token of the user of a private server that has no socket.
	Key string `json:"key,omitempty"`
	// Private says that the server was started by a program for itself, and leaves when another one wants to serve.
	Private bool `json:"private,omitempty"`
}

// unixScheme begins the address of a socket.
const unixScheme = "unix://"

var (
	whereRules = strictjson.Rules{MaxDepth: 2, MaxElements: 16}
	whereShape = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[Where]()) })
)

// where is what the file says about a server that listens at an address. A browser cannot open the
// address of every network, and a server with names answers to no other.
func (s *Daemon) where(d *door) Where {
	u := d.url
	w := Where{URL: u, Page: u + web.Root + "/", Secret: s.secret, Private: s.o.Private, Key: s.key}
	if d.user != nil {
		w.Socket = d.user.path
	}
	if d.listener == nil {
		w.Page = ""
		return w
	}
	at, err := url.Parse(u)
	if err != nil {
		return w
	}
	host, port, err := net.SplitHostPort(at.Host)
	if err != nil {
		return w
	}
	switch ip := net.ParseIP(host); {
	case len(s.o.Hosts) > 0:
		host = s.o.Hosts[0]
	case ip != nil && ip.IsUnspecified():
		host = "localhost"
	}
	at.Host = net.JoinHostPort(host, port)
	w.Page = at.String() + web.Root + "/"
	return w
}

// tell writes where this server listens. A server without that file works; only amber ui does not find it.
func (s *Daemon) tell(w Where) {
	b, err := json.Marshal(w)
	if err == nil {
		err = fsx.Replace(fsx.OS(), filepath.Join(s.o.Home.Dir(), whereFile), 0o600, append(b, '\n'))
	}
	if err != nil {
		s.o.Log.Warn("the file that says where this server listens cannot be written", "error", err)
	}
}

// hush removes what tell wrote.
func (s *Daemon) hush() {
	err := fsx.Remove(fsx.OS(), filepath.Join(s.o.Home.Dir(), whereFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.o.Log.Warn("the file that says where this server listened cannot be removed", "error", err)
	}
}

// Find returns where the server of a home listens; false when no process serves the home. The file may be of a
// server that was killed, so the server is asked to show that it is the one that wrote it. Errors: unreachable when a
// process serves the home and cannot be found; those of the lock.
func Find(ctx context.Context, home string) (Where, bool, error) {
	const op = "find server"
	lock, err := fsx.TryLock(filepath.Join(home, lockFile), fsx.Exclusive)
	switch {
	case err == nil:
		return Where{}, false, lock.Unlock()
	case errors.Is(err, fs.ErrNotExist): // there is no home yet
		return Where{}, false, nil
	case !errors.Is(err, fsx.ErrLocked):
		return Where{}, false, &amber.Error{Op: op, Kind: amber.KindInternal, ID: home, Err: err}
	}
	w, err := readWhere(filepath.Join(home, whereFile))
	if err == nil {
		err = w.prove(ctx)
	}
	if err != nil {
		return Where{}, true, &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: home, Err: err, Hint: "a process serves this home; it may be starting: try again, or open the address that it printed"}
	}
	return w, true, nil
}

func readWhere(path string) (w Where, err error) {
	b, err := fsx.ReadFile(fsx.OS(), path, maxWhere)
	if err != nil {
		return w, err
	}
	if err := whereRules.Decode(bytes.TrimSpace(b), whereShape(), &w); err != nil {
		return w, amber.Errorf(amber.KindDamaged, "read address", path, "%w", err)
	}
	pages := []string{w.URL, w.Page}
	if w.Private && w.Page == "" && filepath.IsAbs(w.Socket) && w.URL == unixScheme+w.Socket {
		pages = nil
	}
	for _, text := range pages {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return w, amber.Errorf(amber.KindDamaged, "read address", path, "%q is no address of a server", text)
		}
	}
	if w.Secret == "" {
		return w, amber.Errorf(amber.KindDamaged, "read address", path, "the secret is missing")
	}
	return w, nil
}

// request makes a request to the server at the address, and what sends it. The certificate of the server says
// nothing about whose it is and is not looked at.
func (w Where) request(ctx context.Context, method, path string) (*http.Request, *http.Transport, error) {
	page, dial := w.Page, func(ctx context.Context, _, _ string) (net.Conn, error) { return localsock.Dial(ctx, w.Socket) }
	if page != "" {
		at, err := url.Parse(w.URL)
		if err != nil {
			return nil, nil, err
		}
		dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, at.Host)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, cmp.Or(page, "http://localhost"+web.Root+"/")+path, nil)
	return req, &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // the secret is what is checked
		DialContext:     dial,
	}, err
}

// prove asks the server at the address whether it has the secret. Errors: unreachable, refused.
func (w Where) prove(ctx context.Context) error {
	const op = "ask server"
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	challenge := rand.Text()
	req, t, err := w.request(ctx, http.MethodGet, "-/proof?challenge="+challenge)
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInvalid, ID: w.URL, Err: err}
	}
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(req)
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: w.URL, Err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxWhere))
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: w.URL, Err: err}
	}
	if resp.StatusCode != http.StatusOK || !hmac.Equal(answer, []byte(web.Proof(w.Secret, challenge))) {
		return amber.Errorf(amber.KindRefused, op, w.URL, "a server of something else answers there")
	}
	return nil
}
