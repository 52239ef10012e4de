package natsbus_test

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
)

// outbox is that of a home, and tells when nothing waits.
type outbox struct {
	*ledger.DB
	empty  chan struct{} // gets a token when nothing waits
	failed chan struct{} // gets one when an event could not be handed on
}

func newOutbox(t *testing.T) *outbox {
	t.Helper()
	db := must.Get(ledger.Open(t.Context(), filepath.Join(t.TempDir(), "home.db"), ledger.Options{Clock: time.Now, Random: cryptorand.Reader}))(t)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	return &outbox{db, make(chan struct{}, 1), make(chan struct{}, 1)}
}

func (o *outbox) PendingEvents(ctx context.Context, limit int) ([]events.OutboxEvent, error) {
	list, err := o.DB.PendingEvents(ctx, limit)
	if err == nil && len(list) == 0 {
		signal(o.empty)
	}
	return list, err
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// await returns when a new signal comes.
func await(t *testing.T, c chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	default:
	}
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("it never comes: %s", what)
	}
}

// relaying is one process that relays: a bus and a relay that end together.
type relaying struct {
	stop context.CancelFunc
	done chan error
}

func startRelay(t *testing.T, o *outbox, url string) *relaying {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	bus := must.Get(natsbus.Open(ctx, natsbus.Options{
		URL: url, JetStream: true, Wait: 200 * time.Millisecond, ReconnectWait: time.Millisecond,
	}))(t)
	r := &events.Relay{Outbox: o, Publisher: bus, Interval: 5 * time.Millisecond, After: impatient, Report: func(err error) {
		if err != nil {
			signal(o.failed)
		}
	}}
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
	must.Kind(t, "the end of the relay", <-p.done, "")
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
	o := newOutbox(t)
	r := startRelay(t, o, px.url())
	var want []string
	put := func(n int) {
		for range n {
			id := fmt.Sprintf("created/acme/%d", len(want))
			e := mutation(id)
			e.Payload = json.RawMessage(`{"n":1}`)
			must.Do(t, o.Publish(t.Context(), e))
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
			await(t, o.failed, "somebody notices that nothing gets through")
			px.thaw()
		case 3:
			r.end(t)
			r = startRelay(t, o, px.url())
		}
	}
	await(t, o.empty, "nothing waits")
	r.end(t)
	var got []string
	seen := map[string]bool{}
	for _, id := range idsOf(t, s.kept(t, natsbus.DefaultStream)) {
		if !seen[id] {
			got = append(got, id)
		}
		seen[id] = true
	}
	must.Equal(t, "first arrivals", got, want)
}
