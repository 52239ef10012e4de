package metrics

import "github.com/prometheus/client_golang/prometheus"

// RegistryOf returns the registry of m.
func RegistryOf(m *Metrics) *prometheus.Registry { return m.registry }
