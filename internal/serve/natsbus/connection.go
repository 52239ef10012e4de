package natsbus

import (
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
)

const (
	// A connection that does not answer this many pings in a row is dead.
	pingInterval = 10 * time.Second
	maxPings     = 2

	// probeWait is how long a connection may take to answer when there is
	// reason to doubt it.
	probeWait = time.Second
)

// connection is one connection of the client library with what belongs to it.
type connection struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	gone    chan struct{} // closed when the client library is done with it
	probing atomic.Bool
	doubt   atomic.Bool // whether the stream is there
}

// connected returns the connection, a new one where the client library has
// given the old one up: it does so for errors of a server that it does not know.
func (b *Bus) connected() (*connection, error) {
	switch b.status.current() {
	case linkDown:
		return nil, errNotConnected
	case linkGone:
		if err := b.connect(); err != nil {
			return nil, err
		}
		if b.status.current() != linkUp {
			return nil, errNotConnected
		}
	}
	b.connecting.Lock()
	defer b.connecting.Unlock()
	return b.conn, nil
}

// connect makes a connection where there is none, or a dead one. The client
// library connects again by itself from then on. Errors: invalid.
func (b *Bus) connect() error {
	b.connecting.Lock()
	defer b.connecting.Unlock()
	switch {
	case b.isClosed():
		return errClosed
	case b.conn != nil && b.status.current() != linkGone:
		return nil // another caller was faster
	}
	b.status.turn(linkDown, errNotConnected.Error())
	c := &connection{gone: make(chan struct{})}
	nc, err := nats.Connect(b.o.URL, b.natsOptions(c)...)
	if err == nil {
		c.nc = nc
		if c.js, err = jetstream.New(nc); err != nil {
			nc.Close()
		}
	}
	if err != nil {
		b.status.turn(linkGone, b.hidden.clean(err))
		return &amber.Error{Op: openOp, Kind: amber.KindInvalid, Err: b.hidden.scrub(err)}
	}
	b.conn = c
	if nc.IsConnected() {
		b.up(nc)
	}
	return nil
}

func (b *Bus) natsOptions(c *connection) []nats.Option {
	o := []nats.Option{
		nats.Name("amber"),
		nats.Timeout(dialWait),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(b.o.ReconnectWait), nats.ReconnectJitter(b.o.ReconnectWait, b.o.ReconnectWait),
		// The caller has the event and offers it again. A buffer here
		// would take it, and lose it with the process.
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(maxPings),
		// A write that fails drops what was to be written: nothing that comes
		// later on the same connection may pass for its answer.
		nats.FlusherTimeout(b.o.Wait), nats.ReconnectOnFlusherError(),
		nats.ConnectHandler(b.up),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			b.status.reconnected()
			b.up(nc)
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.down(linkDown, err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.stillDown(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			why := b.hidden.clean(err)
			b.complaints.tell(err.Error(), why)
			b.o.Log.Warn("the NATS server complains", "error", why)
		}),
		nats.ClosedHandler(func(nc *nats.Conn) {
			b.down(linkGone, nc.LastError())
			close(c.gone)
		}),
	}
	if b.o.CredsFile != "" {
		o = append(o, nats.UserCredentials(b.o.CredsFile))
	}
	return o
}

func (b *Bus) up(nc *nats.Conn) {
	if b.status.turn(linkUp, "") {
		b.o.Log.Info("connected to NATS", "server", nc.ConnectedAddr())
	}
}

func (b *Bus) down(to link, err error) {
	why := errNotConnected.Error()
	if err != nil {
		why = b.hidden.clean(err)
	}
	if b.status.turn(to, why) && !b.isClosed() {
		b.o.Log.Warn("not connected to NATS", "error", why)
	}
}

// stillDown is called after every attempt that failed; it logs an error that is new.
func (b *Bus) stillDown(err error) {
	if err == nil {
		return
	}
	if why := b.hidden.clean(err); b.status.blame(why) {
		b.o.Log.Warn("cannot connect to NATS", "error", why)
	}
}

// probe makes the connection anew when it does not answer: the connection may lead nowhere, and
// without the probe the client library would notice that only after several pings without an
// answer.
func (c *connection) probe() {
	if !c.probing.CompareAndSwap(false, true) {
		return
	}
	defer c.probing.Store(false)
	if c.nc.FlushTimeout(probeWait) != nil {
		_ = c.nc.ForceReconnect() // fails when it is closed
	}
}

// close ends the connection and waits for the client library to have let go.
func (c *connection) close() {
	c.nc.Close()
	<-c.gone
}
