package trace

import sdktrace "go.opentelemetry.io/otel/sdk/trace"

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
