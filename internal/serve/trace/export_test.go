package trace

import (
	"net/http"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// ClientOf is the client of a collector that repeats requests soon.
func ClientOf(url string, gzip bool) otlptrace.Client {
	return &collector{url: url, gzip: gzip, pause: time.Millisecond, http: http.DefaultClient, halt: make(chan struct{})}
}

// OpenWith is Open with another exporter than that of OTLP.
func OpenWith(o Options, e sdktrace.SpanExporter) (*Tracer, error) {
	o.Endpoint = "http://localhost"
	o, err := o.normalize()
	if err != nil {
		return nil, err
	}
	return newTracer(o, &sender{SpanExporter: e, failed: o.Failed, idle: func() {}}), nil
}

// MaxQueue is how many spans wait at most.
const MaxQueue = maxQueue
