package client_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

// everybody grants everything to every caller.
type everybody struct{}

func (everybody) Grant(context.Context, string) (wire.Grant, error) {
	return wire.Grant{Scopes: wire.TokenScopes()}, nil
}

// one is the agents of a server that has one.
type one struct{ agent *op.Agent }

func (o one) Agent(_ context.Context, tenant amber.TenantID, agent amber.AgentID, _ bool) (*op.Agent, func(), error) {
	if tenant != o.agent.Tenant || agent != o.agent.ID {
		return nil, nil, op.NotThere()
	}
	return o.agent, func() {}, nil
}

// kept remembers answers for as long as the server runs.
type kept struct {
	mu  sync.Mutex
	all map[wire.AnswerKey]wire.Answer
}

func (k *kept) BeginAnswer(_ context.Context, key wire.AnswerKey, _ string, _ bool) (wire.Answer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, ok := k.all[key]
	if ok && !a.Done {
		return a, amber.Errorf(amber.KindBusy, "begin answer", "", "it is being answered")
	}
	if !ok {
		k.set(key, a)
	}
	return a, nil
}

func (k *kept) FinishAnswer(_ context.Context, key wire.AnswerKey, status int, body []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set(key, wire.Answer{Done: true, Status: status, Body: body})
	return nil
}

func (k *kept) set(key wire.AnswerKey, a wire.Answer) {
	if k.all == nil {
		k.all = map[wire.AnswerKey]wire.Answer{}
	}
	k.all[key] = a
}

func (k *kept) AbandonAnswer(_ context.Context, key wire.AnswerKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, key)
	return nil
}

func (*kept) LeaveAnswer(wire.AnswerKey) {}

// served is a server that runs, and a client of it.
type served struct {
	url    string
	client *client.Client
	agent  *client.Agent
	http   *http.Server
	over   chan error
	own    io.Closer // the store behind it; nil: another owner closes it
}

// serve serves an agent on a port of this machine.
func serve(a *op.Agent, own io.Closer) (*served, error) {
	a.Tenant, a.ID = amber.DefaultTenant, amber.DefaultAgent
	api, err := httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: one{a}}, Authenticator: everybody{}, Clock: time.Now, Random: rand.Reader, Answers: &kept{},
	})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &served{url: "http://" + l.Addr().String(), http: api.NewServer(), over: make(chan error, 1), own: own}
	go func() { s.over <- s.http.Serve(l) }()
	s.client, err = client.New(client.Options{URL: s.url})
	if err == nil {
		s.agent, err = s.client.Agent(a.Tenant, a.ID)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the server and closes its store.
func (s *served) Close() error {
	var errs []error
	if s.client != nil {
		errs = append(errs, s.client.Close())
	}
	errs = append(errs, s.http.Close())
	if err := <-s.over; !errors.Is(err, http.ErrServerClosed) {
		errs = append(errs, err)
	}
	if s.own != nil {
		errs = append(errs, s.own.Close())
	}
	return errors.Join(errs...)
}

// serveStore serves a store for a test.
func serveStore(t *testing.T, store amber.Store) *served {
	t.Helper()
	s := must.Get(serve(&op.Agent{Store: store, Random: rand.Reader}, nil))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s
}

// newStore is an empty store in memory.
func newStore(t *testing.T) amber.Store {
	t.Helper()
	s := must.Get(inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader}))(t)
	return s.Store()
}

// remote is a backend behind a server: every open of a place starts one.
func remote(b storetest.Backend) storetest.Backend {
	fresh := b.Fresh
	b.Name += " over HTTP"
	b.Fresh = func() (storetest.Place, error) {
		p, err := fresh()
		return remotePlace{p}, err
	}
	return b
}

type remotePlace struct{ storetest.Place }

func (p remotePlace) Open(ctx context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	store, closer, err := p.Place.Open(ctx, env)
	if err != nil {
		return amber.Store{}, nil, err
	}
	s, err := serve(&op.Agent{Store: store, Random: env.Random}, closer)
	if err != nil {
		return amber.Store{}, nil, errors.Join(err, closer.Close())
	}
	out, err := s.agent.Store(ctx)
	if err != nil {
		return amber.Store{}, nil, errors.Join(err, s.Close())
	}
	return out, s, nil
}

// inMemory is the model as a backend.
func inMemory() storetest.Backend {
	return storetest.Backend{Name: "inmem", Fresh: func() (storetest.Place, error) { return nowhere{}, nil }}
}

// nowhere is the place of stores that do not last.
type nowhere struct{}

func (nowhere) Open(_ context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return s.Store(), io.NopCloser(nil), nil
}

func (nowhere) Remove() error { return nil }

// onDisk is SQLite as a backend.
func onDisk(t *testing.T) storetest.Backend {
	root := t.TempDir()
	return storetest.Backend{Name: "sqlite", Durable: true, Shared: true, Fresh: func() (storetest.Place, error) {
		dir, err := os.MkdirTemp(root, "place")
		return folder{dir}, err
	}}
}

// folder is an agent folder.
type folder struct{ dir string }

func (f folder) Open(ctx context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	h, _, err := home.Open(filepath.Join(f.dir, "home"), home.Options{Clock: env.Clock, Random: env.Random})
	if err != nil {
		return amber.Store{}, nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return amber.Store{}, nil, err
	}
	s, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return s.Store(), s, nil
}

func (f folder) Remove() error { return os.RemoveAll(f.dir) }
