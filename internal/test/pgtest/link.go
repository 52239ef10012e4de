package pgtest

import (
	"bufio"
	"io"
	"net"
	"sync"
	"time"
)

// link is one connection through a [Proxy].
type link struct {
	proxy  *Proxy
	id     int
	target string
	client *net.TCPConn

	mu     sync.Mutex
	server *net.TCPConn // nil before the first message
	gone   bool
	// A server ends its answer to a startup message, Q, S (Sync) and F with Z
	// (ReadyForQuery). So both are counted to know to which question an answer belongs.
	asked, answered int
	silent          int  // from the answer with this number on, nothing is passed on; 0: never
	deaf            bool // the client is gone and the server is not to notice yet
}

// cut closes both sides.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	_ = l.client.Close()
	if l.server != nil {
		_ = l.server.Close()
	}
}

// serve passes messages on until the connection ends.
func (l *link) serve() {
	from := bufio.NewReader(l.client)
	first, code, err := readFirst(from)
	for err == nil && (code == codeTLS || code == codeGSS) {
		if _, err = l.client.Write([]byte{'N'}); err == nil {
			first, code, err = readFirst(from)
		}
	}
	if err != nil || !l.dial() {
		return
	}
	if code == codeCancel {
		if _, err := l.server.Write(first.bytes()); err == nil {
			_, _ = io.Copy(io.Discard, l.server) // the server closes when it has done it
		}
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.answers()
		l.cut()
	}()
	l.questions(first, from)
	<-ended
}

// dial connects to the server.
func (l *link) dial() bool {
	c, err := net.DialTimeout("tcp", l.target, 5*time.Second)
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = c.(*net.TCPConn)
	if l.gone {
		_ = c.Close()
	}
	return !l.gone
}

// questions passes on what the client sends. When the client closes, the server still gets all
// of it before it learns that.
func (l *link) questions(m Message, from io.Reader) {
	var err error
	for n := 0; err == nil; n++ {
		m.Conn, m.N = l.id, n
		action := Forward
		if rule, _ := l.proxy.rules(); rule != nil {
			action = rule(m)
		}
		if action == Cut {
			l.cut()
			return
		}
		l.count(m, action)
		if _, err = l.server.Write(m.bytes()); err != nil {
			l.cut()
			return
		}
		if action == ForwardCut {
			_ = l.client.Close()
			break
		}
		m, err = readMessage(from)
	}
	_ = l.server.CloseWrite()
}

// count notes what the server will answer, before the message can reach it.
func (l *link) count(m Message, action Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := l.asked + 1 // what the message is part of
	switch m.Type {
	case 0, 'Q', 'S', 'F':
		l.asked++
	}
	if action == Swallow && l.silent == 0 {
		l.silent = answer
	}
	l.deaf = l.deaf || action == ForwardCut
}

// answers passes on what the server sends.
func (l *link) answers() {
	from := bufio.NewReader(l.server)
	for n := 0; ; n++ {
		m, err := readMessage(from)
		if err != nil {
			return
		}
		m.Conn, m.N = l.id, n
		action := Forward
		if _, rule := l.proxy.rules(); rule != nil {
			action = rule(m)
		}
		if action == Cut {
			return
		}
		silent, last := l.heard(m, action)
		if last {
			return
		}
		if silent {
			continue
		}
		if _, err := l.client.Write(m.bytes()); err != nil {
			l.mu.Lock()
			l.deaf = true // the server goes on with what it has, as if its answers were on their way
			l.mu.Unlock()
		}
		if action == ForwardCut {
			return
		}
	}
}

// heard counts an answer. It reports whether the message is kept back, and whether it is the last one.
func (l *link) heard(m Message, action Action) (silent, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := l.answered + 1
	if m.Type == 'Z' {
		l.answered++
	}
	if action == Swallow && l.silent == 0 {
		l.silent = current
	}
	swallowed := l.silent != 0 && current >= l.silent
	return swallowed || l.deaf, swallowed && m.Type == 'Z'
}
