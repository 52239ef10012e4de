package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	seed      = flag.Uint64("seed", 0, "run one history with this seed")
	histories = flag.Int("histories", 2, "how many random histories to run")
	wholly    = flag.Bool("postgres.all", false, "run every check through a pooler and by four programs, not a third of them")
)

// connect opens a database of the shared server with tables.
func connect(t testing.TB, dsn string, change ...func(*postgres.ServerOptions)) *postgres.Server {
	t.Helper()
	o := postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader}
	for _, c := range change {
		c(&o)
	}
	s := must.Get(postgres.Connect(t.Context(), o))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s
}

// fresh returns the address of a new database of the shared server, with its tables.
func fresh(t testing.TB) string {
	t.Helper()
	s := pgtest.Shared(t)
	return s.DSN(postgrestest.Database(t, s))
}

// place is an agent of a database that the suite opens and closes; servers take turns.
type place struct {
	servers []*postgres.Server
	agent   amber.AgentID
	opened  *atomic.Int64
	plain   bool
}

var places atomic.Int64

func (p place) Open(ctx context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	server := p.servers[int(p.opened.Add(1))%len(p.servers)]
	s, err := server.Open(ctx, amber.DefaultTenant, p.agent, postgres.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue, Plain: p.plain})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return s.Store(), s, nil
}

func (place) Remove() error { return nil } // it goes with its database

func backend(servers ...*postgres.Server) storetest.Backend {
	return storetest.Backend{Name: "postgres", Durable: true, Shared: true, LogsAll: true, Fresh: func() (storetest.Place, error) {
		return place{servers, amber.AgentID(fmt.Sprintf("agent-%d", places.Add(1))), new(atomic.Int64), false}, nil
	}}
}

// plain is a backend that asks one question at a time.
func plain(server *postgres.Server) storetest.Backend {
	return storetest.Backend{Name: "postgres", Durable: true, Shared: true, LogsAll: true, Fresh: func() (storetest.Place, error) {
		return place{[]*postgres.Server{server}, amber.AgentID(fmt.Sprintf("agent-%d", places.Add(1))), new(atomic.Int64), true}, nil
	}}
}

// model is the backend histories are compared with.
func model() storetest.Backend {
	return storetest.Fleeting("inmem", func(env storetest.Env) (amber.Store, error) {
		s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Device: "model", Incarnation: "model", Queue: env.Queue, LogAll: true})
		if err != nil {
			return amber.Store{}, err
		}
		return s.Store(), nil
	})
}

// suite runs the checks that one of so many has, beginning with one.
func suite(t *testing.T, b storetest.Backend, first, of int) {
	t.Helper()
	for i, c := range storetest.Checks() {
		if i%of != first {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			must.NoError(t, c.Run(t.Context(), b)) // one that was not run is an error
		})
	}
}

// ninth is how many parts the checks are cut into where they run again in another way.
func ninth() int {
	if *wholly {
		return 1
	}
	return 9
}

func TestSuite(t *testing.T) {
	t.Parallel()
	suite(t, backend(connect(t, fresh(t))), 0, 1)
}

// TestSuiteThroughPooler has a pool of four connections in transaction mode between: each transaction may get
// another one. Every statement that ran is then prepared, and run for those whom it must not serve.
func TestSuiteThroughPooler(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	name := postgrestest.Database(t, s)
	proxy := pgtest.NewProxy(t, pgtest.NewBouncer(t, s, pgtest.BouncerOptions{PoolSize: 4}).Addr())
	ran := record(proxy)
	t.Run("checks", func(t *testing.T) {
		server := connect(t, proxy.DSN(name))
		useVault(t, server)
		suite(t, backend(server), 1%ninth(), ninth())
	})
	t.Run("prepared", func(t *testing.T) { prepareAll(t, s.DSN(name), ran) })
	t.Run("isolated", func(t *testing.T) { isolated(t, s.DSN(name), ran) })
}

// useVault runs every statement about the files of vaults, which the suite does not know.
func useVault(t *testing.T, server *postgres.Server) {
	t.Helper()
	must.Do(t, must.Err(server.Open(t.Context(), amber.DefaultTenant, "vault", postgres.Options{})))
	first, second := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	must.Do(t, server.Vault(amber.DefaultTenant, "vault").Update(t.Context(), "test", func(tx vaultrow.Tx) error {
		list, _, err := tx.List()
		must.Equal(t, "files", len(list), 0)
		err = errors.Join(err, tx.Put(first, []byte("one")), tx.Put(second, make([]byte, vaultrow.PieceBytes+1)), must.Err(tx.Remove(first)))
		b, found, rerr := tx.Read(second)
		must.Equal(t, "found", found, true)
		must.Equal(t, "bytes", len(b), vaultrow.PieceBytes+1)
		return errors.Join(err, rerr)
	}))
}

// TestSuiteOfFour has four programs on one database that take turns in opening stores.
func TestSuiteOfFour(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	suite(t, backend(connect(t, dsn), connect(t, dsn), connect(t, dsn), connect(t, dsn)), 2%ninth(), ninth())
}

// TestSuitePlainly has each question asked by itself, as writes that go alone do.
func TestSuitePlainly(t *testing.T) {
	t.Parallel()
	suite(t, plain(connect(t, fresh(t))), 3%ninth(), ninth())
}

func TestHistories(t *testing.T) {
	t.Parallel()
	b := backend(connect(t, fresh(t)))
	seeds := []uint64{*seed}
	if *seed == 0 {
		seeds = nil
		for range *histories {
			seeds = append(seeds, mathrand.Uint64())
		}
	}
	for _, s := range seeds {
		if err := storetest.History(t.Context(), s, storetest.HistoryOptions{}, model(), b); err != nil {
			t.Fatalf("repeat with -seed %d: %v", s, err)
		}
	}
}

func TestRecallQuality(t *testing.T) {
	t.Parallel()
	found, total, misses, err := storetest.RecallQuality(t.Context(), backend(connect(t, fresh(t))))
	must.Do(t, err)
	t.Logf("the right memory is among the first 5 for %d of %d questions", found, total)
	must.Hold(t, total >= 100 && found >= 85, "found %d of %d; missed:\n%v", found, total, misses)
}

// A pooler that keeps no prepared statements is noticed.
func TestThroughAPooler(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	name := postgrestest.Database(t, s)
	b := pgtest.NewBouncer(t, s, pgtest.BouncerOptions{PoolSize: 2})
	srv := connect(t, b.DSN(name))
	st := must.Get(srv.Open(t.Context(), amber.DefaultTenant, "pooled", postgres.Options{}))(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 8 {
				_, err := st.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprintf("pooled %d %d", i, k)})
				must.NoError(t, err)
				_, err = st.Recall(t.Context(), amber.Query{Text: "pooled"})
				must.NoError(t, err)
			}
		})
	}
	wg.Wait()
	must.Equal(t, "memories", must.Get(st.Stats(t.Context()))(t).Memories, 64)
}
