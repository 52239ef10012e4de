package natsbus_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/sqlite"
)

// BenchmarkPublish is what one event costs, one after the other.
func BenchmarkPublish(b *testing.B) {
	for name, jetStream := range map[string]bool{"plain": false, "jetstream": true} {
		b.Run(name, func(b *testing.B) {
			bus, _ := open(b, natsbus.Options{URL: newBroker(b, jetStream).url(), JetStream: jetStream})
			for i := 0; b.Loop(); i++ {
				publish(b, bus, mutation(fmt.Sprint(i)))
			}
		})
	}
}

// house is a store whose changes are published to a broker in some state.
type house struct {
	state string
	store *sqlite.Store
	took  []time.Duration
}

// newHouse opens a store and lets a worker publish what changes to a broker in a
// state. The first state of BenchmarkWrite has neither a broker nor a worker.
func newHouse(b *testing.B, state string) *house {
	b.Helper()
	hh := must.Get(openStores(b.Context(), b.TempDir()))(b)
	b.Cleanup(func() { _ = hh.close(context.Background()) })
	h := &house{state: state, store: hh.stores[0]}
	if state == "nobody" {
		return h
	}
	s := newBroker(b, true)
	px := newProxy(b, s.addr())
	bus, log := open(b, natsbus.Options{URL: px.url(), JetStream: true, ReconnectWait: 500 * time.Millisecond})
	log.await(b, "connected to NATS")
	worker := &events.Mutations{
		Log: hh.logs["ada/memory"], Tenant: "acme", Agent: "ada", Publisher: bus,
		Cursor: events.FileCursor{Path: filepath.Join(b.TempDir(), "cursor")},
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = worker.Run(ctx)
	}()
	b.Cleanup(func() {
		px.thaw()
		cancel()
		<-done
	})
	switch state {
	case "down":
		s.stop()
	case "partitioned":
		px.freeze()
	}
	return h
}

// BenchmarkWrite is what a write to a real store takes while its changes are
// published to a broker in several states. All of them take turns, so that they
// share what else the machine does; the ratios are against the first state, which
// has no worker.
func BenchmarkWrite(b *testing.B) {
	var houses []*house
	for _, state := range []string{"nobody", "up", "down", "partitioned"} {
		houses = append(houses, newHouse(b, state))
	}
	for i := 0; b.Loop(); i++ {
		for _, h := range houses {
			begin := time.Now()
			must.Get(h.store.Write(b.Context(), amber.WriteRequest{Content: fmt.Sprintf("fact number %d", i)}))(b)
			h.took = append(h.took, time.Since(begin))
		}
	}
	for _, h := range houses {
		slices.Sort(h.took)
		for name, at := range map[string]int{"p50": 50, "p99": 99} {
			mine, base := h.took[len(h.took)*at/100], houses[0].took[len(h.took)*at/100]
			b.ReportMetric(float64(mine)/float64(base), h.state+"-"+name)
		}
	}
	b.ReportMetric(float64(houses[0].took[b.N/2].Microseconds()), "nobody-µs")
}
