package main

import (
	"context"
	"fmt"
	"time"

	"github.com/amber-memory/amber/internal/store/openviking"
)

// feeds measures how fast files are acknowledged: those of a store that the server has never
// seen, by comparing listings, and as many new ones by the change log.
func (v *viking) feeds(ctx context.Context) (out outcome) {
	s := v.beside(v.primary, v.server.url, v.server.client)
	for _, way := range []string{"compared", "by the log"} {
		n := v.memories / 2
		v.write(ctx, v.primary, n)
		begin, worked := time.Now(), v.server.processor()
		report := get(s.Feed(ctx, openviking.Budget{}))
		took, acknowledged := time.Since(begin), v.server.processor()-worked
		check(s.Await(ctx, nil))
		indexed := time.Since(begin)
		if report.Written != n || !report.Done {
			fail("%d files were written, want %d; done is %v", report.Written, n, report.Done)
		}
		said := fmt.Sprintf("%.0f files a second", rate(n, took))
		if v.server.real {
			said += fmt.Sprintf("; with their vectors %.0f", rate(n, indexed))
			fmt.Printf("fed, %s: %d files in %s, their vectors in %s; processor of the server: %s and %s\n",
				way, n, ms(took), ms(indexed), ms(acknowledged), ms(v.server.processor()-worked))
		}
		out.ratios = append(out.ratios, ratio{name: "time for a file, fed " + way, ours: took / time.Duration(n), absoluteLimit: limitFile, what: said})
	}
	return out
}

func rate(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
