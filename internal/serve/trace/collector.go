package trace

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/amber-memory/amber/internal/base/httpcall"
)

// Bounds of one request, with all its repetitions, and of what a collector answers.
const (
	firstPause  = time.Second
	mostPause   = exportTimeout / 2
	maxAnswered = 4 << 20
)

// collector posts spans as OTLP over HTTP. The client that OpenTelemetry offers brings gRPC into the program, for
// messages that are one list and one error text.
type collector struct {
	url     string
	headers map[string]string
	gzip    bool
	pause   time.Duration // before a request is repeated for the first time
	http    *http.Client
	halt    chan struct{}
	once    sync.Once
}

var _ otlptrace.Client = (*collector)(nil)

// Start implements [otlptrace.Client].
func (c *collector) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client]. It breaks off what is being sent.
func (c *collector) Stop(context.Context) error {
	c.once.Do(func() { close(c.halt) })
	return nil
}

// UploadTraces implements [otlptrace.Client].
func (c *collector) UploadTraces(ctx context.Context, spans []*pb.ResourceSpans) error {
	body, err := proto.Marshal(&pb.TracesData{ResourceSpans: spans}) // the request has the same one field
	if err != nil {
		return err
	}
	if c.gzip {
		body = packed(body)
	}
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	go func() {
		select {
		case <-c.halt:
			cancel()
		case <-ctx.Done():
		}
	}()
	for pause := c.pause; ; pause = min(2*pause, mostPause) {
		later, err := c.post(ctx, body)
		if err == nil || later < 0 {
			return err
		}
		if late := httpcall.Wait(ctx, max(pause, later)); late != nil {
			return errors.Join(err, late)
		}
	}
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// post sends one request. Later is how long the collector asks to wait before the request is repeated, and negative
// where repeating it is of no use.
func (c *collector) post(ctx context.Context, body []byte) (later time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	r.Header.Set("User-Agent", "OTel OTLP Exporter Go/"+otlptrace.Version())
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) && failed.Temporary() {
			return 0, err
		}
		return -1, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, maxAnswered))
	if err != nil {
		return -1, err
	}
	if resp.StatusCode/100 == 2 {
		return -1, notTaken(answer)
	}
	err = fmt.Errorf("post to %s: %s (body: %s)", c.url, resp.Status, strings.TrimSpace(string(answer)))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // 0: it does not say
		return max(0, time.Duration(seconds)*time.Second), err
	}
	return -1, err
}

// notTaken returns the error of a collector that took only part of the spans, which it says in the field
// partial_success of its answer.
func notTaken(answer []byte) error {
	const partialSuccess, rejectedSpans, errorMessage = 1, 1, 2
	partial, _ := protowire.ConsumeBytes(field(answer, partialSuccess))
	rejected, _ := protowire.ConsumeVarint(field(partial, rejectedSpans))
	message, _ := protowire.ConsumeBytes(field(partial, errorMessage))
	if rejected == 0 && len(message) == 0 {
		return nil
	}
	return fmt.Errorf("OTLP partial success: %s (%d spans rejected)", cmp.Or(string(message), "empty message"), rejected)
}

// field returns the encoded value of a field of a message of protocol buffers; nil without the field, and of what is no
// message.
func field(message []byte, number protowire.Number) []byte {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil
		}
		message = message[size:]
		if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 || n == number {
			return message[:max(0, size)]
		}
		message = message[size:]
	}
	return nil
}
