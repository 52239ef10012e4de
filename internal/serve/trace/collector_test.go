package trace_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/amber-memory/amber/internal/serve/trace"
	"github.com/amber-memory/amber/internal/test/must"
)

// answers is a collector that answers one request after the other so, and the last one for ever.
func answers(t *testing.T, each ...http.HandlerFunc) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		each[min(int(asked.Add(1)), len(each))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

var oneSpan = []*pb.ResourceSpans{{ScopeSpans: []*pb.ScopeSpans{{Spans: []*pb.Span{{Name: "recall"}}}}}}

func TestABusyCollectorIsAskedAgain(t *testing.T) {
	t.Parallel()
	url, asked := answers(t, status(http.StatusTooManyRequests), status(http.StatusBadGateway), status(http.StatusServiceUnavailable), status(http.StatusGatewayTimeout), status(http.StatusOK))
	must.NoError(t, trace.ClientOf(url, false).UploadTraces(t.Context(), oneSpan))
	must.Equal(t, "requests", asked.Load(), 5)
}

func TestACollectorThatRefusesIsAskedOnce(t *testing.T) {
	t.Parallel()
	url, asked := answers(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no key", http.StatusForbidden) })
	err := trace.ClientOf(url, false).UploadTraces(t.Context(), oneSpan)
	must.Says(t, "error", err.Error(), "403 Forbidden", "no key")
	must.Equal(t, "requests", asked.Load(), 1)
}

func TestStopEndsThePauses(t *testing.T) {
	t.Parallel()
	c := make(chan struct{})
	url, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		close(c)
	})
	client := trace.ClientOf(url, false)
	ended := make(chan error, 1)
	go func() { ended <- client.UploadTraces(context.Background(), oneSpan) }()
	<-c
	for range 2 {
		must.NoError(t, client.Stop(t.Context()))
	}
	must.Is(t, "upload", <-ended, context.Canceled)
}

// A collector that took part of the spans says so in the field partial_success of its answer.
func TestACollectorThatTakesPart(t *testing.T) {
	t.Parallel()
	partial := func(rejected uint64, message string) []byte {
		inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), rejected)
		inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), message)
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
	}
	for name, c := range map[string]struct {
		answer []byte
		want   string
	}{
		"nothing":    {nil, ""},
		"all":        {partial(0, ""), ""},
		"other text": {[]byte("{}"), ""},
		"cut off":    {partial(3, "too old")[:4], ""},
		"some":       {partial(3, "too old"), "OTLP partial success: too old (3 spans rejected)"},
		"no reason":  {partial(3, ""), "OTLP partial success: empty message (3 spans rejected)"},
		"a warning":  {partial(0, "slow down"), "OTLP partial success: slow down (0 spans rejected)"},
	} {
		url, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(c.answer) })
		got := ""
		if err := trace.ClientOf(url, false).UploadTraces(t.Context(), oneSpan); err != nil {
			got = err.Error()
		}
		must.Equal(t, name, got, c.want)
	}
}

func TestSpansAreCompressed(t *testing.T) {
	t.Parallel()
	var got pb.TracesData
	url, _ := answers(t, func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("not compressed: %v", err)
			return
		}
		must.NoError(t, proto.Unmarshal(must.Get(io.ReadAll(z))(t), &got))
	})
	must.NoError(t, trace.ClientOf(url, true).UploadTraces(t.Context(), oneSpan))
	must.Equal(t, "span", got.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName(), "recall")
}
