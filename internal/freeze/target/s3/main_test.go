package s3_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	accessKey = "AKIDAMBERTESTKEY"
	secretKey = "a-secret-that-no-error-shows"
)

// attempts is how often a target of these tests asks.
const attempts = 4

// fault stands between a target and its server. It answers itself or lets the
// next one do it.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// server is a server of S3 in this process: gofakes3, which heeds conditions
// of PUT under a lock but knows none when parts become an object. The suite
// asks for that, so it is added here.
type server struct {
	url     string
	backend *s3mem.Backend

	mu       sync.Mutex
	fault    fault
	requests []string // "PUT /bucket/prefix/a"

	completing sync.Mutex
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{backend: s3mem.New()}
	must.Do(t, s.backend.CreateBucket("bucket"))
	fake := gofakes3.New(s.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	h := httptest.NewServer(s.handler(fake))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

func (s *server) handler(next http.Handler) http.Handler {
	next = s.conditionalComplete(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
		f := s.fault
		s.mu.Unlock()
		if f == nil {
			next.ServeHTTP(w, r)
			return
		}
		f(w, r, next)
	})
}

func (s *server) conditionalComplete(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") {
			next.ServeHTTP(w, r)
			return
		}
		s.completing.Lock()
		defer s.completing.Unlock()
		if r.Header.Get("If-None-Match") == "*" && s.has(strings.TrimPrefix(r.URL.Path, "/bucket/")) {
			answer(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answer writes an error as S3 does.
func answer(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: "a message"})
}

// set puts a fault in the way; nil takes it away.
func (s *server) set(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// forget forgets the requests so far.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// asked returns how many requests there were that contain the text.
func (s *server) asked(text string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

func (s *server) has(key string) bool {
	_, err := s.backend.HeadObject("bucket", key)
	return err == nil
}

// store stores an object behind the target's back.
func (s *server) store(t *testing.T, key, data string) {
	t.Helper()
	meta := map[string]string{"Last-Modified": "Sat, 15 Nov 2025 12:00:00 GMT"}
	must.Get(s.backend.PutObject("bucket", key, meta, strings.NewReader(data), int64(len(data)), nil))(t)
}

// stored returns what lies under a key.
func (s *server) stored(t *testing.T, key string) string {
	t.Helper()
	return string(must.Get(io.ReadAll(must.Get(s.backend.GetObject("bucket", key, nil))(t).Contents))(t))
}

func (s *server) config(t *testing.T) s3.Config {
	t.Helper()
	return must.Get(s3.ParseURL("s3:" + s.url + "/bucket/some/prefix"))(t)
}

// options are those of a target that does not wait, except for a server that
// stands still.
func options() s3.Options {
	return s3.Options{
		Getenv:   env("AWS_ACCESS_KEY_ID", accessKey, "AWS_SECRET_ACCESS_KEY", secretKey),
		Attempts: attempts,
		Sleep:    func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
	}
}

// env returns an environment of names and values.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// open opens the target of a server.
func (s *server) open(t *testing.T, change ...func(*s3.Options)) *s3.Target {
	t.Helper()
	o := options()
	for _, f := range change {
		f(&o)
	}
	target := must.Get(s3.Open(t.Context(), s.config(t), o))(t)
	t.Cleanup(func() { _ = target.Close() })
	return target
}

// served returns a new server and its target.
func served(t *testing.T) (*server, *s3.Target) {
	t.Helper()
	s := newServer(t)
	return s, s.open(t)
}

func put(t *testing.T, target target.Target, name, data string) bool {
	t.Helper()
	return must.Get(target.Put(t.Context(), name, int64(len(data)), strings.NewReader(data)))(t)
}

// get returns an object, and the error of opening or reading it.
func get(t *testing.T, target target.Target, name string) (string, error) {
	t.Helper()
	r, err := target.Get(t.Context(), name, 0, -1)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	return string(data), errors.Join(err, r.Close())
}

func list(t *testing.T, from target.Target, prefix string) (names []string, err error) {
	t.Helper()
	err = from.List(t.Context(), prefix, func(o target.Object) error {
		names = append(names, o.Name)
		return nil
	})
	return names, err
}

func wantKind(t *testing.T, what string, err error, want amber.Kind) {
	t.Helper()
	must.Kind(t, what, err, want)
	if err != nil && (strings.Contains(fmt.Sprintf("%+v", err), secretKey) || strings.Contains(err.Error(), accessKey)) {
		t.Errorf("%s: the error shows credentials: %v", what, err)
	}
}

// noise returns n bytes that do not repeat early.
func noise(n int) string {
	data := make([]byte, n)
	state := uint32(n)
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = byte(state >> 24)
	}
	return string(data)
}

// first lets the fault happen to the first n requests that match, and leaves
// all others alone.
func first(n int, match func(*http.Request) bool, f fault) fault {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		mu.Lock()
		hit := n > 0 && match(r)
		if hit {
			n--
		}
		mu.Unlock()
		if hit {
			f(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

func always(match func(*http.Request) bool, f fault) fault { return first(1<<30, match, f) }

func every(*http.Request) bool { return true }

func method(names ...string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return slices.Contains(names, r.Method) && !strings.HasSuffix(r.URL.Path, ".amber-probe")
	}
}

// objects matches requests to read an object.
func objects(r *http.Request) bool {
	return r.Method == http.MethodGet && !r.URL.Query().Has("list-type")
}

// lists matches requests to list.
func lists(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Query().Has("list-type") }

// answers is a fault that answers with an error.
func answers(status int, code string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { answer(w, status, code) }
}

// says is a fault that answers 200 with a body.
func says(body string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { _, _ = io.WriteString(w, body) }
}

// drops is a fault that closes the connection without an answer.
func drops(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// loses is a fault that does what the request asks for and loses the answer.
func loses(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// breaks is a fault that gives n bytes of the true answer and closes the
// connection.
func breaks(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		part(w, r, next, n)
		panic(http.ErrAbortHandler)
	}
}

// stalls is a fault that gives n bytes of the true answer and then nothing,
// until the other side has had enough. An answer that is complete is one.
func stalls(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		// Only a server that has read the whole body notices that the other side has gone.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if part(w, r, next, n) {
			<-r.Context().Done()
		}
	}
}

// part gives n bytes of the true answer and reports whether there are more.
func part(w http.ResponseWriter, r *http.Request, next http.Handler, n int) bool {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes()[:min(n, rec.Body.Len())])
	_ = http.NewResponseController(w).Flush()
	return n < rec.Body.Len()
}

// cuts is a fault that ends the answer after n bytes and says that this is all.
func cuts(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		maps.Copy(w.Header(), rec.Header())
		n := min(n, rec.Body.Len())
		w.Header().Set("Content-Length", fmt.Sprint(n))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()[:n])
	}
}

// flips is a fault that changes a byte of what is sent.
func flips(w http.ResponseWriter, r *http.Request, next http.Handler) {
	data, err := io.ReadAll(r.Body)
	if err != nil || len(data) == 0 {
		panic(http.ErrAbortHandler)
	}
	data[len(data)/2] ^= 1
	r.Body = io.NopCloser(bytes.NewReader(data))
	next.ServeHTTP(w, r)
}

// heedless is a fault that ignores every condition of a write, and says nothing.
func heedless(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Method == http.MethodPut || r.Method == http.MethodPost {
		r.Header.Del("If-None-Match")
		r.Header.Del("If-Match")
	}
	next.ServeHTTP(w, r)
}
