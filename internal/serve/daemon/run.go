package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/httpapi"
)

// door is where callers come in.
type door struct {
	api      *httpapi.API
	http     *http.Server
	listener net.Listener         // nil for a private server with a socket
	user     *userDoor            // nil where there is none
	hooks    *hooksocket.Listener // nil where there is none
	url      string
}

// open makes the API and listens. The caller, run, closes the door that it returns.
func (s *Daemon) open(ctx context.Context) (*door, error) {
	d := &door{}
	user, err := s.openUser()
	switch {
	case err == nil:
		d.user, d.url = user, unixScheme+user.path
	case s.o.Private && amber.KindOf(err) == amber.KindUnsupported:
		s.key = keyPrefix + rand.Text() // a port of this machine, for those who can read the file that says where
	case s.o.Private:
		return nil, err
	default:
		s.o.Log.Warn("programs of this user cannot ask without a token", "error", err)
	}
	if err := s.openPort(ctx, d); err != nil {
		return nil, errors.Join(err, d.closeListeners())
	}
	if d.user != nil {
		d.user.serves(s, d.http)
	}
	d.hooks = s.openNear()
	return d, nil
}

// openPort makes the API, and listens at its port where it has one.
func (s *Daemon) openPort(ctx context.Context, d *door) (err error) {
	addr := net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if !s.o.Private || d.user == nil {
		if d.listener, err = s.listen(ctx); err != nil {
			return err
		}
		addr, d.url = d.listener.Addr(), "http://"+d.listener.Addr().String()
	}
	if d.api, err = s.newAPI(addr); err != nil {
		return err
	}
	d.http = d.api.NewServer()
	d.http.Handler = s.leaving(s.traffic.Counted(s.watchers.around(d.http.Handler)))
	d.http.TLSConfig = s.o.TLS
	d.http.RegisterOnShutdown(s.page.EndStreams)
	if s.o.TLS != nil && d.listener != nil {
		d.url = "https://" + addr.String()
	}
	if d.listener != nil {
		d.listener = httpapi.Limit(d.http, d.listener, 0)
	}
	return nil
}

// closeListeners closes the listeners, so that no new caller gets in.
func (d *door) closeListeners() error {
	var errs []error
	if d.user != nil {
		errs = append(errs, d.user.listener.Close())
	}
	if d.listener != nil {
		errs = append(errs, d.listener.Close())
	}
	return errors.Join(errs...)
}

// serve answers until the server is shut down. TLS lies on top of what counts
// connections: the server must see that it speaks it to know which HTTP was
// agreed on.
func (d *door) serve() error {
	if d.listener == nil {
		return d.user.http.Serve(d.user.listener)
	}
	if d.user != nil {
		go func() { _ = d.user.http.Serve(d.user.listener) }() // programs ask over the port when it fails
	}
	if d.http.TLSConfig != nil {
		return d.http.ServeTLS(d.listener, "", "")
	}
	return d.http.Serve(d.listener)
}

// run serves until ctx ends, then lets everybody finish.
func (s *Daemon) run(ctx context.Context, d *door, listening func(Where) error) error {
	s.work()
	failed := make(chan error, 1)
	go func() { failed <- d.serve() }()
	if d.hooks != nil {
		go d.hooks.Serve()
	}
	where := s.where(d)
	s.tell(where)
	s.o.Replica.listens(ctx, s, d.url)
	defer s.hush()
	s.o.Log.Info("serving", "url", d.url, "page", where.Page, "home", s.o.Home.Dir(), "version", s.o.Version)
	err := listening(where)
	if err == nil {
		select {
		case err = <-failed:
			err = &amber.Error{Op: "serve", Kind: amber.KindInternal, Err: err}
		case <-ctx.Done():
		case <-s.left:
			s.o.Log.Info("another process wants to serve this home")
		}
	}
	signal.Reset(os.Interrupt, syscall.SIGTERM) // a second signal ends the process at once
	if err == nil {
		err = s.drain(failed)
	}
	s.o.Log.Info("shutting down")
	return errors.Join(err, s.shutDown(ctx, d))
}

// drain answers for some time and says that the server is not ready. It ends at once where nothing is answered any more, or another process
// wants to serve.
func (s *Daemon) drain(failed <-chan error) error {
	if s.o.Drain <= 0 {
		return nil
	}
	s.draining.Store(true)
	s.o.Log.Info("not ready any more; the port closes later", "in", s.o.Drain.String())
	late := time.NewTimer(s.o.Drain)
	defer late.Stop()
	select {
	case <-late.C:
	case <-s.left:
	case err := <-failed:
		return &amber.Error{Op: "serve", Kind: amber.KindInternal, Err: err}
	}
	return nil
}

// shutDown lets no new request in and waits for the requests that are being answered. Errors:
// unreachable when the time was over and requests were cut off.
func (s *Daemon) shutDown(ctx context.Context, d *door) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Grace)
	defer cancel()
	d.api.Close()
	var nearErr error
	if d.hooks != nil {
		nearErr = d.hooks.Close()
	}
	err := d.http.Shutdown(within)
	if d.user != nil {
		err = errors.Join(err, d.user.http.Shutdown(within))
	}
	if err == nil {
		return nearErr
	}
	cut := &amber.Error{Op: "shut down", Kind: amber.KindUnreachable, Err: fmt.Errorf("requests were cut off: %w", err)}
	errs := []error{cut, nearErr, d.http.Close()}
	if d.user != nil {
		errs = append(errs, d.user.http.Close())
	}
	return errors.Join(errs...)
}

// closeWithin is how long workers and databases may take to end. Requests may
// have used up their time before; what is left takes little.
const closeWithin = 10 * time.Second

// Close lets go of what was opened: workers stop between two steps, then agents,
// the broker, metrics and traces are closed. The caller closes the ledger after
// that. Errors: those of closing, joined.
func (s *Daemon) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	errs := []error{s.crew.Stop(ctx), s.o.Replica.giveBack(ctx)}
	if s.page != nil {
		errs = append(errs, s.page.Close(ctx))
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close(ctx))
	}
	if s.watchers != nil {
		errs = append(errs, s.watchers.close(ctx))
	}
	return errors.Join(append(errs, s.lock.Unlock())...)
}
