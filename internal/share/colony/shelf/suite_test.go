package shelf_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// place is where vaults lie: in folders, or with servers in the rows of a database, where handles take turns.
type place struct {
	servers []*postgres.Server
	opened  *atomic.Int64
}

// rowsPrefix is before the name of an agent of a database, where the folder of a home is otherwise.
const rowsPrefix = "rows of "

var agents atomic.Int64

// absent names an agent that is not there.
func (p place) absent(t testing.TB) string {
	if p.servers == nil {
		return t.TempDir()
	}
	return rowsPrefix + fmt.Sprint("agent-", agents.Add(1))
}

// made returns an agent that exists and is empty.
func (p place) made(t testing.TB) string {
	t.Helper()
	if p.servers == nil {
		return madeHome(t)
	}
	name := p.absent(t)
	store := must.Get(p.servers[0].Open(t.Context(), amber.DefaultTenant, amber.AgentID(strings.TrimPrefix(name, rowsPrefix)), postgres.Options{}))(t)
	must.Do(t, store.Close())
	return name
}

// open returns the vault of an agent.
func (p place) open(t testing.TB, dir string, options ...func(*shelf.Options)) tester {
	t.Helper()
	if p.servers == nil {
		return open(t, dir, options...)
	}
	o := shelf.Options{Clock: today}
	for _, f := range options {
		f(&o)
	}
	server := p.servers[int(p.opened.Add(1))%len(p.servers)]
	return tester{must.Get(shelf.OpenRows(server.Vault(amber.DefaultTenant, amber.AgentID(strings.TrimPrefix(dir, rowsPrefix))), o))(t), t, dir}
}

// fresh returns the vault of an agent that was just made.
func (p place) fresh(t testing.TB, options ...func(*shelf.Options)) tester {
	t.Helper()
	return p.open(t, p.made(t), options...)
}

// connect opens a database as one more program.
func connect(t testing.TB, dsn string) *postgres.Server {
	t.Helper()
	s := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s
}

// database returns the address of a database with tables and no rows.
func database(t testing.TB) string {
	t.Helper()
	s := pgtest.Shared(t)
	return s.TCP(postgrestest.Database(t, s))
}

// TestSuite holds vaults in folders and in rows to the same promises: those of every vault, and those of this package.
func TestSuite(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	for name, p := range map[string]place{"folder": {}, "rows": {[]*postgres.Server{connect(t, dsn), connect(t, dsn)}, new(atomic.Int64)}} {
		t.Run(name, func(t *testing.T) {
			t.Run("backend", func(t *testing.T) {
				colonytest.Run(t, func(t *testing.T) colony.Backend { return p.fresh(t).Shelf })
			})
			for what, test := range map[string]func(*testing.T, place){
				"status":               testStatus,
				"limits":               testLimits,
				"times":                testTimes,
				"move and copy":        testMoveAndCopy,
				"conditions":           testConditions,
				"append":               testAppend,
				"folders":              testFolders,
				"list is a prefix":     testListIsAPrefix,
				"no agent":             testNoAgent,
				"one wins":             testOneWins,
				"quota holds together": testQuotaHoldsTogether,
			} {
				t.Run(what, func(t *testing.T) { test(t, p) })
			}
		})
	}
}
