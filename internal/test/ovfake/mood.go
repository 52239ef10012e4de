package ovfake

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// mood is what is wrong with a server. The zero mood is nothing.
type mood struct {
	down, html, full, embedderDown bool
	slow                           time.Duration
	status                         int
	code                           string
	paths                          []string
	failures                       int // of the embedder in a row, seen by questions
	busy                           int
	version                        string
	revoked                        map[string]bool
	held                           chan struct{} // closed when the embedder goes on; nil: it works
	calm                           chan struct{} // closed when slow requests go on; nil: they do
}

// change changes the mood.
func (s *Server) change(f func(*mood)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.mood)
}

// Calm ends every mood. Keys that were revoked stay so. The server carries out slow requests now, whether or not a
// client waits for them.
func (s *Server) Calm() {
	s.Hold(false)
	s.change(func(m *mood) {
		if m.calm != nil {
			close(m.calm)
		}
		*m = mood{revoked: m.revoked}
	})
}

// Down closes every connection without an answer.
func (s *Server) Down(down bool) { s.change(func(m *mood) { m.down = down }) }

// Slow has every request wait before it is carried out; 0 ends that. It is carried out also when
// its client has gone.
func (s *Server) Slow(d time.Duration) {
	s.change(func(m *mood) {
		if m.slow = d; m.calm == nil {
			m.calm = make(chan struct{})
		}
	})
}

// Fail answers requests with an error instead of carrying them out: those whose
// path begins with one of paths, all when there are none. A status of 0 ends that.
func (s *Server) Fail(status int, code string, paths ...string) {
	s.change(func(m *mood) { m.status, m.code, m.paths = status, code, slices.Clone(paths) })
}

// EmbedderDown takes the embedder away. Files are written without a vector, and
// stay so when the embedder is back: a write that waits answers 500
// PROCESSING_ERROR, and one that does not wait has a task that failed. Questions
// are answered with 503 three times, then with 500 INTERNAL.
//
// A real server goes on with 500 for up to a minute after its embedder is back;
// [Server.Fail] does that here.
func (s *Server) EmbedderDown(down bool) {
	s.change(func(m *mood) { m.embedderDown, m.failures = down, 0 })
}

// Hold has the embedder answer no request: requests that wait for vectors wait, and files of a batch are busy.
// Hold(false) makes the vectors. A file that was deleted meanwhile is found then, although it is not there: a real
// server has that defect, too.
func (s *Server) Hold(hold bool) {
	s.change(func(m *mood) {
		switch {
		case hold && m.held == nil:
			m.held = make(chan struct{})
		case !hold && m.held != nil:
			for _, j := range s.jobs {
				s.run(j)
			}
			s.jobs = nil
			close(m.held)
			m.held = nil
		}
	})
}

// Busy answers the next n writes and deletions with 409 and retryable.
func (s *Server) Busy(n int) { s.change(func(m *mood) { m.busy = n }) }

// Revoke has a key refused from now on.
func (s *Server) Revoke(key string) {
	s.change(func(m *mood) {
		if m.revoked == nil {
			m.revoked = map[string]bool{}
		}
		m.revoked[key] = true
	})
}

// Version has the server claim another version; "" ends that.
func (s *Server) Version(v string) { s.change(func(m *mood) { m.version = v }) }

// HTML answers every request with 200 and a page.
func (s *Server) HTML(html bool) { s.change(func(m *mood) { m.html = html }) }

// FullDisk has every write fail with 500 INTERNAL.
func (s *Server) FullDisk(full bool) { s.change(func(m *mood) { m.full = full }) }

// LoseVectors removes the vectors of at most n files, in the order of their names,
// and returns the URIs.
func (s *Server) LoseVectors(n int) (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.accounts {
		for _, p := range slices.Sorted(maps.Keys(a.index)) {
			if a.index[p].level == fileLevel && len(uris) < n {
				delete(a.index, p)
				uris = append(uris, scheme+p)
			}
		}
	}
	return uris
}

func (s *Server) version() string {
	if s.mood.version != "" {
		return s.mood.version
	}
	return version
}

// pause waits until a time has passed or the mood has ended.
func (m mood) pause() {
	timer := time.NewTimer(m.slow)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.calm:
	}
}

// serve counts a request and answers it as the mood is.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	_, pattern := s.mux.Handler(r)
	s.mu.Lock()
	s.counts[s.kind[pattern]]++
	m := s.mood
	s.mu.Unlock()
	if m.down {
		panic(http.ErrAbortHandler)
	}
	if m.slow > 0 {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		m.pause()
	}
	c := &call{w: w, r: r}
	switch {
	case m.html:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Welcome</title><p>Please log in."))
	case m.fails(r.URL.Path):
		c.fail(&refusal{status: m.status, code: m.code, message: "a mood of the fake", details: object{}})
	case pattern == "":
		s.unknown(c)
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// fails reports whether requests for a path fail.
func (m mood) fails(path string) bool {
	return m.status != 0 && (len(m.paths) == 0 ||
		slices.ContainsFunc(m.paths, func(p string) bool { return strings.HasPrefix(path, p) }))
}

// unknown answers a request for which there is no call.
func (s *Server) unknown(c *call) {
	e := &refusal{status: http.StatusNotFound, code: "NOT_FOUND", message: "Not Found", bare: true}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := c.r.Clone(c.r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			e = &refusal{status: http.StatusMethodNotAllowed, code: "UNKNOWN", message: "Method Not Allowed", bare: true}
		}
	}
	c.fail(e)
}

// answered carries a request out, one at a time.
func (s *Server) answered(answer func(*call) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := &call{w: w, r: r}
		err := error(nil)
		if strings.HasPrefix(r.URL.Path, "/api/") {
			c.id, err = s.identify(r)
		}
		if err == nil {
			err = answer(c)
		}
		if err != nil {
			c.fail(err)
		}
	})
}
