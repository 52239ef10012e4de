//go:build linux

package main

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/amber-memory/amber/internal/test/must"
)

// edgeServer has no memories, and lets only those in who show a token, if there is one.
func edgeServer(s *setting, token string) *httptest.Server {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"kind":"refused","message":"show a token"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"items":[]}`)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Cleanup(srv.Close)
	s.set("AMBER_MEMORY__BACKEND", "remote")
	return srv
}

// remoteEffects lists the memories of a server.
func remoteEffects() map[string]effect {
	const at, url = "memory.backends.remote.", "AMBER_MEMORY__BACKENDS__REMOTE__URL"
	list := func(s *setting) string { return s.exit("list") }
	return map[string]effect{
		at + "url": {func(s *setting) string {
			srv := edgeServer(s, "")
			srv.Start()
			return srv.URL
		}, list, "exit 2", "exit 0"},
		at + "token_file": {func(s *setting) string {
			srv := edgeServer(s, "amber_x")
			srv.Start()
			s.set(url, srv.URL)
			must.Do(s, os.WriteFile(s.path("token"), []byte("amber_x\n"), 0o600))
			return s.path("token")
		}, list, "exit 6", "exit 0"},
		at + "ca": {func(s *setting) string {
			srv := edgeServer(s, "")
			srv.StartTLS()
			s.set(url, srv.URL)
			must.Do(s, os.WriteFile(s.path("ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600))
			return s.path("ca.pem")
		}, list, "exit 7", "exit 0"},
	}
}
