// Package pgtest runs real PostgreSQL servers for tests, and what stands between a server and a
// program: a standby, PgBouncer, and a proxy that cuts connections between two messages.
// It is for tests.
//
// A package whose tests share one server says
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
// and asks for a database with pgtest.Shared(t).Database(t). A test that kills its server has
// one of its own, from [New].
//
// The programs are those of Debian's packages in /usr/lib/postgresql, of the newest version, or
// those that pg_config names, or those in the folder that AMBER_POSTGRES_BIN names. AMBER_TEST_POSTGRES is the DSN of a running server that [Shared]
// takes instead. Without a server, tests are skipped; with AMBER_POSTGRES=required they fail.
package pgtest

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"
)

// The names of the environment variables that are read.
const (
	envDSN  = "AMBER_TEST_POSTGRES"
	envBin  = "AMBER_POSTGRES_BIN"
	envNeed = "AMBER_POSTGRES"
)

// How long single steps may take. They are long enough for a crowded machine.
const (
	startLimit = time.Minute
	stopLimit  = 15 * time.Second
	callLimit  = 30 * time.Second
	pollEvery  = 20 * time.Millisecond
)

// shared is the one server of a test binary. It is the only state of the package: tests of a
// binary have nothing else in common that could hold it.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Main runs the tests and then removes the server that [Shared] started. It returns the
// exit code.
func Main(m interface{ Run() int }) int {
	code := m.Run()
	if s := shared.server; s != nil {
		if err := s.Close(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = max(code, 1)
		}
	}
	return code
}

// Shared returns the server that all tests of the binary share. It is started by the first
// call, with the zero [Options]. Tests must not stop it.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	shared.once.Do(func() {
		if dsn := os.Getenv(envDSN); dsn != "" {
			shared.server, shared.err = external(dsn)
			return
		}
		shared.server, shared.err = Start(context.Background(), Options{})
	})
	need(tb, shared.err)
	return shared.server
}

// New starts a server for one test. It is removed with everything it holds when the test ends;
// where the test failed, the end of the server's log is shown.
func New(tb testing.TB, o Options) *Server {
	tb.Helper()
	s, err := Start(tb.Context(), o)
	need(tb, err)
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of the log of %s:\n%s", s.dir.path, s.Log())
		}
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Missing is the error of a program that is not installed.
type Missing struct {
	Program string // as "PostgreSQL"
	Detail  string // where it was looked for, and what to install
}

func (m *Missing) Error() string { return "no " + m.Program + ": " + m.Detail }

// need ends the test when err is an error. A test that lacks a program is skipped, unless
// AMBER_POSTGRES=required.
func need(tb testing.TB, err error) {
	tb.Helper()
	var missing *Missing
	switch {
	case err == nil:
	case errors.As(err, &missing) && os.Getenv(envNeed) != "required":
		tb.Skip(missing.Error())
	default:
		tb.Fatal(err)
	}
}
