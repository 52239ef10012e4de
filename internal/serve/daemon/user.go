package daemon

import (
	"context"
	"crypto/hmac"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/store/home"
)

// keyPrefix begins the key of a private server, so that it is not taken for a token.
const keyPrefix = "amber_private_"

// leavePath is where the user asks a private server to leave, below the root of the page.
const leavePath = "-/leave"

// leaveWithin is how long a private server may take to leave: its requests end, then its databases are closed.
const leaveWithin = 20 * time.Second

// userDoor is the socket on which programs of the same user use the API. It asks for no token: the
// kernel says that the caller is the user, who can read every file of the home anyway.
type userDoor struct {
	path     string
	listener net.Listener
	http     *http.Server
}

// openUser listens at the socket of the user; the server answers no request there yet. Errors:
// those of [hooksocket.OfHolder] and [localsock.Listen].
func (s *Daemon) openUser() (*userDoor, error) {
	path, err := hooksocket.OfHolder(filepath.Join(s.o.Home.Dir(), lockFile), s.o.Getenv, true)
	if err != nil {
		return nil, err
	}
	l, err := localsock.Listen(path)
	if err != nil {
		return nil, err
	}
	return &userDoor{path: path, listener: l}, nil
}

// serves makes the door lead to what a server at a port serves.
func (u *userDoor) serves(s *Daemon, port *http.Server) {
	u.http = &http.Server{
		Handler: port.Handler, ReadHeaderTimeout: port.ReadHeaderTimeout, ReadTimeout: port.ReadTimeout, IdleTimeout: port.IdleTimeout,
		MaxHeaderBytes: port.MaxHeaderBytes, ErrorLog: port.ErrorLog,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return httpapi.OfUser(ctx) },
	}
	u.http.RegisterOnShutdown(s.page.EndStreams)
	u.listener = httpapi.Limit(u.http, u.listener, 0)
}

// leaving lets the user of a private server end it.
func (s *Daemon) leaving(next http.Handler) http.Handler {
	if !s.o.Private {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mine := httpapi.IsOfUser(r.Context()) || s.key != "" && hmac.Equal([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.key))
		if r.Method != http.MethodPost || r.URL.Path != web.Root+"/"+leavePath || !mine {
			next.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		s.leave()
	})
}

// takeOver takes the lock of a private server, which leaves when another process asks it to. It
// returns busy where a server that is not private has the home.
func takeOver(ctx context.Context, h *home.Home, busy error) (*fsx.Lock, error) {
	w, running, err := Find(ctx, h.Dir())
	if err != nil || running && !w.Private {
		return nil, busy
	}
	if running {
		if err := w.askToLeave(ctx); err != nil {
			return nil, errors.Join(busy, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	lock, err := fsx.AcquireLock(ctx, filepath.Join(h.Dir(), lockFile), fsx.Exclusive)
	if err != nil {
		return nil, errors.Join(busy, err)
	}
	return lock, nil
}

// askToLeave asks a private server to leave. Errors: unreachable, refused.
func (w Where) askToLeave(ctx context.Context) error {
	const op = "ask server to leave"
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	req, t, err := w.request(ctx, http.MethodPost, leavePath)
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInvalid, ID: w.URL, Err: err}
	}
	defer t.CloseIdleConnections()
	if w.Key != "" {
		req.Header.Set("Authorization", "Bearer "+w.Key)
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: w.URL, Err: err}
	}
	if err := resp.Body.Close(); err != nil {
		return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: w.URL, Err: err}
	}
	if resp.StatusCode != http.StatusAccepted {
		return amber.Errorf(amber.KindRefused, op, w.URL, "want status %d, found %d", http.StatusAccepted, resp.StatusCode)
	}
	return nil
}
