// Command bench measures Amber and prints ratios: the store and the journal
// through their public API, hooks and snapshots as processes.
//
// Both sides of a ratio are measured in one run, interleaved, on the same
// machine; absolute times are printed beside them for orientation only. All
// indexes, the change log and synchronous FULL are on, and every text is
// different. It exits with 1 when something failed and with 3 when a target was
// missed. See docs/benchmarks.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// ratio is one line of the outcome.
type ratio struct {
	name          string
	ours, theirs  time.Duration
	what, base    string
	limit         float64
	absoluteLimit time.Duration // for a line that is no ratio
}

func main() {
	if file := os.Getenv(starterJob); file != "" {
		code, err := start(file, os.Args[1:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		os.Exit(code)
	}
	run := configured()
	if job := os.Getenv(syncJob); job != "" {
		run = func() { syncChild(context.Background(), job) }
	} else if job := os.Getenv(natsJob); job != "" {
		run = func() { natsChild(job) }
	}
	err := attempt(run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	switch {
	case errors.Is(err, errMissed):
		os.Exit(3)
	case err != nil:
		os.Exit(1)
	}
}

// configured returns the measurements that the flags ask for.
func configured() func() {
	c := config{snapshot: snapshotConfig{size: fullSize}, viking: fullViking}
	flag.IntVar(&c.large, "large", 100_000, "memories in the large store")
	flag.IntVar(&c.small, "small", 1000, "memories in the small store")
	flag.StringVar(&c.dir, "dir", "", "where to put the stores (default a temporary folder)")
	flag.IntVar(&c.events, "events", 1_000_000, "events that are drained")
	flag.StringVar(&c.binary, "amber", "bin/amber", "the binary whose hooks are measured")
	only := flag.String("only", "", "the parts to measure, of hook,inject,group,store,bulk,jsonl,drain,snapshot,sync,serve,writers,recall,stream,nats,openviking,postgres,packages; default all")
	flag.StringVar(&c.snapshot.cache, "cache", "", "where to keep the agent that snapshots are taken of (default with the stores, for this run)")
	flag.IntVar(&c.snapshot.rounds, "rounds", 5, "how often snapshots are measured")
	flag.BoolVar(&c.snapshot.where, "where", true, "tell where the time of snapshots goes")
	flag.Uint64Var(&c.snapshot.size.Seed, "seed", fullSize.Seed, "of the agent that snapshots are taken of")
	flag.IntVar(&c.snapshot.size.Memories, "memories", fullSize.Memories, "of that agent")
	flag.IntVar(&c.syncRounds, "sync-rounds", 3, "how often a whole store is exported and imported")
	profile := flag.String("cpuprofile", "", "write a profile of the processor time of this process to a file")
	flag.StringVar(&c.viking.venv, "openviking", "", "the Python environment of a real OpenViking server (default the fake)")
	flag.IntVar(&c.viking.memories, "viking-memories", fullViking.memories, "memories in the store that such a server stands beside")
	flag.IntVar(&c.viking.vector, "viking-vector", fullViking.vector, "how many numbers a vector of that server has")
	flag.DurationVar(&c.pgFor, "postgres-for", 15*time.Second, "how long each way of writing to PostgreSQL is measured")
	pgOnly := flag.String("postgres-only", "", "what to measure of PostgreSQL, of recall,writers,save,index,claims,restore,snapshots,failover,sizes; default all")
	flag.DurationVar(&c.serveFor, "serve-for", time.Minute, "how long a server is under load")
	flag.Parse()
	if *only != "" {
		c.only = strings.Split(*only, ",")
	}
	if *pgOnly != "" {
		c.pgOnly = strings.Split(*pgOnly, ",")
	}
	return func() {
		defer profiled(*profile)()
		measure(context.Background(), c)
	}
}

// profiled writes a profile of the processor time to a file until it is ended; "" writes none.
func profiled(file string) (end func()) {
	if file == "" {
		return func() {}
	}
	f := get(os.Create(file))
	check(pprof.StartCPUProfile(f))
	return func() {
		pprof.StopCPUProfile()
		check(f.Close())
	}
}

// errMissed is returned when something took more than it may.
var errMissed = errors.New("a target was missed")

// config is what the flags say.
type config struct {
	dir                  string
	large, small, events int
	binary               string
	only                 []string // parts; none means all
	snapshot             snapshotConfig
	syncRounds           int
	serveFor             time.Duration
	viking               vikingSize
	pgFor                time.Duration
	pgOnly               []string // what of PostgreSQL; none means all
}

// part is one thing that can be measured alone.
type part struct {
	name    string
	measure func() outcome
}

// outcome is what a part found out.
type outcome struct {
	ratios []ratio
	lines  []line
}

func (c config) parts(ctx context.Context) []part {
	return []part{
		{"hook", func() outcome { return outcome{ratios: hooks(ctx, c.binary, c.dir)} }},
		{"inject", func() outcome { return injects(ctx, c) }},
		{"group", func() outcome { return outcome{ratios: []ratio{groupCommit(c.dir)}} }},
		{"store", func() outcome { return outcome{ratios: stores(ctx, c)} }},
		{"bulk", func() outcome { return bulks(ctx, c) }},
		{"jsonl", func() outcome { return jsonls(ctx, c) }},
		{"drain", func() outcome { return outcome{lines: []line{drainMemory(ctx, c)}} }},
		{"snapshot", func() outcome {
			s := c.snapshot
			s.dir, s.binary = c.dir, c.binary
			return outcome{lines: snapshots(ctx, s)}
		}},
		{"sync", func() outcome { return syncs(ctx, c) }},
		{"serve", func() outcome { return serves(ctx, c) }},
		{"writers", func() outcome { return writers(ctx, c) }},
		{"recall", func() outcome { return recalls(ctx, c) }},
		{"stream", func() outcome { return streams(ctx, c) }},
		{"nats", func() outcome { return tells(ctx, c) }},
		{"openviking", func() outcome { return vikings(ctx, c) }},
		{"postgres", func() outcome { return postgreses(ctx, c) }},
		{"packages", func() outcome { return packages(ctx, c) }},
	}
}

func measure(ctx context.Context, c config) {
	if c.dir == "" {
		c.dir = get(os.MkdirTemp("", "amber-bench-"))
		defer os.RemoveAll(c.dir)
	}
	parts := c.parts(ctx)
	for _, name := range c.only {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			fail("there is no part %q", name)
		}
	}
	var all outcome
	for _, p := range parts {
		if len(c.only) > 0 && !slices.Contains(c.only, p.name) {
			continue
		}
		within(p.name, func() {
			o := p.measure()
			all.ratios, all.lines = append(all.ratios, o.ratios...), append(all.lines, o.lines...)
		})
	}
	report(all.ratios)
	if n := all.missed(); n > 0 {
		fail("%w: %d of them", errMissed, n)
	}
}

// missed counts the targets that were missed.
func (o outcome) missed() (n int) {
	for _, r := range o.ratios {
		if r.missed() {
			n++
		}
	}
	for _, l := range o.lines {
		if l.missed() {
			n++
		}
	}
	return n
}

// missed reports whether a ratio, or a time that is compared with a fixed
// limit, is beyond its limit.
func (r ratio) missed() bool {
	if r.absoluteLimit > 0 {
		return r.ours > r.absoluteLimit
	}
	return r.limit > 0 && float64(r.ours) > r.limit*float64(r.theirs)
}

// stores measures the store.
func stores(ctx context.Context, c config) []ratio {
	b := prepare(ctx, c.dir, c.large, c.small)
	defer b.close()
	return []ratio{b.save(ctx), b.recall(ctx), b.recallNarrow(ctx), b.open(ctx), b.exclusive(ctx)}
}

func report(ratios []ratio) {
	if len(ratios) == 0 {
		return
	}
	fmt.Printf("\n%-42s %12s %12s %8s %8s\n", "", "ours", "base", "ratio", "limit")
	for _, r := range ratios {
		if r.absoluteLimit > 0 {
			fmt.Printf("%-42s %12s %12s %8s %8s  %s\n", r.name, r.ours.Round(time.Microsecond), "", "", r.absoluteLimit, r.what)
			continue
		}
		limit := "-"
		if r.limit > 0 {
			limit = fmt.Sprintf("%.2f", r.limit)
		}
		fmt.Printf("%-42s %12s %12s %8.2f %8s  %s over %s\n", r.name, r.ours.Round(time.Microsecond), r.theirs.Round(time.Microsecond),
			float64(r.ours)/float64(r.theirs), limit, r.what, r.base)
	}
}
