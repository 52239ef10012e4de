package trace_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/amber-memory/amber/internal/serve/trace"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const (
	parent    = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
)

// serve answers one request below the middleware.
func serve(t *testing.T, tracer *trace.Tracer, r *http.Request, h http.HandlerFunc) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/memories/{id}", h)
	w := httptest.NewRecorder()
	tracer.Middleware(mux).ServeHTTP(w, r.WithContext(t.Context()))
	return w
}

func TestARequestContinuesTheTraceOfItsCaller(t *testing.T) {
	t.Parallel()
	tracer, spans := opened(t, trace.Options{})
	r := httptest.NewRequest("GET", "/v1/memories/secret-id?q=cat", nil)
	r.Header.Set("Traceparent", parent)
	r.Header.Set("Tracestate", "vendor=the-cat")
	serve(t, tracer, r, func(w http.ResponseWriter, r *http.Request) {
		_, end := tracer.Begin(r.Context(), wire.Operation{Layer: "long_term", Name: "get"})
		end(wire.Outcome{})
		w.WriteHeader(http.StatusNotFound)
	})
	got := spans()
	if len(got) != 2 {
		t.Fatalf("%d spans, want 2", len(got))
	}
	op, request := got[0], got[1]
	must.Equal(t, "trace of the caller", request.SpanContext.TraceID().String(), "4bf92f3577b34da6a3ce929d0e0e4736")
	must.Equal(t, "parent of the caller", request.Parent.SpanID().String(), "00f067aa0ba902b7")
	must.Equal(t, "parent of the operation", op.Parent.SpanID(), request.SpanContext.SpanID())
	must.Equal(t, "what is kept of what the caller said", request.SpanContext.TraceState().String(), "")
	must.Equal(t, "name", request.Name, "GET /v1/memories/{id}")
	must.Equal(t, "span kind", request.SpanKind, oteltrace.SpanKindServer)
	want := map[string]string{
		"http.request.method": "GET", "http.route": "/v1/memories/{id}", "http.response.status_code": "404",
	}
	must.Equal(t, "", attributes(request), want)
	must.Equal(t, "status of what a caller does wrong", request.Status.Code, codes.Unset)
}

func TestWhatACallerSaysDecidesWhatIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header string
		want   int
	}{
		"sampled": {parent, 1}, "not sampled": {unsampled, 0}, "nothing": {"", 1},
		"nonsense": {"00-zz-00f067aa0ba902b7-01", 1}, "zeros": {"00-00000000000000000000000000000000-0000000000000000-01", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracer, spans := opened(t, trace.Options{})
			r := httptest.NewRequest("GET", "/v1/memories/x", nil)
			r.Header.Set("Traceparent", c.header)
			serve(t, tracer, r, func(http.ResponseWriter, *http.Request) {})
			must.Equal(t, "spans", len(spans()), c.want)
		})
	}
}

func TestStatusOfAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status string
		code   codes.Code
	}{
		"nothing said": {func(http.ResponseWriter, *http.Request) {}, "200", codes.Unset},
		"body only":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }, "200", codes.Unset},
		"first counts": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); _, _ = w.Write(nil) }, "201", codes.Unset},
		"provisional":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(503) }, "503", codes.Error},
		"own fault":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "500", codes.Error},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracer, spans := opened(t, trace.Options{})
			serve(t, tracer, httptest.NewRequest("PUT", "/v1/memories/x", nil), c.answer)
			s := only(t, spans())
			if got := attributes(s)["http.response.status_code"]; got != c.status || s.Status.Code != c.code {
				t.Errorf("status %s %v, want %s %v", got, s.Status.Code, c.status, c.code)
			}
		})
	}
}

func TestAPanicIsAnErrorAndGoesOn(t *testing.T) {
	t.Parallel()
	tracer, spans := opened(t, trace.Options{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		serve(t, tracer, httptest.NewRequest("BREW", "/v1/memories/x", nil), func(http.ResponseWriter, *http.Request) { panic("bug") })
	}()
	s := only(t, spans())
	must.Equal(t, "code", s.Status.Code, codes.Error)
	must.Equal(t, "http.request.method", attributes(s)["http.request.method"], "_OTHER")
}

func TestStreamsStillFlush(t *testing.T) {
	t.Parallel()
	tracer, _ := opened(t, trace.Options{})
	w := serve(t, tracer, httptest.NewRequest("GET", "/v1/memories/x", nil), func(w http.ResponseWriter, _ *http.Request) {
		must.NoError(t, http.NewResponseController(w).Flush())
		w.(http.Flusher).Flush()
	})
	must.Equal(t, "flushed", w.Flushed, true)
}

func TestWithoutAnEndpointTheHandlerIsTheSame(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	if got := new(trace.Tracer).Middleware(mux); got != http.Handler(mux) {
		t.Error("the handler was wrapped")
	}
}
