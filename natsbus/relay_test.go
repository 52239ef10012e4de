package natsbus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/natsbus"
)

// outbox stands for one that survives its process.
type outbox struct {
	mu     sync.Mutex
	events []amber.OutboxEvent
	last   int64
	empty  chan struct{} // gets a token when nothing waits
}

func (o *outbox) put(e amber.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	o.events = append(o.events, amber.OutboxEvent{Seq: o.last, Event: e})
}

func (o *outbox) PendingEvents(_ context.Context, limit int) ([]amber.OutboxEvent, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.events) == 0 {
		select {
		case o.empty <- struct{}{}:
		default:
		}
	}
	return append([]amber.OutboxEvent(nil), o.events[:min(limit, len(o.events))]...), nil
}

func (o *outbox) EventsPublished(_ context.Context, upTo int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.events) > 0 && o.events[0].Seq <= upTo {
		o.events = o.events[1:]
	}
	return nil
}

// relaying is one process that relays: a bus and a relay that end together.
type relaying struct {
	stop context.CancelFunc
	done chan error
}

func startRelay(t *testing.T, o *outbox, url string) *relaying {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	bus := must(natsbus.Open(ctx, natsbus.Options{
		URL: url, JetStream: true, Clock: time.Now, Wait: 500 * time.Millisecond, ReconnectWait: time.Millisecond,
	}))(t)
	r := &events.Relay{Outbox: o, Publisher: bus, Interval: 5 * time.Millisecond, After: impatient}
	p := &relaying{cancel, make(chan error, 1)}
	go func() {
		err := r.Run(ctx)
		if cerr := bus.Close(context.WithoutCancel(ctx)); err == nil {
			err = cerr
		}
		p.done <- err
	}()
	return p
}

func (p *relaying) end(t *testing.T) {
	t.Helper()
	p.stop()
	if err := <-p.done; err != nil {
		t.Errorf("the relay ends with %v", err)
	}
}

// Events of an outbox reach the stream whatever becomes of broker, network and
// relay meanwhile, each for the first time in order.
func TestARelayReachesTheStreamThroughOutages(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	s := newBroker(t, true)
	px := newProxy(t, s.addr())
	o := &outbox{empty: make(chan struct{}, 1)}
	r := startRelay(t, o, px.url())
	var want []string
	put := func(n int) {
		for range n {
			id := fmt.Sprintf("created/acme/%d", len(want))
			e := mutation(id)
			e.Payload = json.RawMessage(`{"n":1}`)
			o.put(e)
			want = append(want, id)
		}
	}
	for len(want) < *eventCount {
		put(1 + chance.IntN(*eventCount/8))
		switch chance.IntN(4) {
		case 0:
			s.stop()
			put(1 + chance.IntN(50))
			s.start(t)
		case 1:
			px.cut()
		case 2:
			px.freeze()
			put(1 + chance.IntN(50))
			<-impatient(time.Second)
			px.thaw()
		case 3:
			r.end(t)
			r = startRelay(t, o, px.url())
		}
	}
	select { // the token may be an old one
	case <-o.empty:
	default:
	}
	select {
	case <-o.empty:
	case <-time.After(patience):
		t.Fatal("the outbox is never empty")
	}
	r.end(t)
	var got []string
	seen := map[string]bool{}
	for _, id := range idsOf(t, s.kept(t, natsbus.DefaultStream)) {
		if !seen[id] {
			got = append(got, id)
		}
		seen[id] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("first arrivals (-want +got):\n%s", diff)
	}
}
