package ovfake

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Stub is an HTTP server with the interface of OpenAI in front of an
// [Embedder], for a real OpenViking server. It can be made to fail. Safe for
// concurrent use.
type Stub struct {
	Embedder Embedder // set before use

	mu    sync.Mutex
	fail  int
	delay time.Duration
	held  chan struct{} // closed when requests are answered again; nil: they are
	texts []string
}

const (
	maxBody  = 64 << 20 // of a request
	maxTexts = 10_000   // that a Stub remembers
)

// Fail has every request answered with an HTTP status; 0 ends that.
func (s *Stub) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = status
}

// Hold has every request wait until Hold(false).
func (s *Stub) Hold(hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case hold && s.held == nil:
		s.held = make(chan struct{})
	case !hold && s.held != nil:
		close(s.held)
		s.held = nil
	}
}

// Delay has every request wait.
func (s *Stub) Delay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// Texts returns what vectors were made of, in order.
func (s *Stub) Texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

// ServeHTTP answers POST /v1/embeddings and POST /v1/chat/completions.
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fail, delay, held := s.fail, s.delay, s.held
	s.mu.Unlock()
	if !pause(r.Context(), delay) || !released(r.Context(), held) {
		return
	}
	switch {
	case fail != 0:
		reply(w, fail, object{"error": object{"message": "stub is down", "type": "server_error"}})
	case strings.HasSuffix(r.URL.Path, "/embeddings"):
		s.embed(w, r)
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		reply(w, http.StatusOK, chat())
	case r.Method == http.MethodGet:
		reply(w, http.StatusOK, object{"object": "list", "data": []object{{"id": "stub", "object": "model"}}})
	default:
		reply(w, http.StatusNotFound, object{"error": object{"message": "no such path " + r.URL.Path}})
	}
}

// pause waits, and reports whether the wait was not cut short.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// released waits until held is closed, and reports whether it was.
func released(ctx context.Context, held chan struct{}) bool {
	if held == nil {
		return true
	}
	select {
	case <-held:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Stub) embed(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model    string          `json:"model"`
		Input    json.RawMessage `json:"input"`
		Encoding string          `json:"encoding_format"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		reply(w, http.StatusBadRequest, object{"error": object{"message": err.Error()}})
		return
	}
	data := []object{}
	for i, text := range inputs(in.Input) {
		s.note(text)
		v := s.Embedder.Vector(text)
		var e any = v
		if in.Encoding == "base64" {
			e = base64.StdEncoding.EncodeToString(littleEndian(v))
		}
		data = append(data, object{"object": "embedding", "index": i, "embedding": e})
	}
	reply(w, http.StatusOK, object{
		"object": "list", "model": in.Model, "data": data,
		"usage": object{"prompt_tokens": 1, "total_tokens": 1},
	})
}

func (s *Stub) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) < maxTexts {
		s.texts = append(s.texts, text)
	}
}

// inputs returns the texts of a request: one string, or a list. An element that is not a string is taken as the JSON
// that it is.
func inputs(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) != nil {
		return nil
	}
	texts := make([]string, len(many))
	for i, m := range many {
		if json.Unmarshal(m, &texts[i]) != nil {
			texts[i] = string(m)
		}
	}
	return texts
}

func littleEndian(v []float32) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, v) // a Buffer does not fail
	return b.Bytes()
}

func chat() object {
	return object{
		"id": "c", "object": "chat.completion", "created": 0, "model": "stub",
		"choices": []object{{
			"index": 0, "finish_reason": "stop",
			"message": object{"role": "assistant", "content": "A short summary."},
		}},
		"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}
}
