package eval

import (
	"math"
	"slices"
	"time"
)

// Latency is how long questions took, in milliseconds.
type Latency struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
}

func latencyOf(took []time.Duration) Latency {
	ms := make([]float64, len(took))
	for i, d := range took {
		ms[i] = float64(d) / float64(time.Millisecond)
	}
	slices.Sort(ms)
	return Latency{N: len(ms), P50: percentile(ms, 50), P95: percentile(ms, 95), P99: percentile(ms, 99)}
}

// percentile returns the smallest of sorted values that p of 100 do not exceed, 0
// where there are none.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(at, 1)-1]
}

// Bytes is how large texts are; those that are empty do not count.
type Bytes struct {
	N      int     `json:"n"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
}

func bytesOf(texts []string) (b Bytes) {
	var sizes []float64
	for _, t := range texts {
		if t != "" {
			sizes = append(sizes, float64(len(t)))
			b.Mean += float64(len(t))
		}
	}
	slices.Sort(sizes)
	b.N = len(sizes)
	b.Mean /= float64(max(b.N, 1))
	b.Median, b.P95 = percentile(sizes, 50), percentile(sizes, 95)
	return b
}
