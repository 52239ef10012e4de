// Command bench measures Amber's store through its public API and prints
// ratios.
//
// Both sides of a ratio are measured in one run, interleaved, on the same
// machine; absolute times are printed beside them for orientation only. All
// indexes, the change log and synchronous FULL are on, and every text is
// different.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
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
	large := flag.Int("large", 100_000, "memories in the large store")
	small := flag.Int("small", 1000, "memories in the small store")
	dir := flag.String("dir", "", "where to put the stores (default a temporary folder)")
	events := flag.Int("events", 1_000_000, "events that are drained")
	binary := flag.String("amber", "bin/amber", "the binary whose hooks are measured")
	only := flag.String("only", "", "store, hook, group or drain; default all")
	flag.Parse()
	if job := os.Getenv(drainJob); job != "" {
		if err := drainChild(context.Background(), job); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	c := config{dir: *dir, large: *large, small: *small, events: *events, binary: *binary, only: *only}
	if err := measure(context.Background(), c); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	dir                  string
	large, small, events int
	binary, only         string
}

func measure(ctx context.Context, c config) error {
	if c.dir == "" {
		d, err := os.MkdirTemp("", "amber-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(d)
		c.dir = d
	}
	var ratios []ratio
	for _, part := range []struct {
		name    string
		measure func() ([]ratio, error)
	}{
		{"hook", func() ([]ratio, error) { return hooks(ctx, c.binary, c.dir) }},
		{"group", func() ([]ratio, error) { r, err := groupCommit(ctx, c.dir); return []ratio{r}, err }},
		{"store", func() ([]ratio, error) { return stores(ctx, c) }},
		{"drain", func() ([]ratio, error) { return nil, drainMemory(ctx, c.dir, c.events) }},
	} {
		if c.only != "" && c.only != part.name {
			continue
		}
		r, err := part.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		ratios = append(ratios, r...)
	}
	report(ratios)
	return nil
}

// stores measures the store.
func stores(ctx context.Context, c config) ([]ratio, error) {
	b, err := prepare(ctx, c.dir, c.large, c.small)
	if err != nil {
		return nil, err
	}
	defer b.close()
	var ratios []ratio
	for _, m := range []func(context.Context) (ratio, error){b.save, b.recall, b.recallNarrow, b.open, b.exclusive} {
		r, err := m(ctx)
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, r)
	}
	return ratios, nil
}

func report(ratios []ratio) {
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
