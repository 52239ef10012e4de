package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// maxWorkers bounds how many workers are shown.
const maxWorkers = 64

// collectWorkers shows how the workers are doing.
func (s *sources) collectWorkers(ch chan<- prometheus.Metric) {
	for _, w := range s.successes() {
		ch <- gauge(descWorkerUp, truth(w.Status == amber.Healthy), w.Name)
		ch <- counter(descWorkerRuns, w.Runs, w.Name)
		ch <- counter(descWorkerFails, w.Failures, w.Name)
		if last := s.lastSuccess(w.Name); !last.IsZero() {
			ch <- gauge(descWorkerSuccess, unix(last), w.Name)
		}
	}
}

// successes returns the workers, each once, and remembers which of them did
// well when they were last seen.
func (s *sources) successes() []wire.WorkerHealth {
	ask := s.get().Workers
	if ask == nil {
		return nil
	}
	var out []wire.WorkerHealth
	seen := map[string]bool{}
	for _, w := range ask() {
		if len(out) == maxWorkers || seen[w.Name] || !isWorkerName(w.Name) {
			continue
		}
		seen[w.Name] = true
		out = append(out, w)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range out {
		if w.LastError == "" && !w.LastRun.IsZero() {
			s.success[w.Name] = w.LastRun
		}
	}
	return out
}

func (s *sources) lastSuccess(worker string) amber.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.success[worker]
}

// isWorkerName keeps everything out that is no name of a worker: a few words in
// small letters.
func isWorkerName(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz -") == ""
}
