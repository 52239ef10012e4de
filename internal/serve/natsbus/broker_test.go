package natsbus_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/test/must"
)

// patience bounds what a test waits for; nothing takes nearly as long.
const patience = 2 * time.Minute

// broker is a NATS server that can be stopped and started again in the same
// place.
type broker struct {
	opts server.Options
	s    *server.Server
}

// newBroker starts a server on a port of its own.
func newBroker(t testing.TB, jetStream bool, change ...func(*server.Options)) *broker {
	t.Helper()
	b := &broker{opts: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: jetStream, StoreDir: t.TempDir(), JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30,
	}}
	for _, c := range change {
		c(&b.opts)
	}
	b.start(t)
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start(t testing.TB) {
	t.Helper()
	opts := b.opts
	s := must.Get(server.NewServer(&opts))(t)
	s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	b.s = s
	b.opts.Port = s.Addr().(*net.TCPAddr).Port
}

func (b *broker) stop() {
	b.s.Shutdown()
	b.s.WaitForShutdown()
}

func (b *broker) addr() string { return fmt.Sprintf("127.0.0.1:%d", b.opts.Port) }
func (b *broker) url() string  { return "nats://" + b.addr() }

// client connects to the server as a listener would.
func (b *broker) client(t testing.TB, o ...nats.Option) *nats.Conn {
	t.Helper()
	nc := must.Get(nats.Connect(b.url(), o...))(t)
	t.Cleanup(nc.Close)
	return nc
}

// listen subscribes without JetStream.
func (b *broker) listen(t testing.TB, subject string) *nats.Subscription {
	t.Helper()
	nc := b.client(t)
	sub := must.Get(nc.SubscribeSync(subject))(t)
	must.Do(t, sub.SetPendingLimits(-1, -1))
	must.Do(t, nc.Flush())
	return sub
}

func next(t testing.TB, sub *nats.Subscription) *nats.Msg {
	t.Helper()
	return must.Get(sub.NextMsg(patience))(t)
}

// kept reads everything that a stream holds.
func (b *broker) kept(t testing.TB, stream string) []*nats.Msg {
	t.Helper()
	js := must.Get(jetstream.New(b.client(t)))(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := must.Get(js.Stream(ctx, stream))(t)
	c := must.Get(s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{}))(t)
	info := must.Get(s.Info(ctx))(t)
	var out []*nats.Msg
	for len(out) < int(info.State.Msgs) {
		batch := must.Get(c.Fetch(min(1000, int(info.State.Msgs)-len(out)), jetstream.FetchMaxWait(patience)))(t)
		for m := range batch.Messages() {
			out = append(out, &nats.Msg{Subject: m.Subject(), Header: m.Headers(), Data: m.Data()})
		}
		must.Do(t, batch.Error())
	}
	return out
}

func decode(t testing.TB, m *nats.Msg) events.Event {
	t.Helper()
	var e events.Event
	must.Do(t, json.Unmarshal(m.Data, &e))
	must.Equal(t, "subject", e.Subject, m.Subject)
	return e
}

func idsOf(t testing.TB, list []*nats.Msg) []string {
	t.Helper()
	var out []string
	for _, m := range list {
		out = append(out, decode(t, m).ID)
	}
	return out
}

// mutation returns an event.
func mutation(id string) events.Event {
	m := events.Mutation{Tenant: "acme", Agent: "ada", Op: amber.OpInsert, Scope: amber.ChangeMemory, Key: "k", At: amber.UnixMilli(1)}
	return events.Event{
		ID: id, Name: events.EventMutated, Subject: events.MutationSubject("", "acme", "ada"),
		Tenant: "acme", Agent: "ada", At: m.At, Payload: m,
	}
}

// journal is a log that signals lines as they come.
type journal struct {
	mu    sync.Mutex
	text  []byte
	lines chan string
}

func newJournal() *journal { return &journal{lines: make(chan string, 10_000)} }

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = append(j.text, p...)
	select {
	case j.lines <- string(p):
	default:
	}
	return len(p), nil
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.text)
}

// await returns when a line with these words comes.
func (j *journal) await(t testing.TB, words string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case line := <-j.lines:
			if strings.Contains(line, words) {
				return
			}
		case <-late:
			t.Fatalf("no %q in the log:\n%s", words, j)
		}
	}
}

// open returns a bus that is closed with the test, and its log.
func open(t testing.TB, o natsbus.Options) (*natsbus.Bus, *journal) {
	t.Helper()
	j := newJournal()
	o.Log = slog.New(slog.NewTextHandler(j, nil))
	o.ReconnectWait = cmp.Or(o.ReconnectWait, 10*time.Millisecond)
	b := must.Get(natsbus.Open(t.Context(), o))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		must.Kind(t, "Close", b.Close(ctx), "")
	})
	return b, j
}

// proxy stands between a client and a server, and can stop forwarding.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	gate  chan struct{} // closed while bytes pass
	pairs []net.Conn
	wg    sync.WaitGroup
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &proxy{listener: l, target: target, gate: make(chan struct{})}
	close(p.gate)
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.thaw()
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		p.mu.Lock()
		p.pairs = append(p.pairs, in, out)
		p.mu.Unlock()
		p.wg.Go(func() { p.copy(in, out) })
		p.wg.Go(func() { p.copy(out, in) })
	}
}

func (p *proxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		gate := p.gate
		p.mu.Unlock()
		<-gate
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// freeze holds back every byte. It closes nothing, so neither side notices.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
}

// thaw lets bytes pass again, those that were held back first.
func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// cut closes every connection there is.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.pairs {
		_ = c.Close()
	}
	p.pairs = nil
}
