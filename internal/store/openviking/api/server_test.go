package api_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
)

const secretKey = "ov-secret-key-0123456789"

// seen is what a server sees of a request.
type seen struct {
	Line   string // method, path and query
	Body   string
	Header http.Header
}

// stub is a server that answers what a test says.
type stub struct {
	url string
	mu  sync.Mutex
	log []seen
}

// serve starts a server. The answers are those of the handlers, one after the other; the last one
// answers for ever.
func serve(t *testing.T, handlers ...http.HandlerFunc) *stub {
	t.Helper()
	s := &stub{}
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		s.mu.Lock()
		s.log = append(s.log, seen{r.Method + " " + r.URL.RequestURI(), strings.TrimSpace(string(b)), r.Header})
		n := len(s.log)
		s.mu.Unlock()
		handlers[min(n, len(handlers))-1](w, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0) // aborts are part of the tests
	h.Start()
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// requests returns what was asked so far.
func (s *stub) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// open returns a client of the server.
func (s *stub) open(t *testing.T, change ...func(*api.Options)) *api.Client {
	t.Helper()
	o := api.Options{
		URL: s.url, Key: func() (string, error) { return secretKey, nil },
		Connect: time.Minute, Request: time.Minute, // for machines that are busy
	}
	for _, c := range change {
		c(&o)
	}
	c := must.Get(api.New(o))(t)
	t.Cleanup(func() { must.NoError(t, c.Close()) })
	return c
}

// says answers with a status and a body, after pairs of header names and values.
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// result is a success as the server writes it.
func result(v string) http.HandlerFunc {
	return says(200, `{"status":"ok","result":`+v+`,"error":null,"telemetry":null,"profile":null}`)
}

// failure is a failure as the server writes it.
func failure(status int, code, details string) http.HandlerFunc {
	return says(status, `{"status":"error","error":{"code":"`+code+`","message":"not now","details":`+details+`}}`)
}

// half sends the first half of an answer.
func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"status":"ok","result":{`)
	panic(http.ErrAbortHandler)
}

// reset ends the connection without an answer.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// silent answers nothing until the client is gone.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// slow sends a body without an end, until the client is gone.
func slow(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, " "); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
}

// hasty has requests end soon.
func hasty(o *api.Options) { o.Request = 30 * time.Millisecond }
