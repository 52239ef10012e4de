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
	flag.Parse()
	if err := measure(context.Background(), *dir, *large, *small); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, dir string, large, small int) error {
	if dir == "" {
		d, err := os.MkdirTemp("", "amber-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(d)
		dir = d
	}
	b, err := prepare(ctx, dir, large, small)
	if err != nil {
		return err
	}
	defer b.close()
	var ratios []ratio
	for _, m := range []func(context.Context) (ratio, error){b.save, b.recall, b.recallNarrow, b.open, b.exclusive} {
		r, err := m(ctx)
		if err != nil {
			return err
		}
		ratios = append(ratios, r)
	}
	report(ratios)
	return nil
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
