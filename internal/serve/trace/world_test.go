package trace_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/amber-memory/amber/internal/serve/trace"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kept keeps its spans after the end, so that a test can look at them.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

// opened returns a tracer, and a function that closes it and returns its spans.
func opened(t *testing.T, o trace.Options) (*trace.Tracer, func() tracetest.SpanStubs) {
	t.Helper()
	e := kept{tracetest.NewInMemoryExporter()}
	tracer := must.Get(trace.OpenWith(o, e))(t)
	shut := func() tracetest.SpanStubs {
		must.NoError(t, tracer.Close(context.Background()))
		return e.GetSpans()
	}
	t.Cleanup(func() { shut() })
	return tracer, shut
}

// attributes returns the attributes of a span by name.
func attributes(s tracetest.SpanStub) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// only returns the one span there is.
func only(t *testing.T, spans tracetest.SpanStubs) tracetest.SpanStub {
	t.Helper()
	if len(spans) != 1 {
		t.Fatalf("%d spans, want 1", len(spans))
	}
	return spans[0]
}

var errSecret = errors.New("the cat sat on it")
