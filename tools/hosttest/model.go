package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// maxRequest bounds a request to the model.
const maxRequest = 32 << 20

// line is what the model says to a prompt.
type line struct{ prompt, answer string }

// model is a scripted language model on loopback. It speaks the protocols that
// hosts speak, uses a shell tool once when it is offered one, and then answers the
// last of its lines whose prompt it has heard. It keeps every request.
type model struct {
	lines  []line
	log    *os.File
	server *http.Server
	url    string

	mu       sync.Mutex
	requests []string // the bodies
	calls    int      // tools it used
}

// startModel listens on a free port. Every request is a line in the file log.
func startModel(log string, lines ...line) (*model, error) {
	f, err := os.OpenFile(filepath.Clean(log), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Close()
		return nil, err
	}
	m := &model{lines: lines, log: f, url: "http://" + l.Addr().String()}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.server.Serve(l) }()
	return m, nil
}

// close ends the server and its log.
func (m *model) close() {
	_ = m.server.Close()
	_ = m.log.Close()
}

// heard reports whether all of the texts were in one request.
func (m *model) heard(texts ...string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		all := true
		for _, t := range texts {
			all = all && strings.Contains(r, t)
		}
		if all {
			return true
		}
	}
	return false
}

// asked returns how many requests there were and how many tools were used.
func (m *model) asked() (requests, calls int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests), m.calls
}

// ServeHTTP answers in the protocol of the path.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		http.Error(w, "cannot read the request", http.StatusBadRequest)
		return
	}
	m.note(r, body)
	switch path := r.URL.Path; {
	case r.Method == http.MethodHead:
	case r.Method == http.MethodGet:
		writeJSON(w, object{"object": "list", "data": []object{{"id": modelName, "object": "model"}}, "models": []any{}})
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, object{"input_tokens": 10})
	case strings.HasSuffix(path, "/messages"):
		m.anthropic(w, body)
	case strings.HasSuffix(path, "/responses"):
		m.responses(w, body)
	case strings.HasSuffix(path, "/chat/completions"):
		m.chat(w, body)
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, object{"totalTokens": 5})
	case strings.Contains(path, "enerateContent"):
		m.gemini(w, body, strings.Contains(path, "stream"))
	default:
		http.Error(w, "no such path", http.StatusNotFound)
	}
}

// readBody reads a request, which may be compressed.
func readBody(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "zstd" {
		return io.ReadAll(io.LimitReader(r.Body, maxRequest))
	}
	z, err := zstd.NewReader(r.Body, zstd.WithDecoderMaxMemory(maxRequest))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(io.LimitReader(z, maxRequest))
}

func (m *model) note(r *http.Request, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Method == http.MethodPost {
		// As the text that the model would see: JSON hides < and >.
		m.requests = append(m.requests, strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `&lt;`, "<", `&gt;`, ">").Replace(string(body)))
	}
	fmt.Fprintf(m.log, "%s %s %s\n", r.Method, r.URL.Path, strings.ReplaceAll(string(body), "\n", " "))
}

// step is what the model does next: use a tool, or say something.
type step struct {
	id, tool string
	input    object
	say      string
}

// next decides by what the request offers and has had already. A request
// without tools asks for a title or the like.
func (m *model) next(body []byte, tools []tool, results int) step {
	if len(tools) == 0 {
		return step{say: "A title"}
	}
	if results == 0 {
		for _, t := range tools {
			if input, ok := t.shellInput(); ok {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.calls++
				return step{id: fmt.Sprintf("call_%d", m.calls), tool: t.name, input: input}
			}
		}
	}
	say := "I do not know."
	for _, l := range m.lines {
		if bytes.Contains(body, []byte(l.prompt)) {
			say = l.answer
		}
	}
	return step{say: say}
}

type object = map[string]any

const modelName = "scripted"

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// events writes server-sent events; each has a name, which may be "".
func events(w http.ResponseWriter, list ...event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		text, ok := e.data.(string)
		if !ok {
			b, _ := json.Marshal(e.data)
			text = string(b)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

type event struct {
	name string
	data any
}
