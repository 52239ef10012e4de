package trace

import (
	"context"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Bounds of what waits to be sent.
const (
	maxQueue      = 2048 // spans; one more is dropped
	maxBatch      = 512  // spans in one request
	exportTimeout = 10 * time.Second
	spanDelay     = 5 * time.Second // for which spans wait for company
	closeTimeout  = 5 * time.Second
)

// Tracer makes spans. The zero Tracer makes none, as does one without an
// endpoint. Safe for concurrent use.
type Tracer struct {
	tracer oteltrace.Tracer // nil: no spans are made
	close  func(context.Context) error
}

var _ wire.Observer = (*Tracer)(nil)

// Open returns a tracer that sends spans to a collector. It does not wait for
// the collector: one that is away costs spans and nothing else. The caller
// closes it. The error is of kind invalid.
func Open(ctx context.Context, o Options) (*Tracer, error) {
	if o.Endpoint == "" {
		return &Tracer{}, nil
	}
	o, err := o.normalize()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 2, IdleConnTimeout: time.Minute}
	exporter, err := otlptrace.New(ctx, &collector{
		url: o.Endpoint, headers: o.Headers, gzip: o.Gzip, pause: firstPause, halt: make(chan struct{}),
		http: &http.Client{Transport: transport, Timeout: exportTimeout},
	})
	if err != nil {
		return nil, &amber.Error{Op: "open trace", Kind: amber.KindInvalid, Err: err}
	}
	return newTracer(o, &sender{SpanExporter: exporter, failed: o.Failed, idle: transport.CloseIdleConnections}), nil
}

// newTracer returns a tracer that sends by an exporter.
func newTracer(o Options, e *sender) *Tracer {
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", o.Service), attribute.String("service.version", o.Version))),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())),
		sdktrace.WithBatcher(e, sdktrace.WithMaxQueueSize(maxQueue), sdktrace.WithMaxExportBatchSize(maxBatch),
			sdktrace.WithBatchTimeout(spanDelay), sdktrace.WithExportTimeout(exportTimeout)))
	t := &Tracer{tracer: provider.Tracer("github.com/amber-memory/amber", oteltrace.WithInstrumentationVersion(o.Version))}
	var once sync.Once
	var err error
	t.close = func(ctx context.Context) error {
		once.Do(func() { err = shutDown(ctx, provider, e) })
		return err
	}
	return t
}

// shutDown sends what waits. When the time is over it breaks off what is being
// sent.
func shutDown(ctx context.Context, p *sdktrace.TracerProvider, e *sender) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	err := p.Shutdown(ctx)
	if err == nil {
		return nil
	}
	e.stop()
	return &amber.Error{Op: "close trace", Kind: amber.KindUnreachable, Err: err}
}

// Close sends what waits and returns after 5 s at the latest. It may
// be called twice. Errors: unreachable when spans were left.
func (t *Tracer) Close(ctx context.Context) error {
	if t.close == nil {
		return nil
	}
	return t.close(ctx)
}
