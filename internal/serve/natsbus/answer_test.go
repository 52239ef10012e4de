package natsbus_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/test/must"
)

// leaver is a server that leaves right after it has answered, so that what was
// about to be sent never arrives.
type leaver struct {
	mu  sync.Mutex
	got map[string]bool // ids of events
}

func (l *leaver) serve(c net.Conn) {
	defer c.Close()
	fmt.Fprint(c, "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"proto\":1,\"headers\":true,\"max_payload\":1048576}\r\n")
	lines := bufio.NewReader(c)
	for events := 0; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if id, ok := strings.CutPrefix(line, "Nats-Msg-Id: "); ok {
			l.mu.Lock()
			l.got[strings.TrimSpace(id)] = true
			l.mu.Unlock()
			events++
		}
		if strings.HasPrefix(line, "PING") {
			fmt.Fprint(c, "PONG\r\n")
			if events > 0 {
				return
			}
		}
	}
}

func (l *leaver) has(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.got[id]
}

// The client library connects again by itself and goes on. An answer that comes
// over the later connection says nothing about what was sent over the one before.
func TestAnAnswerOfALaterConnectionIsNone(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := &leaver{got: map[string]bool{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			server.serve(c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	b, _ := open(t, natsbus.Options{URL: "nats://" + l.Addr().String(), ReconnectWait: time.Nanosecond, Wait: time.Second})
	out, failed := 0, 0
	for i := 0; out < *eventCount/5; i++ {
		id := fmt.Sprint(i)
		if b.Publish(t.Context(), mutation(id)) != nil {
			failed++
			<-time.After(time.Millisecond) // as a caller that offers it again would
			continue
		}
		out++
		if !server.has(id) {
			t.Fatalf("event %s is said to be out, and the server has never seen it", id)
		}
	}
	t.Logf("%d events are out, %d attempts failed", out, failed)
}
