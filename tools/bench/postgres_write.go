package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// bareTable is what writes are compared with: a row as long as a memory, and nothing else.
const (
	bareTable  = `CREATE TABLE IF NOT EXISTS bare (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), title text NOT NULL, content text NOT NULL, at timestamptz NOT NULL DEFAULT now())`
	bareInsert = `INSERT INTO bare (title, content) VALUES ($1, $2)`
)

// writeRate lets 64 writers write to some stores for a while, and returns how many writes there were in a second.
func (l *pgLab) writeRate(ctx context.Context, stores ...amber.LongTerm) float64 {
	t := newTraffic(l.text)
	t.onlyWrites = true
	t.run(ctx, l.c.pgFor/turns, stores)
	check(t.err())
	return float64(time.Second) / float64(t.perOperation())
}

// bareRate is the same for bare inserts, each in a transaction of its own.
func (l *pgLab) bareRate(ctx context.Context) float64 {
	ctx, cancel := context.WithTimeout(ctx, l.c.pgFor/turns)
	defer cancel()
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, serveClients)
	begin := time.Now()
	for range serveClients {
		w := newWriter(l.text.random.Uint64())
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				title, content := w.text(n)
				if _, err := l.pool.Exec(ctx, bareInsert, title, content); err == nil {
					done.Add(1)
				} else if ctx.Err() == nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	close(errs)
	check(<-errs)
	return float64(done.Load()) / took.Seconds()
}

// writers measures 64 writers.
func (l *pgLab) writers(ctx context.Context) []goal {
	l.exec(ctx, bareTable)
	one := l.agent()
	together, alone := l.open(ctx, one, postgres.Options{}), l.open(ctx, one, postgres.Options{OneByOne: true})
	lite := l.lite(ctx, options())
	l.fill(ctx, l.c.small, func() {}, together, lite)
	var many []amber.LongTerm
	for range serveClients {
		many = append(many, l.open(ctx, l.agent(), postgres.Options{}))
	}
	var rates [5]float64
	for range turns {
		for i, rate := range []func() float64{
			func() float64 { return l.writeRate(ctx, together) },
			func() float64 { return l.writeRate(ctx, lite) },
			func() float64 { return l.writeRate(ctx, alone) },
			func() float64 { return l.writeRate(ctx, many...) },
			func() float64 { return l.bareRate(ctx) },
		} {
			rates[i] += rate() / turns
		}
	}
	goalOf := func(work string, a, b int, least float64) goal {
		return goal{work: work, got: rates[a] / rates[b], unit: "x", goal: least, least: true, note: fmt.Sprintf("%.0f over %.0f writes a second", rates[a], rates[b])}
	}
	return []goal{
		goalOf("64 writers, one agent, over SQLite", 0, 1, 3),
		goalOf("64 writers, one agent, over one by one", 0, 2, 5),
		goalOf("64 writers on 64 agents over bare inserts", 3, 4, 0.3),
	}
}

// save measures a writer that has no company.
func (l *pgLab) save(ctx context.Context) []goal {
	large, small := l.open(ctx, l.agent(), postgres.Options{}), l.open(ctx, l.agent(), postgres.Options{})
	l.fill(ctx, l.c.large, func() {}, large)
	l.fill(ctx, l.c.small, func() {}, small)
	n := 1 << 30
	one := func(s *postgres.Store) func() {
		return func() {
			n++
			title, content := l.text.text(n)
			get(s.Write(ctx, amber.WriteRequest{Title: title, Content: content}))
		}
	}
	bare := func() {
		n++
		title, content := l.text.text(n)
		l.exec(ctx, bareInsert, title, content)
	}
	times := max(20, min(l.c.small/5, 400))
	a, b := middleOf(times, one(large), one(small))
	c, d := middleOf(times, one(small), bare)
	return []goal{
		{work: fmt.Sprintf("save into %d over %d", l.c.large, l.c.small), got: a / b, unit: "x", goal: 1.2, note: fmt.Sprintf("%.2f ms over %.2f ms", a*1000, b*1000)},
		{work: "one writer alone over a bare commit", got: c / d, unit: "x", goal: 2, note: fmt.Sprintf("%.2f ms over %.2f ms", c*1000, d*1000)},
	}
}

// upkeep compares batches with the same into a database whose triggers note nothing for the index.
func (l *pgLab) upkeep(ctx context.Context) []goal {
	check(l.server.CreateDatabase(ctx, "unindexed"))
	db := l.connect(ctx, l.server.TCP("unindexed"))
	without := get(db.Open(ctx, amber.DefaultTenant, l.agent(), postgres.Options{}))
	l.ends = append(l.ends, without.Close)
	get(without.WriteBatch(ctx, []amber.WriteRequest{{Content: "first"}}))
	check(l.disable(ctx, "unindexed"))
	with := l.open(ctx, l.agent(), postgres.Options{})
	batch := func(s amber.BatchWriter) func() {
		return func() { l.fill(ctx, amber.MaxBatchSize, func() {}, s) }
	}
	a, b := middleOf(max(5, l.c.small/amber.MaxBatchSize), batch(with), batch(without))
	each := 1000 / float64(amber.MaxBatchSize)
	return []goal{{
		work: "index upkeep per memory, of its write in a batch", got: (a - b) / a, unit: "", goal: 0.3,
		note: fmt.Sprintf("%.3f ms of %.3f ms", (a-b)*each, a*each),
	}}
}

// claims measures how fast consumers are given entries of one agent's queue.
func (l *pgLab) claims(ctx context.Context) []goal {
	const consumers = 16
	s := l.open(ctx, l.agent(), postgres.Options{Queue: amber.QueueOptions{MaxInFlight: 1_000_000}})
	entries := max(100, min(l.c.small*2, 4000))
	publish := func(n int) error {
		return s.Publish(ctx, amber.Envelope{EntryID: fmt.Sprint("entry-", n), TaskID: fmt.Sprint("task-", n), NodeID: "n", Payload: "{}"})
	}
	rate := func(times int, do func(n int) error) float64 {
		var next atomic.Int64
		var wg sync.WaitGroup
		errs := make([]error, consumers)
		begin := time.Now()
		for i := range consumers {
			wg.Go(func() {
				for n := next.Add(1); n <= int64(times) && errs[i] == nil; n = next.Add(1) {
					errs[i] = do(int(n))
				}
			})
		}
		wg.Wait()
		check(errors.Join(errs...))
		return float64(times) / time.Since(begin).Seconds()
	}
	published := rate(entries, publish)
	claimed := rate(entries, func(n int) error {
		_, err := s.Claim(ctx, fmt.Sprint("consumer-", n%consumers))
		return err
	})
	return []goal{{
		work: "claims a second, one agent", got: claimed, unit: "/s", goal: 600, least: true,
		note: fmt.Sprintf("%d consumers; %.0f entries published a second", consumers, published),
	}}
}
