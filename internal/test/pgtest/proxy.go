package pgtest

import (
	"errors"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Action is what a [Proxy] does with a message.
type Action int

// The actions.
const (
	// Forward passes the message on.
	Forward Action = iota
	// Cut closes the connection; the message is not passed on.
	Cut
	// ForwardCut passes the message on and closes the connection. After a message of the client,
	// the server may still be working when the client learns that the connection is gone.
	ForwardCut
	// Swallow passes a message of the client on, but nothing of the answer; the proxy closes the
	// connection when the server has answered completely, so by then the server has done what the
	// client asked. The answer is that to all messages up to the next Sync. Where the rule is about
	// a message of the server, that message is the first that is kept back.
	Swallow
)

// Rule decides about a message. It may wait: then this direction of the connection waits. It
// is called from several goroutines.
type Rule func(Message) Action

// LoseCommit is a rule for messages of clients: the server commits, and the client does not
// get the answer.
func LoseCommit(m Message) Action {
	if m.IsCommit() {
		return Swallow
	}
	return Forward
}

// PreventCommit is a rule for messages of clients: the connection is gone before the server
// gets COMMIT.
func PreventCommit(m Message) Action {
	if m.IsCommit() {
		return Cut
	}
	return Forward
}

// Proxy passes connections to a server on, message by message. It refuses TLS, because it
// could not read the messages then. Requests to cancel a statement are passed on without rules.
type Proxy struct {
	listener net.Listener
	work     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	target   string
	frontend Rule // nil: Forward
	backend  Rule
	links    map[*link]bool
	count    int
}

// NewProxy starts a proxy on a port of the loopback. It leads to addr, a host:port as from
// [Server.Addr], and ends with the test.
func NewProxy(tb testing.TB, addr string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: l, target: addr, links: map[*link]bool{}}
	p.work.Go(p.accept)
	tb.Cleanup(func() {
		if err := p.close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// DSN names a database of the server behind the proxy.
func (p *Proxy) DSN(database string) string {
	return dsn("127.0.0.1", strconv.Itoa(p.listener.Addr().(*net.TCPAddr).Port), database)
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Point leads new connections to another server. Those that are open stay; see [Proxy.Cut].
func (p *Proxy) Point(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = addr
}

// OnFrontend sets the rule for messages of clients, also those of open connections; nil passes
// all on.
func (p *Proxy) OnFrontend(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frontend = r
}

// OnBackend sets the rule for messages of the server.
func (p *Proxy) OnBackend(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backend = r
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

func (p *Proxy) rules() (frontend, backend Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frontend, p.backend
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.count++
		l := &link{proxy: p, id: p.count, target: p.target, client: c.(*net.TCPConn)}
		p.links[l] = true
		if p.closed {
			l.cut()
		}
		p.mu.Unlock()
		p.work.Go(func() {
			l.serve()
			l.cut()
			p.mu.Lock()
			delete(p.links, l)
			p.mu.Unlock()
		})
	}
}

// close ends the proxy.
func (p *Proxy) close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Cut()
	done := make(chan struct{})
	go func() { p.work.Wait(); close(done) }()
	late := time.NewTimer(stopLimit)
	defer late.Stop()
	select {
	case <-done:
		return err
	case <-late.C:
		return errors.Join(err, errors.New("a rule of the proxy still waits at the end of the test"))
	}
}
