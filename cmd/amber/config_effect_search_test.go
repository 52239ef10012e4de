//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/amber-memory/amber/wire"
)

func searchEffects() map[string]effect {
	return map[string]effect{
		"search.model": {value("none"), func(s *setting) string {
			return fmt.Sprint(told[wire.IndexStatus](s, "index", "status").Model != "")
		}, "true", "false"},
		"search.model_name": {embedsWith("tiny"), func(s *setting) string {
			s.does("remember", "x")
			s.does("index", "sync")
			return s.seen.model
		}, "", "tiny"},
		"search.key_env": {embedsWith("MY_KEY"), func(s *setting) string {
			s.set("MY_KEY", "open-sesame")
			s.does("remember", "x")
			s.does("index", "sync")
			return s.seen.key
		}, "", "Bearer open-sesame"},
		"search.budget": {func(s *setting) string {
			s.embedder(func(r *http.Request) { // longer than the usual budget, unless the caller gives up
				select {
				case <-r.Context().Done():
				case <-time.After(4 * time.Second):
				}
			})
			return "10m"
		}, func(s *setting) string {
			event := `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"why do the tests fail?"}`
			if _, complaint, code := s.amber(event, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m"); code != 0 {
				s.Fatal(code, complaint)
			}
			s.does("journal", "drain")
			return fmt.Sprint(told[wire.IndexStatus](s, "index", "status").Pending)
		}, "1", "0"},
	}
}

// embedded is what a server of embeddings was sent last.
type embedded struct{ model, key string }

// embedsWith is value where a server makes the vectors.
func embedsWith(v string) func(*setting) string {
	return func(s *setting) string {
		s.embedder(func(*http.Request) {})
		return v
	}
}

// embedder configures a server of embeddings, which waits before it answers.
func (s *setting) embedder(wait func(*http.Request)) {
	s.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		s.seen = embedded{in.Model, r.Header.Get("Authorization")}
		mu.Unlock()
		wait(r)
		answerVectors(w, len(in.Input))
	}))
	s.Cleanup(server.Close)
	s.set("AMBER_SEARCH__MODEL", server.URL+"/v1")
}
