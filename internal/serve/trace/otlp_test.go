package trace_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/trace"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// station is a collector.
type station struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []string
	service string
	path    string
	key     string
	raw     bytes.Buffer
}

func newStation(t *testing.T) *station {
	s := &station{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var m pb.TracesData
		if err == nil {
			err = proto.Unmarshal(b, &m)
		}
		if err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.path, s.key = r.URL.Path, r.Header.Get("X-Key")
		s.raw.Write(b)
		for _, rs := range m.GetResourceSpans() {
			for _, a := range rs.GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					s.service = a.GetValue().GetStringValue()
				}
			}
			for _, ss := range rs.GetScopeSpans() {
				for _, span := range ss.GetSpans() {
					s.spans = append(s.spans, span.GetName())
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// variables are an environment.
func variables(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

func TestCloseSendsWhatWaits(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	o := trace.FromEnvironment(variables(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b", "OTEL_SERVICE_NAME": "amber-east",
	}))
	o.Failed = func(err error) { t.Error(err) }
	tracer := must.Get(trace.Open(t.Context(), o))(t)
	for _, name := range []string{"write", "recall"} {
		_, end := tracer.Begin(t.Context(), wire.Operation{Tenant: "acme", Agent: "scout", Layer: "long_term", Name: name})
		end(wire.Outcome{Err: errSecret})
	}
	for range 2 {
		must.Do(t, tracer.Close(t.Context()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	must.Equal(t, "", s.spans, []string{"long_term.write", "long_term.recall"})
	if s.service != "amber-east" || s.path != "/v1/traces" || s.key != "a b" {
		t.Errorf("service %q, path %q, key %q", s.service, s.path, s.key)
	}
	if bytes.Contains(s.raw.Bytes(), []byte("cat")) {
		t.Error("the text of an error was sent")
	}
}

func TestACollectorThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(hang)
	failed := make(chan error, 100)
	tracer := must.Get(trace.Open(t.Context(), trace.Options{Endpoint: s.URL, Failed: func(err error) { failed <- err }}))(t)
	for range 2*trace.MaxQueue + 1000 { // more than there is room for
		_, end := tracer.Begin(t.Context(), wire.Operation{Layer: "long_term", Name: "get"})
		end(wire.Outcome{})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	must.Kind(t, "close", tracer.Close(ctx), amber.KindUnreachable)
	<-failed // the failure was reported
}

func TestACollectorThatIsAwayIsToldOnlyToWhoAsks(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer s.Close()
	failed := make(chan error, 1)
	tracer := must.Get(trace.Open(t.Context(), trace.Options{Endpoint: s.URL, Failed: func(err error) { failed <- err }}))(t)
	_, end := tracer.Begin(t.Context(), wire.Operation{Layer: "long_term", Name: "get"})
	end(wire.Outcome{})
	must.NoError(t, tracer.Close(t.Context()))
	select {
	case <-failed:
	default:
		t.Error("nobody was told")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]trace.Options{
		"no scheme":    {Endpoint: "localhost:4318"},
		"other scheme": {Endpoint: "grpc://localhost:4317"},
		"no host":      {Endpoint: "http:///v1/traces"},
		"no URL":       {Endpoint: "http://a b\x7f/"},
		"a password":   {Endpoint: "http://me:secret@localhost/v1/traces"},
		"a query":      {Endpoint: "http://localhost/v1/traces?key=secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := trace.Open(t.Context(), o)
			must.Kind(t, "", err, amber.KindInvalid)
			if err != nil && bytes.Contains([]byte(err.Error()), []byte("secret")) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  map[string]string
		want trace.Options
	}{
		"nothing":      {nil, trace.Options{Headers: map[string]string{}}},
		"switched off": {map[string]string{"OTEL_SDK_DISABLED": "TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, trace.Options{}},
		"base": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a/base"},
			trace.Options{Endpoint: "http://a/base/v1/traces", Headers: map[string]string{}},
		},
		"traces win": {
			map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b/x",
				"OTEL_EXPORTER_OTLP_HEADERS": "k=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "k=2, l = 3 ,bad,=x,%zz=1",
			},
			trace.Options{Endpoint: "http://b/x", Headers: map[string]string{"k": "2", "l": "3"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := trace.FromEnvironment(variables(c.set))
			must.Equal(t, "endpoint", got.Endpoint, c.want.Endpoint)
			must.Equal(t, "service", got.Service, c.want.Service)
			must.Equal(t, "", got.Headers, c.want.Headers)
		})
	}
}
