//go:build linux

package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// vikingVariable is the environment variable of a key of the openviking backend.
func vikingVariable(name string) string {
	return config.Key{Path: "memory.backends.openviking." + name}.Env()
}

// viking configures an OpenViking server beside the store that knows words alone.
func (s *setting) viking(o ovfake.Options) *ovfake.Server {
	s.Helper()
	server := ovfake.New(o)
	s.Cleanup(server.Close)
	s.set("AMBER_MEMORY__BACKEND", "openviking")
	s.set("AMBER_SEARCH__MODEL", "none")
	s.set(vikingVariable("url"), server.Start())
	if o.Mode == ovfake.ModeDev {
		s.set(vikingVariable("mode"), "dev")
	}
	return server
}

// besideDev is value where a server without keys stands beside the store.
func besideDev(v string, mood func(*ovfake.Server)) func(*setting) string {
	return func(s *setting) string {
		mood(s.viking(ovfake.Options{Mode: ovfake.ModeDev}))
		return v
	}
}

// ails reports whether the server can be used.
func ails(s *setting) string {
	return fmt.Sprint(told[care.IndexReport](s, "index", "status").OpenViking.Problem != "")
}

func vikingEffects() map[string]effect {
	const at = "memory.backends.openviking."
	calm := func(*ovfake.Server) {}
	return map[string]effect{
		at + "primary": {besideDev("tape", calm), func(s *setting) string { return s.exit("remember", "x") }, "exit 0", "exit 2"},
		at + "url": {func(s *setting) string {
			server := ovfake.New(ovfake.Options{Mode: ovfake.ModeDev})
			s.Cleanup(server.Close)
			s.set("AMBER_MEMORY__BACKEND", "openviking")
			s.set(vikingVariable("mode"), "dev")
			if !s.with { // not the port where a real one may listen
				s.set(vikingVariable("url"), "http://127.0.0.1:1")
			}
			return server.Start()
		}, ails, "true", "false"},
		at + "key_file": {func(s *setting) string {
			return s.file("viking.key", s.vikingKey(s.viking(ovfake.Options{})))
		}, ails, "true", "false"},
		at + "keys_dir": {func(s *setting) string {
			s.file("keys/default/default", s.vikingKey(s.viking(ovfake.Options{})))
			return s.path("keys")
		}, ails, "true", "false"},
		at + "mode": {func(s *setting) string {
			s.viking(ovfake.Options{Mode: ovfake.ModeDev})
			s.env = s.env[:len(s.env)-1] // the mode
			return "dev"
		}, ails, "true", "false"},
		at + "min_score": {func(s *setting) string {
			s.viking(ovfake.Options{Mode: ovfake.ModeDev, Embedder: ovfake.Embedder{Synonyms: map[string]string{"lorry": "truck"}}})
			return "0.99"
		}, func(s *setting) string {
			s.does("remember", "the truck is here")
			s.does("index", "sync")
			return fmt.Sprint(len(told[amber.RecallResult](s, "recall", "lorry").Hits))
		}, "1", "0"},
		at + "fusion": {besideDev("rrf", calm), func(s *setting) string {
			s.does("remember", "the garage for a lorry stands behind seventeen other buildings beside two rivers under four old bridges near many small towns")
			s.does("remember", "garage")
			s.does("index", "sync")
			return told[amber.RecallResult](s, "recall", "lorry garage").Hits[0].Content[:3]
		}, "the", "gar"},
		at + "find_timeout": {besideDev("20ms", func(f *ovfake.Server) { f.Slow(60 * time.Millisecond) }), func(s *setting) string {
			s.set(vikingVariable("feed_budget"), "0")
			return fmt.Sprint(told[amber.RecallResult](s, "recall", "lorry").Degraded != "")
		}, "false", "true"},
		at + "connect_timeout": {func(s *setting) string {
			s.set("AMBER_MEMORY__BACKEND", "openviking")
			s.set(vikingVariable("mode"), "dev")
			s.set(vikingVariable("request_timeout"), "1m")
			s.set(vikingVariable("url"), s.hardToReach())
			return "50s"
		}, ails, "true", "false"},
		at + "request_timeout": {besideDev("50ms", func(f *ovfake.Server) { f.Slow(200 * time.Millisecond) }), ails, "false", "true"},
		at + "feed_budget": {besideDev("0", calm), func(s *setting) string {
			s.does("remember", "x")
			s.does("recall", "x")
			return fmt.Sprint(told[care.IndexReport](s, "index", "status").OpenViking.Compare)
		}, "false", "true"},
		at + "include":     {value("user"), func(s *setting) string { return s.sentAway() }, "1", "2"},
		at + "any_version": {besideDev("true", func(f *ovfake.Server) { f.Version("0.9.1") }), ails, "true", "false"},
	}
}

// vikingKey makes the user of the agent on a server.
func (s *setting) vikingKey(server *ovfake.Server) string {
	s.Helper()
	c := must.Get(api.New(api.Options{URL: server.Start(), Key: func() (string, error) { return server.RootKey(), nil }}))(s)
	defer c.Close()
	return must.Get(c.CreateUser(s.Context(), "default", "default"))(s)
}

// hardToReach returns the URL of a server that takes no connection for two seconds.
func (s *setting) hardToReach() string {
	s.Helper()
	server := ovfake.New(ovfake.Options{Mode: ovfake.ModeDev})
	s.Cleanup(server.Close)
	fd := must.Get(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0))(s)
	must.Do(s, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	must.Do(s, syscall.Listen(fd, 0))
	f := os.NewFile(uintptr(fd), "listener")
	l := must.Get(net.FileListener(f))(s)
	must.Do(s, f.Close())
	for range 4 { // the queue is full then
		if c, err := net.DialTimeout("tcp", l.Addr().String(), 50*time.Millisecond); err == nil {
			s.Cleanup(func() { _ = c.Close() })
		}
	}
	h := &http.Server{Handler: server.Handler()}
	late := time.AfterFunc(2*time.Second, func() { _ = h.Serve(l) })
	s.Cleanup(func() { late.Stop(); _ = h.Close(); _ = l.Close() })
	return "http://" + l.Addr().String()
}

// sentAway counts the files that a server elsewhere gets of a global memory and one of a user.
func (s *setting) sentAway() string {
	s.Helper()
	work := s.path("workspace")
	must.Do(s, os.Mkdir(work, 0o700))
	fake := ovfake.New(ovfake.Options{Mode: ovfake.ModeTrusted, Workspace: work})
	far := httptest.NewTLSServer(fake.Handler())
	s.Cleanup(far.Close)
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tunnel(w, far.Listener.Addr().String()) }))
	s.Cleanup(way.Close)
	s.set("HTTPS_PROXY", way.URL)
	s.set("SSL_CERT_FILE", s.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: far.Certificate().Raw}))))
	s.set("AMBER_MEMORY__BACKEND", "openviking")
	s.set(vikingVariable("mode"), "trusted")
	s.set(vikingVariable("key_file"), s.file("root.key", fake.RootKey()))
	s.set(vikingVariable("url"), "https://example.com")
	s.does("remember", "one")
	s.does("remember", "two", "--scope", "user", "--user", "ann")
	cmd := exec.Command("amber", "index", "sync")
	cmd.Dir, cmd.Env = s.dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	return fmt.Sprint(len(textsIn(s.T, work, "MEMORY_FIELDS")))
}

// tunnel connects a client with an address.
func tunnel(w http.ResponseWriter, to string) {
	there, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, read, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	go func() { _, _ = io.Copy(there, read) }() // what came before counts too
	_, _ = io.Copy(here, there)
}
