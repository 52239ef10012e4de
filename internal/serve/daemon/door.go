package daemon

import (
	"context"
	"crypto/hmac"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/wire"
)

// listen opens the port. Callers from other machines need a token, and a token never crosses a
// network in the clear. The server decides that before a caller can connect. Errors: refused,
// invalid; busy for a port that another process has.
func (s *Daemon) listen(ctx context.Context) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", s.o.Listen)
	if err != nil {
		return nil, &amber.Error{Op: "listen", Kind: amber.KindInvalid, ID: s.o.Listen, Err: err}
	}
	if !s.isLocal(addr) {
		if err := s.mayListenBeyond(ctx, s.o.TLS != nil); err != nil {
			return nil, err
		}
	}
	network := "tcp"
	if addr.IP.To4() != nil {
		network = "tcp4" // 0.0.0.0 would mean IPv6, too
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network, addr.String())
	if s.o.AnyPort && errors.Is(err, syscall.EADDRINUSE) {
		addr.Port = 0
		l, err = lc.Listen(ctx, network, addr.String())
	}
	if err != nil {
		return nil, s.cannotListen(err)
	}
	return l, nil
}

func (s *Daemon) cannotListen(err error) error {
	e := &amber.Error{Op: "listen", Kind: amber.KindInvalid, ID: s.o.Listen, Err: err}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		e.Kind, e.Hint = amber.KindBusy, "amber serve --listen 127.0.0.1:0 takes any free port"
	case errors.Is(err, fs.ErrPermission):
		e.Kind = amber.KindRefused
	}
	return e
}

// isLocal reports whether only this machine can ask. A caller that comes through a
// proxy may be anywhere, wherever the proxy is.
func (s *Daemon) isLocal(addr net.Addr) bool { return isLoopback(addr) && !s.o.BehindProxy }

// isLoopback reports whether an address is reached from this machine only.
func isLoopback(addr net.Addr) bool {
	a, err := netip.ParseAddrPort(addr.String())
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// mayListenBeyond says whether callers of other machines may come.
func (s *Daemon) mayListenBeyond(ctx context.Context, secure bool) error {
	const op = "listen"
	has, err := s.o.Ledger.HasTokens(ctx)
	switch {
	case err != nil:
		return err
	case !has:
		return amber.Errorf(amber.KindRefused, op, s.o.Listen, "callers of other machines need a token, and no token was created yet").WithHint("amber token create NAME")
	case !secure && !s.o.BehindProxy:
		return amber.Errorf(amber.KindRefused, op, s.o.Listen, "callers of other machines need TLS").
			WithHint("give --tls-cert and --tls-key, or --behind-proxy if a proxy ends TLS")
	}
	return nil
}

// hosts are the names the server answers to. On this machine a page of any site
// could lead a name of its own here, so only names of this machine count.
func (s *Daemon) hosts(addr net.Addr) []string {
	if len(s.o.Hosts) > 0 || !s.isLocal(addr) {
		return s.o.Hosts
	}
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, _, err := net.SplitHostPort(s.o.Listen); err == nil && host != "" {
		names = append(names, host)
	}
	return names
}

// doorkeeper finds out who asks.
type doorkeeper struct {
	tokens wire.Tokens
	any    func(context.Context) (bool, error) // whether a token was ever made
	local  bool                                // only this machine can ask
	key    string                              // what the user of a private server shows; "": nothing does
	made   atomic.Bool                         // a token was made at some time
	failed func()                              // is called for every caller that needs a token and shows none
}

// Grant implements httpapi.Authenticator. On this machine every caller is the
// user, as on the command line, until there is a token; over the user's own socket
// always.
func (d *doorkeeper) Grant(ctx context.Context, secret string) (wire.Grant, error) {
	keyed := d.key != "" && hmac.Equal([]byte(secret), []byte(d.key))
	if secret != "" && !keyed {
		return d.tokens.Authenticate(ctx, secret)
	}
	if keyed || httpapi.IsOfUser(ctx) {
		return wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}}, nil
	}
	open, err := d.open(ctx)
	switch {
	case err != nil:
		return wire.Grant{}, err
	case open:
		return wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}}, nil
	}
	d.failed()
	return wire.Grant{}, amber.Errorf(amber.KindRefused, "authenticate", "", "the request carries no token")
}

// open reports whether every caller is the user: only this machine can ask, and
// there is no token yet.
func (d *doorkeeper) open(ctx context.Context) (bool, error) {
	if !d.local || d.key != "" || d.made.Load() {
		return false, nil
	}
	made, err := d.any(ctx)
	if made && err == nil {
		d.made.Store(true)
	}
	return !made && err == nil, err
}

// listening hears what happens in this process.
type listening struct {
	bus    *events.Bus
	config config.Events
}

// Listen implements httpapi.Listener.
func (l listening) Listen(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, fn func(events.Event)) error {
	of := string(tenant) + "." + string(agent)
	snapshots, err := l.bus.Subscribe(l.config.LifecyclePrefix+"."+of+".>", 0)
	if err != nil {
		return err
	}
	defer snapshots.Close()
	changes, err := l.bus.Subscribe(l.config.MutationPrefix+"."+of, 0)
	if err != nil {
		return err
	}
	defer changes.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-snapshots.C:
			fn(e)
		case e := <-changes.C:
			fn(e)
		}
		if n := snapshots.Dropped() + changes.Dropped(); n > 0 {
			return amber.Errorf(amber.KindBusy, "listen", "", "the listener was too slow: %d events are lost", n)
		}
	}
}
