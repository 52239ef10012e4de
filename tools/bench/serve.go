package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
)

// serveClients is how many callers there are at one time.
const serveClients = 64

// limitFlat is how much more memory a server may take at the end than in the
// beginning.
const limitFlat = 1.25

// serves measures a served Amber against the same work in this process: half of
// the operations write, half recall. Then the server is killed in the middle of
// it, and everything it acknowledged is looked for.
func serves(ctx context.Context, c config) outcome {
	b := &bench{dir: c.dir, writer: newWriter(uint64(time.Now().UnixNano()))}
	begin := time.Now()
	s := b.fill(ctx, "served", c.large)
	fmt.Printf("%d memories stored in %s\n", c.large, time.Since(begin).Round(time.Millisecond))
	home := filepath.Join(c.dir, "served")
	inside := newTraffic(b.writer)
	inside.run(ctx, c.serveFor/3, []amber.LongTerm{s})
	within("in process", func() { check(errors.Join(inside.err(), s.Close())) })
	p := startServer(ctx, c.binary, home)
	defer p.kill()
	remote := p.connect(ctx)
	p.sample()
	outside := newTraffic(b.writer)
	outside.run(ctx, c.serveFor, remote)
	resident := p.resident()
	if err := outside.err(); err != nil { // they are counted below
		fmt.Printf("the first error under load: %v\n", err)
	}
	last := newTraffic(b.writer)
	last.ending.Store(true) // from now on errors are expected
	time.AfterFunc(2*time.Second, p.kill)
	last.run(ctx, 4*time.Second, remote)
	if len(last.ids) == 0 || len(resident) < 4 {
		fail("%d writes before kill -9 and %d looks at memory are too few to tell anything", len(last.ids), len(resident))
	}
	acknowledged := slices.Concat(outside.ids, last.ids)
	missing := missingAfter(ctx, c.binary, home, acknowledged)
	fmt.Printf("in process %s; served %s; %d acknowledged in all, %d of them in the two seconds before kill -9; memory of the server: %s\n",
		inside, outside, len(acknowledged), len(last.ids), course(resident))
	lines := []line{
		{name: "errors under load", amount: float64(outside.failed.Load()), unit: "", limit: noneAtAll},
		{name: "acknowledged and missing after kill -9", amount: float64(missing), unit: "", limit: noneAtAll},
		{name: "memory of the server, end over beginning", amount: growth(resident), unit: "x", limit: limitFlat},
	}
	printLines(lines)
	return outcome{lines: lines, ratios: []ratio{
		{name: "write under load", ours: middle(outside.writes), theirs: middle(inside.writes), what: "served, 64 callers", base: "in process, 64 goroutines"},
		{name: "recall under load", ours: middle(outside.recalls), theirs: middle(inside.recalls), what: "served, 64 callers", base: "in process, 64 goroutines"},
		{name: "time for one operation", ours: outside.perOperation(), theirs: inside.perOperation(), what: "served", base: "in process"},
	}}
}

// noneAtAll is the limit of what must not be: a line is missed above it.
const noneAtAll = 1e-9

// traffic is what callers did.
type traffic struct {
	texts      *writer
	callers    int
	onlyWrites bool
	ending     atomic.Bool // errors are expected
	failed     atomic.Int64
	took       time.Duration

	mu              sync.Mutex
	first           error
	ids             []amber.MemoryID // acknowledged
	writes, recalls []time.Duration
}

func newTraffic(w *writer) *traffic { return &traffic{texts: w, callers: serveClients} }

// run lets every caller write and recall in turn for a while. Each store has as
// many callers as the others.
func (t *traffic) run(ctx context.Context, d time.Duration, stores []amber.LongTerm) {
	texts := make([]*writer, t.callers) // made before the time begins
	for i := range texts {
		texts[i] = newWriter(t.texts.random.Uint64())
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	begin := time.Now()
	var wg sync.WaitGroup
	for i, w := range texts {
		wg.Go(func() { t.call(ctx, stores[i%len(stores)], w) })
	}
	wg.Wait()
	t.took = time.Since(begin)
}

func (t *traffic) call(ctx context.Context, s amber.LongTerm, w *writer) {
	for n := 0; ctx.Err() == nil; n++ {
		begin := time.Now()
		var id amber.MemoryID
		var err error
		write := t.onlyWrites || n%2 == 0
		if write {
			title, content := w.text(n)
			var ack amber.WriteAck
			ack, err = s.Write(ctx, amber.WriteRequest{Title: title, Content: content})
			id = ack.ID
		} else {
			_, err = s.Recall(ctx, amber.Query{Text: strings.Join(w.question(), " ")})
		}
		t.note(ctx, write, id, time.Since(begin), err)
		if err != nil && t.ending.Load() {
			return
		}
	}
}

func (t *traffic) note(ctx context.Context, write bool, id amber.MemoryID, took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil && ctx.Err() == nil && !t.ending.Load():
		t.failed.Add(1)
		if t.first == nil {
			t.first = err
		}
	case err != nil:
	case write:
		t.ids, t.writes = append(t.ids, id), append(t.writes, took)
	default:
		t.recalls = append(t.recalls, took)
	}
}

func (t *traffic) err() error {
	if n := t.failed.Load(); n > 0 {
		return fmt.Errorf("%d operations failed, the first: %w", n, t.first)
	}
	return nil
}

func (t *traffic) perOperation() time.Duration {
	return t.took / time.Duration(max(1, len(t.writes)+len(t.recalls)))
}

func (t *traffic) String() string {
	return fmt.Sprintf("%d writes (median %s, 99 %% %s) and %d recalls (median %s, 99 %% %s) in %s",
		len(t.writes), ms(middle(t.writes)), ms(at(t.writes, 99)), len(t.recalls), ms(middle(t.recalls)), ms(at(t.recalls, 99)), t.took.Round(time.Second))
}

// at returns a percentile.
func at(ds []time.Duration, percent int) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

// served is a server in a process of its own.
type served struct {
	cmd  *exec.Cmd
	url  string
	once sync.Once

	mu      sync.Mutex
	samples []int64 // resident bytes, once a second
}

// startServer starts one on any free port and waits until it listens.
func startServer(ctx context.Context, binary, home string, env ...string) *served {
	p := &served{cmd: exec.CommandContext(ctx, binary, "serve", "--home", home, "--listen", "127.0.0.1:0", "--log-level", "warn")}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	out := get(p.cmd.StdoutPipe())
	check(p.cmd.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		p.kill()
		fail("the server has not said where it listens")
	}
	p.url = strings.TrimSpace(lines.Text())
	return p
}

// kill ends it as kill -9 does.
func (p *served) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill() // it may have ended by itself
		_ = p.cmd.Wait()
	})
}

// connect returns as many stores as there are clients, each with connections of
// its own.
func (p *served) connect(ctx context.Context) []amber.LongTerm {
	var stores []amber.LongTerm
	for range serveClients {
		stores = append(stores, p.store(ctx, client.Options{URL: p.url, Attempts: 1}).LongTerm)
	}
	return stores
}

// store is the default agent's, over connections of its own.
func (p *served) store(ctx context.Context, o client.Options) amber.Store {
	a := get(get(client.New(o)).Agent(amber.DefaultTenant, amber.DefaultAgent))
	return get(a.Store(ctx))
}

// sample notes the memory of the server once a second until it ends.
func (p *served) sample() {
	go func() {
		for {
			resident, _, err := memoryOf(p.cmd.Process.Pid)
			if err != nil {
				return
			}
			p.mu.Lock()
			p.samples = append(p.samples, resident)
			p.mu.Unlock()
			time.Sleep(time.Second)
		}
	}()
}

func (p *served) resident() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.samples)
}

// growth compares the last quarter with the second: the first is warming up.
func growth(samples []int64) float64 {
	n := len(samples) / 4
	return mean(samples[len(samples)-n:]) / mean(samples[n:2*n])
}

func mean(list []int64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += float64(v)
	}
	return sum / float64(len(list))
}

// course prints a few of the samples.
func course(samples []int64) string {
	var parts []string
	for i := 0; i < len(samples); i += max(1, len(samples)/8) {
		parts = append(parts, mb(samples[i]))
	}
	return strings.Join(parts, ", ")
}

// missingAfter starts the server again and counts what it does not have.
func missingAfter(ctx context.Context, binary, home string, ids []amber.MemoryID) int {
	p := startServer(ctx, binary, home)
	defer p.kill()
	s := p.store(ctx, client.Options{URL: p.url})
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	missing := 0
	for _, id := range ids {
		_, err := s.Memories.Get(ctx, id)
		switch amber.KindOf(err) {
		case "":
		case amber.KindNotFound:
			missing++
		default:
			check(err)
		}
	}
	return missing
}
