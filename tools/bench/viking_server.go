package main

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// vikingServer is an OpenViking server, and a user of it.
type vikingServer struct {
	name      string
	real      bool
	pid       int // of a real one
	url, user string
	key       string
	client    *api.Client
	stop      func()
}

// startViking starts the real server of a Python environment, or the fake in this process. Either
// has an embedder that counts words, in this process.
func startViking(ctx context.Context, dir string, size vikingSize) *vikingServer {
	s := &vikingServer{user: "bench"}
	e := ovfake.Embedder{Dimensions: size.vector}
	var root string
	if size.venv == "" {
		f := ovfake.New(ovfake.Options{Embedder: e})
		s.name, s.url, root, s.stop = "the fake in this process", f.Start(), f.RootKey(), f.Close
	} else {
		embedder := httptest.NewServer(&ovfake.Stub{Embedder: e})
		folder := filepath.Join(dir, "server")
		check(os.MkdirAll(folder, 0o700))
		r := get(ovtest.Start(ctx, ovtest.Setup{Venv: size.venv, Dir: folder, Embedder: embedder.URL, Dimensions: size.vector}))
		s.real, s.pid, s.url, root = true, r.Process().Pid, r.URL, r.RootKey
		s.stop = func() { r.Stop(); embedder.Close() }
	}
	if err := attempt(func() { s.enrol(ctx, root) }); err != nil {
		s.stop()
		check(err)
	}
	s.name += fmt.Sprintf("; vectors have %d numbers", size.vector)
	return s
}

// enrol makes the user.
func (s *vikingServer) enrol(ctx context.Context, root string) {
	admin := s.connect(s.url, root)
	defer admin.Close()
	if s.real {
		s.name = "OpenViking " + get(admin.Health(ctx)).Version + " in a process of its own, with an embedder in this process that counts words"
	}
	s.key = get(admin.CreateUser(ctx, "default", s.user))
	s.client = s.connect(s.url, s.key)
}

func (s *vikingServer) connect(url, key string) *api.Client {
	return get(api.New(api.Options{URL: url, Key: func() (string, error) { return key, nil }}))
}

// processor is how long processors have worked for a real server; 0 where that is not known.
func (s *vikingServer) processor() time.Duration {
	if s.pid == 0 {
		return 0
	}
	d, err := processorOf(s.pid)
	if err != nil {
		return 0
	}
	return d
}

// away is a server that cannot be used.
type away struct {
	name string // what it does
	url  string
	stop func()
}

// refusing is a port that no program listens on.
func refusing() away {
	l := get(net.Listen("tcp", "127.0.0.1:0"))
	check(l.Close())
	return away{"refuses connections", "http://" + l.Addr().String(), func() {}}
}

// hanging is a server that takes requests and never answers.
func hanging() away {
	l := get(net.Listen("tcp", "127.0.0.1:0"))
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
		}
	}()
	return away{"never answers", "http://" + l.Addr().String(), func() {
		_ = l.Close() // nothing of it is needed any more
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	}}
}
