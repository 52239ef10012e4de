package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/store/sqlite"
)

// feedPause is the time between two feeds: a tenth of that of a server.
const feedPause = 100 * time.Millisecond

// taker is a server that counts the files it takes.
type taker struct {
	openviking.Server
	files atomic.Int64
}

func (t *taker) WriteBatch(ctx context.Context, root string, files []api.File) error {
	err := t.Server.WriteBatch(ctx, root, files)
	if err == nil {
		t.files.Add(int64(len(files)))
	}
	return err
}

// vikingState is what happens to the server while stores are written to.
type vikingState struct {
	name                string
	server              *taker
	store               *openviking.Store
	feed                bool
	ours, bare, control timings
}

// writeBeside compares writes to a store with a server beside it with those to a store without,
// which take turns. A third store, without a server too, tells how far equal stores are apart.
func (v *viking) writeBeside(ctx context.Context) (out outcome) {
	stores := []*sqlite.Store{v.open(ctx, "beside"), v.open(ctx, "bare"), v.open(ctx, "control")}
	defer func() {
		for _, s := range stores {
			check(s.Close())
		}
	}()
	up := away{url: v.server.url}
	states := []*vikingState{v.state("feeder at rest", stores[0], up), v.state("feeder at work", stores[0], up)}
	for _, a := range []away{refusing(), hanging()} {
		defer a.stop()
		states = append(states, v.state("server "+a.name, stores[0], a))
	}
	for i, st := range states {
		st.feed = i > 0
		st.during(ctx, func() { v.writeInTurn(ctx, st, stores[1], stores[2]) })
		check(st.server.Server.(*api.Client).Close())
		st.ours.print(st.name)
		st.bare.print("without a server")
		fmt.Printf("%d files were fed meanwhile\n", st.server.files.Load())
		out.ratios = append(out.ratios, compared("write, "+st.name, limitBeside, st.ours, st.bare, st.control)...)
	}
	return out
}

func (v *viking) state(name string, primary *sqlite.Store, a away) *vikingState {
	t := &taker{Server: v.server.connect(a.url, v.server.key)}
	return &vikingState{name: name, server: t, store: v.beside(primary, a.url, t)}
}

// during runs f, with a feeder beside it where the state has one.
func (st *vikingState) during(ctx context.Context, f func()) {
	if !st.feed {
		f()
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			report, _ := st.store.Feed(ctx, openviking.Budget{}) // an outage is part of the measurement
			_ = httpcall.Wait(ctx, max(report.Again, feedPause))
		}
	})
	defer wg.Wait()
	defer cancel()
	f()
}

func (v *viking) writeInTurn(ctx context.Context, st *vikingState, bare, control *sqlite.Store) {
	write := func(s amber.LongTerm, r amber.WriteRequest, into *timings) func() {
		return func() { into.add(func() { get(s.Write(ctx, r)) }) }
	}
	for i := range v.writes {
		r := v.memory(i)
		v.texts.inTurn(write(st.store, r, &st.ours), write(bare, r, &st.bare), write(control, r, &st.control))
	}
}
