package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/amber-memory/amber"
)

// namespace begins the name of every metric.
const namespace = "amber"

// The labels that say whose a series is. [Metrics.Handler] goes by them.
const (
	labelTenant = "tenant"
	labelAgent  = "agent"
)

// owned are the labels of a series that belongs to an agent.
func owned(more ...string) []string { return append([]string{labelTenant, labelAgent}, more...) }

func counterOpts(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}
}

func gaugeOpts(name, help string) prometheus.GaugeOpts {
	return prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}
}

func histogramOpts(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}
}

// fastBuckets are for operations that a caller waits for, slowBuckets for operations that work
// through a whole agent. In seconds.
var (
	fastBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	slowBuckets = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
)

// The outcomes beside the kinds of errors.
const outcomeOK = "ok"

// outcomeOf returns "ok" or the kind of an error. A kind this build does not
// know is internal.
func outcomeOf(err error) string {
	kind := amber.KindOf(err)
	switch {
	case err == nil:
		return outcomeOK
	case !kind.Known():
		return string(amber.KindInternal)
	}
	return string(kind)
}

func build(o Options) prometheus.Labels {
	return prometheus.Labels{"version": o.Version, "commit": o.Commit, "go_version": runtime.Version()}
}
