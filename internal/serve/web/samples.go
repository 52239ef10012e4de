package web

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of the samples: twenty minutes at one every ten seconds.
const (
	maxSamples  = 120
	sampleEvery = 10 // seconds
	maxLine     = 64 << 10
)

// sample is what the metrics said at an instant. Counters are since the server began.
type sample struct {
	at                        time.Time
	requests, failed, seconds float64 // of requests
	queued, waiting, lag      float64
}

// samples are the last ones, oldest first. The screen of health takes one whenever it is shown to a visitor who may
// see the whole server. Safe for concurrent use.
type samples struct {
	mu   sync.Mutex
	ring []sample
}

// add takes a sample unless the last one is too young, and returns all of them.
func (s *samples) add(now sample) []sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.ring) - 1
	if last >= 0 && (now.at.Before(s.ring[last].at) || now.requests < s.ring[last].requests) {
		s.ring, last = nil, -1 // the clock was set back, or the counters began again
	}
	if last < 0 || now.at.Sub(s.ring[last].at) >= sampleEvery*time.Second/2 {
		s.ring = append(s.ring, now)
	}
	if len(s.ring) > maxSamples {
		s.ring = append(s.ring[:0], s.ring[len(s.ring)-maxSamples:]...)
	}
	return slices.Clone(s.ring)
}

// sparks samples the metrics and draws them. None are drawn where the server has no metrics.
func (v healthScreen) sparks(d healthData) []spark {
	now, ok := v.readMetrics()
	if !ok {
		return nil
	}
	if d.Server.Index != nil {
		now.waiting = float64(d.Server.Index.Waiting + d.Server.Index.Pending)
	}
	ring := v.p.samples.add(now)
	return []spark{
		draw("Requests per minute", ring, rate(func(s sample) float64 { return s.requests })),
		draw("Failed requests per minute", ring, rate(func(s sample) float64 { return s.failed })),
		draw("Time of a request, ms", ring, latency),
		draw("Queue of all agents", ring, gauge(func(s sample) float64 { return s.queued })),
		draw("Journal entries not stored yet", ring, gauge(func(s sample) float64 { return s.lag })),
		draw("Waiting for the index", ring, gauge(func(s sample) float64 { return s.waiting })),
	}
}

// readMetrics asks the server for its metrics with the token of the visitor.
func (v healthScreen) readMetrics() (s sample, ok bool) {
	r, err := http.NewRequestWithContext(v.r.Context(), http.MethodGet, "/metrics", http.NoBody)
	if err != nil {
		return s, false
	}
	r.Host, r.RemoteAddr, r.RequestURI = v.r.Host, v.r.RemoteAddr, "/metrics"
	if v.secret != "" {
		r.Header.Set("Authorization", "Bearer "+v.secret)
	}
	w := &answer{header: http.Header{}}
	v.p.o.API.ServeHTTP(w, r)
	if w.status != http.StatusOK {
		return s, false
	}
	s = parseMetrics(w.body.Bytes())
	s.at = v.p.o.Clock()
	return s, true
}

// parseMetrics adds up the series of the text format that are drawn.
func parseMetrics(text []byte) (s sample) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := lines.Text()
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		value, err := strconv.ParseFloat(line[cut+1:], 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		name, labels, _ := strings.Cut(line[:cut], "{")
		switch name {
		case "amber_http_requests_total":
			s.requests += value
			if strings.Contains(labels, `status="5xx"`) {
				s.failed += value
			}
		case "amber_http_request_duration_seconds_sum":
			s.seconds += value
		case "amber_queue_entries":
			if !strings.Contains(labels, `state="dead"`) {
				s.queued += value
			}
		case "amber_journal_undrained_entries":
			s.lag += value
		}
	}
	return s
}

// series is the value that is drawn of two samples that follow each other; false: there is none.
type series func(before, after sample) (float64, bool)

func rate(of func(sample) float64) series {
	return func(a, b sample) (float64, bool) {
		took := b.at.Sub(a.at).Minutes()
		return (of(b) - of(a)) / took, took > 0
	}
}

func latency(a, b sample) (float64, bool) {
	n := b.requests - a.requests
	return 1000 * (b.seconds - a.seconds) / n, n > 0
}

func gauge(of func(sample) float64) series {
	return func(_, b sample) (float64, bool) { return of(b), true }
}

// spark is a small drawing with words that say the same.
type spark struct {
	Title  string
	Points string // of an SVG polyline
	Now    string
	Words  string
	Few    bool // too few samples to draw
}

// The size of a drawing.
const sparkWidth, sparkHeight = 240, 48

func draw(title string, ring []sample, of series) spark {
	var values []float64
	highest, span := 0.0, time.Duration(0)
	for i := 1; i < len(ring); i++ {
		if v, ok := of(ring[i-1], ring[i]); ok {
			values = append(values, v)
			highest = max(highest, v)
		}
	}
	if len(ring) > 0 {
		span = ring[len(ring)-1].at.Sub(ring[0].at).Round(time.Second)
	}
	if len(values) < 2 {
		return spark{Title: title, Few: true}
	}
	var points strings.Builder
	for i, v := range values {
		x := float64(i) * sparkWidth / float64(len(values)-1)
		y := sparkHeight - 3 - v/max(highest, 1e-9)*(sparkHeight-6)
		fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
	}
	now := short(values[len(values)-1])
	return spark{Title: title, Points: strings.TrimSpace(points.String()), Now: now, Words: fmt.Sprintf("%s: %s now, %s at most within %s", title, now, short(highest), span)}
}

// short is a number with as many digits as a person reads.
func short(f float64) string {
	if f >= 100 || f == math.Trunc(f) {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}
