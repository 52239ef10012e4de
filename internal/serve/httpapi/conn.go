package httpapi

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// DefaultMaxConns is how many connections a server has at one time.
const DefaultMaxConns = 2048

// Limit bounds the connections of a server: when there are most, the one that
// has been idle for longest is closed for a new one, and where none is idle one
// new one waits at the door and the others in the queue of the system. Serve with
// the listener it returns. Most 0 means DefaultMaxConns.
func Limit(s *http.Server, l net.Listener, most int) net.Listener {
	if most <= 0 {
		most = DefaultMaxConns
	}
	b := &bounded{Listener: l, most: most, idle: map[net.Conn]time.Time{}, room: make(chan struct{}, 1), closed: make(chan struct{})}
	next := s.ConnState
	s.ConnState = func(c net.Conn, state http.ConnState) {
		b.note(c, state)
		if next != nil {
			next(c, state)
		}
	}
	return b
}

// bounded is a listener that knows its connections.
type bounded struct {
	net.Listener
	most int

	mu     sync.Mutex
	open   int
	idle   map[net.Conn]time.Time // connections without a request, and since when
	order  int64                  // counts idlings: time is not asked for
	room   chan struct{}          // told when there may be room again
	closed chan struct{}
	once   sync.Once
}

// Accept implements [net.Listener]. It looks for a place only after a connection has come in: an idle connection is
// closed only where another one needs its place.
func (b *bounded) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for !b.enter() {
		select {
		case <-b.room:
		case <-b.closed:
			_ = c.Close() // it was never served
			return nil, net.ErrClosed
		}
	}
	return &conn{Conn: c, leave: sync.OnceFunc(b.leave)}, nil
}

// enter takes a place, if need be that of the connection that has been idle for
// longest.
func (b *bounded) enter() bool {
	b.mu.Lock()
	if b.open < b.most {
		b.open++
		b.mu.Unlock()
		return true
	}
	var oldest net.Conn
	for c, since := range b.idle {
		if oldest == nil || since.Before(b.idle[oldest]) {
			oldest = c
		}
	}
	if oldest != nil {
		delete(b.idle, oldest)
	}
	b.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // it leaves by that
	}
	return false
}

func (b *bounded) leave() {
	b.mu.Lock()
	b.open--
	b.mu.Unlock()
	b.wake()
}

func (b *bounded) wake() {
	select {
	case b.room <- struct{}{}:
	default:
	}
}

// note follows what a connection does.
func (b *bounded) note(c net.Conn, state http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch state {
	case http.StateNew, http.StateIdle:
		b.order++
		b.idle[c] = time.Unix(0, b.order) // only the order counts
		b.wake()
	default:
		delete(b.idle, c)
	}
}

// Close implements [net.Listener].
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// conn gives its place back when it is closed.
type conn struct {
	net.Conn
	leave func()
}

func (c *conn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}

// hurry cuts off a caller that does not take the answer within d; call done when it is written. It counts with a
// timer, since deadlines of connections go by the clock of the machine, and the API may have another clock.
func hurry(w http.ResponseWriter, d time.Duration) (done func()) {
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{}) // a recorder of a test has none
	t := time.AfterFunc(d, func() { _ = rc.SetWriteDeadline(time.Unix(1, 0)) })
	return func() { t.Stop() }
}

// unhurried lets a request take its time that has been read whole. The time to
// read it would end its context otherwise, also while it is being answered.
func unhurried(w http.ResponseWriter) { _ = http.NewResponseController(w).SetReadDeadline(time.Time{}) }
