package openviking_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
)

// side is an OpenViking server that stands beside the stores of a suite. Each place is a user of
// it.
type side struct {
	url, root string
	users     atomic.Int64
	patient   bool   // wait for vectors
	work      string // the folder with the files of the server, where that is known
}

// place is a folder with a primary, and a user of the server.
type place struct {
	*side
	dir, user, key string
}

func (p place) Open(ctx context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	h, _, err := home.Open(filepath.Join(p.dir, "home"), home.Options{Clock: env.Clock, Random: env.Random})
	if err != nil {
		return amber.Store{}, nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return amber.Store{}, nil, err
	}
	primary, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	client, err := api.New(api.Options{URL: p.url, Key: func() (string, error) { return p.key, nil }})
	if err != nil {
		return amber.Store{}, nil, errors.Join(err, primary.Close())
	}
	s, err := openviking.New(openviking.Options{
		Primary: primary.Parts(), Cursors: primary, Server: client, URL: p.url, Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent,
		MinScore: 0.65, Clock: env.Clock,
	})
	if err != nil {
		return amber.Store{}, nil, errors.Join(err, primary.Close())
	}
	parts := s.Parts()
	parts.LongTerm, parts.Eraser = fed{s, p.patient}, fed{s, p.patient}
	return amber.NewStore(parts), closers{client, primary}, nil
}

func (p place) Remove() error { return os.RemoveAll(p.dir) }

// fed is a store whose server has everything before a question.
type fed struct {
	*openviking.Store
	patient bool
}

func (f fed) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if _, err := f.Feed(ctx, openviking.Budget{Force: true}); err != nil && amber.KindOf(err) != amber.KindBusy {
		return amber.RecallResult{}, fmt.Errorf("feed: %w", err)
	}
	if f.patient {
		if err := f.Await(ctx, nil); err != nil {
			return amber.RecallResult{}, fmt.Errorf("wait for vectors: %w", err)
		}
	}
	return f.Store.Recall(ctx, q)
}

// Erase leaves out what the server itself keeps.
func (f fed) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	r, err := f.Store.Erase(ctx, id)
	r.Remaining = slices.DeleteFunc(r.Remaining, func(p string) bool { return strings.Contains(p, "vector store of OpenViking") })
	return r, err
}

type closers []io.Closer

func (c closers) Close() (err error) {
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}

// fakeSide is a fake with so many dimensions that different words are not taken for one another.
func fakeSide(t *testing.T) *side {
	t.Helper()
	f := ovfake.New(ovfake.Options{Embedder: ovfake.Embedder{Dimensions: 4096, Synonyms: ordinary()}})
	t.Cleanup(f.Close)
	return &side{url: f.Start(), root: f.RootKey()}
}

// ordinary are words that mean nothing to the embedder, as to one that people use.
func ordinary() map[string]string {
	out := map[string]string{}
	for _, w := range strings.Fields("a an and are do does for how i in is it its of on or the to was what where which who why with") {
		out[w] = ""
	}
	return out
}

func (s *side) backend(t *testing.T) storetest.Backend {
	t.Helper()
	root := must.Get(api.New(api.Options{URL: s.url, Key: func() (string, error) { return s.root, nil }}))(t)
	t.Cleanup(func() { _ = root.Close() })
	return storetest.Backend{Name: "openviking", Durable: true, Shared: true, Fresh: func() (storetest.Place, error) {
		user := fmt.Sprintf("user-%d", s.users.Add(1))
		key, err := root.CreateUser(t.Context(), "default", user)
		if err != nil {
			return nil, err
		}
		dir, err := os.MkdirTemp(t.TempDir(), "place")
		return place{s, dir, user, key}, err
	}}
}

// A store with a server beside it keeps every promise of a store.
func TestSuite(t *testing.T) {
	t.Parallel()
	b := fakeSide(t).backend(t)
	for _, c := range storetest.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if err := c.Run(t.Context(), b); err != nil && !errors.Is(err, storetest.ErrNotRun) {
				t.Error(err)
			}
		})
	}
}

// Recall finds the answers to the questions of the recall set as well as a store without a server.
func TestRecallQuality(t *testing.T) {
	t.Parallel()
	found, total, misses, err := storetest.RecallQuality(t.Context(), fakeSide(t).backend(t))
	must.Do(t, err)
	t.Logf("the right memory is among the first 5 for %d of %d questions", found, total)
	must.Hold(t, total >= 100 && found >= 85, "found %d of %d; missed:\n%v", found, total, misses)
}

// realVenv is an environment with a real OpenViking. Without one, the test is skipped.
func realVenv(t *testing.T) string {
	t.Helper()
	venv := os.Getenv("AMBER_OPENVIKING")
	if venv == "" {
		fmt.Println("=== NOT RUN: " + t.Name() + " needs a real OpenViking; make test-openviking has one")
		t.Skip("no real OpenViking")
	}
	return venv
}

// realSide is a real server with the same embedder.
func realSide(t *testing.T) *side {
	t.Helper()
	venv := realVenv(t)
	embedder := httptest.NewServer(&ovfake.Stub{Embedder: ovfake.Embedder{Dimensions: 4096, Synonyms: ordinary()}})
	t.Cleanup(embedder.Close)
	server := must.Get(ovtest.Start(t.Context(), ovtest.Setup{Venv: venv, Dir: t.TempDir(), Embedder: embedder.URL, Dimensions: 4096}))(t)
	t.Cleanup(server.Stop)
	return &side{url: server.URL, root: server.RootKey, patient: true, work: server.Workspace}
}

// TestRealSuite is TestSuite with a real server. It waits for vectors before each question.
func TestRealSuite(t *testing.T) {
	b := realSide(t).backend(t)
	for _, c := range storetest.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(t.Context(), b); err != nil && !errors.Is(err, storetest.ErrNotRun) {
				t.Error(err)
			}
		})
	}
}
