package intake

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/amber-memory/amber/internal/guard/redact"
)

// Report counts what was taken out of everything that one call wrote. Safe for
// concurrent use.
type Report struct {
	mu     sync.Mutex
	counts map[string]int
}

// reportKey is the key of a report in a context.
type reportKey struct{}

// WithReport returns a context whose writes are counted in the report.
func WithReport(ctx context.Context) (context.Context, *Report) {
	r := &Report{}
	return context.WithValue(ctx, reportKey{}, r), r
}

// Taken returns what was taken out under a context so far, by rule; nil when
// nothing was taken out, or the context does not count.
func Taken(ctx context.Context) map[string]int {
	r, _ := ctx.Value(reportKey{}).(*Report)
	return r.Counts()
}

// Counts returns the counts by rule, nil when there are none.
func (r *Report) Counts() map[string]int {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

func (r *Report) add(found redact.Report) {
	if r == nil || found.Total == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	for rule, n := range found.Counts {
		r.counts[rule] += n
	}
}

// Said is counts as a line of text, "github-token=1, password=2".
func Said(counts map[string]int) string {
	parts := make([]string, 0, len(counts))
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, rule+"="+strconv.Itoa(counts[rule]))
	}
	return strings.Join(parts, ", ")
}
