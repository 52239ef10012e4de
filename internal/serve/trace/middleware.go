package trace

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// Middleware returns next with a span for every request. The trace that the
// header traceparent names goes on. The span is called by method and route,
// never by path.
func (t *Tracer) Middleware(next http.Handler) http.Handler {
	if t.tracer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := methodOf(r)
		ctx, span := t.tracer.Start(continued(r), method, oteltrace.WithSpanKind(oteltrace.SpanKindServer),
			oteltrace.WithAttributes(attribute.String("http.request.method", method)))
		rec := &recorder{ResponseWriter: w}
		r = r.WithContext(ctx)
		returned := false
		defer func() {
			rec.finish(span, method, r.Pattern, returned)
			span.End()
		}()
		next.ServeHTTP(rec, r)
		returned = true
	})
}

// continued returns a context that knows the trace of the caller. It keeps nothing else that the
// caller says about the trace.
func continued(r *http.Request) context.Context {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	sc := oteltrace.SpanContextFromContext(ctx)
	return oteltrace.ContextWithRemoteSpanContext(r.Context(), sc.WithTraceState(oteltrace.TraceState{}))
}

// methodOf returns the method of a request if it is one that everybody knows.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter]. Only the last status counts
// that is not of a provisional answer.
func (w *recorder) WriteHeader(status int) {
	if w.status < 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status < 200 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets [http.ResponseController] reach what lies below.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements [http.Flusher] for those who look for it.
func (w *recorder) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// finish tells the span what was answered. A handler that has not returned
// panicked.
func (w *recorder) finish(span oteltrace.Span, method, pattern string, returned bool) {
	if _, route, ok := strings.Cut(pattern, "/"); ok {
		span.SetName(method + " /" + route)
		span.SetAttributes(attribute.String("http.route", "/"+route))
	}
	switch {
	case !returned:
		span.SetStatus(codes.Error, "panic")
	case w.status == 0:
		w.status = http.StatusOK
	}
	if w.status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", w.status))
	}
	if w.status >= 500 {
		span.SetStatus(codes.Error, "")
	}
}
