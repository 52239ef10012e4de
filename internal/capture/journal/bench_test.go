package journal_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// BenchmarkAppend measures durable entries of 300 bytes by one writer and by many, and how many share a sync.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			var syncs atomic.Int64
			traced := errfs.Trace(fsx.OS(), func(line string) {
				if line[:5] == "sync " {
					syncs.Add(1)
				}
			})
			j := open(b, spoolDir(b), journal.Options{FS: traced, MaxSessionBytes: 1 << 40, MaxBytes: 1 << 40})
			b.ResetTimer()
			appendFrom(b, j, writers, b.N)
			b.ReportMetric(float64(b.N)/float64(syncs.Load()), "entries/sync")
		})
	}
}

// BenchmarkGroupCommit appends as fast as one writer can, then as 64 can, and reports the ratio.
func BenchmarkGroupCommit(b *testing.B) {
	const few, many = 1000, 20_000
	for range b.N {
		j := open(b, spoolDir(b), journal.Options{MaxSessionBytes: 1 << 40, MaxBytes: 1 << 40})
		alone := appendFrom(b, j, 1, few)
		crowd := appendFrom(b, j, 64, many)
		b.ReportMetric((float64(many)/crowd.Seconds())/(float64(few)/alone.Seconds()), "times-faster")
	}
}

func appendFrom(b *testing.B, j *journal.Journal, writers, n int) time.Duration {
	payload := make([]byte, 300)
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range writers {
		wg.Go(func() {
			for next.Add(1) <= int64(n) {
				must.NoError(b, must.Err(j.Append(context.Background(), one, journal.Entry{Payload: payload})))
			}
		})
	}
	wg.Wait()
	return time.Since(begin)
}
