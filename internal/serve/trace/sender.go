package trace

import (
	"context"
	"errors"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// sender is an exporter that passes its failures to a function; without it they
// would go to the standard error of the process. Shutdown and stop may race with
// an export.
type sender struct {
	sdktrace.SpanExporter
	failed func(error)
	idle   func() // closes connections that are not in use
	halt   sync.Once
}

// errNotSent says that spans were lost, and not which.
var errNotSent = errors.New("spans could not be sent")

// ExportSpans implements [sdktrace.SpanExporter].
func (s *sender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := s.SpanExporter.ExportSpans(ctx, spans); err != nil {
		s.failed(errors.Join(errNotSent, err))
	}
	return nil
}

// Shutdown implements [sdktrace.SpanExporter].
func (s *sender) Shutdown(ctx context.Context) error {
	defer s.idle()
	return s.SpanExporter.Shutdown(ctx)
}

// stop breaks off what is being sent.
func (s *sender) stop() {
	s.halt.Do(func() {
		_ = s.Shutdown(context.Background()) // it has failed already
	})
}
