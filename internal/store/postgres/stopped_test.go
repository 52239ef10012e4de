//go:build unix

package postgres_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// stoppedDSN names the database to a process that stops itself.
const stoppedDSN = "AMBER_TEST_STOPPED_DSN"

// TestStopsInside is no test but the other process of [TestStoppedReplica]: it writes, says in the middle of a
// transaction that it is there, waits for its input to end, and says what its caller gets. It does not stop itself: the
// kernel would let it run on for a while.
func TestStopsInside(t *testing.T) {
	dsn := os.Getenv(stoppedDSN)
	if dsn == "" {
		t.Skip("runs as a process of another test")
	}
	var armed atomic.Bool
	clock := func() time.Time {
		if armed.Load() && bytes.Contains(debug.Stack(), []byte("transact")) && armed.CompareAndSwap(true, false) {
			fmt.Println("inside")
			_, _ = io.Copy(io.Discard, os.Stdin)
		}
		return time.Now()
	}
	s := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader}))(t)
	defer func() { must.NoError(t, s.Close()) }()
	st := must.Get(s.Open(t.Context(), amber.DefaultTenant, "shared", postgres.Options{Clock: clock}))(t)
	defer func() { must.NoError(t, st.Close()) }()
	must.Do(t, must.Err(st.Write(t.Context(), amber.WriteRequest{Content: "written before"})))
	armed.Store(true)
	_, err := st.AppendTurn(t.Context(), amber.Turn{SessionID: "talk", Role: amber.RoleUser, Content: "cut off"})
	fmt.Printf("told: %s: %v: %s\n", amber.KindOf(err), err, amber.HintOf(err))
	must.Do(t, must.Err(st.Write(t.Context(), amber.WriteRequest{Content: "written after"})))
	fmt.Println("told: written after")
}

// standsStill starts a process that stops inside of a transaction, and returns when it stands. Goes lets it go on, and returns what it says.
func standsStill(t *testing.T, dsn string) (goes func() []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), must.Get(os.Executable())(t), "-test.run", "^TestStopsInside$", "-test.timeout", "2m")
	cmd.Env = append(os.Environ(), stoppedDSN+"="+dsn)
	out, in := bufio.NewReader(must.Get(cmd.StdoutPipe())(t)), must.Get(cmd.StdinPipe())(t)
	cmd.Stderr = os.Stderr
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	must.Equal(t, "what the process says first", must.Get(out.ReadString('\n'))(t), "inside\n")
	must.Do(t, cmd.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	must.Do(t, must.Err(syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)))
	must.Hold(t, status.Stopped(), "the process ended: %v", status)
	return func() (told []string) {
		must.Do(t, in.Close())
		must.Do(t, cmd.Process.Signal(syscall.SIGCONT))
		all := must.Get(io.ReadAll(out))(t)
		must.Do(t, cmd.Wait())
		for lines := bufio.NewScanner(bytes.NewReader(all)); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "told: "); ok {
				told = append(told, text)
			}
		}
		return told
	}
}

// holdsHead reports whether a session that waits for its program has the head of a log.
const holdsHead = `SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE a.state = 'idle in transaction' AND l.relation = 'amber.heads'::regclass AND l.mode = 'RowShareLock' AND a.datname = current_database()`

// A replica that stands still inside of a transaction keeps the others waiting for a few seconds, whatever lies between, and its own caller
// learns that nothing was changed.
func TestStoppedReplica(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"direct", "pooled"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Shared(t)
			name := postgrestest.Database(t, server)
			dsn := server.TCP(name)
			if way == "pooled" {
				dsn = pgtest.NewBouncer(t, server, pgtest.BouncerOptions{}).DSN(name)
			}
			st := must.Get(connect(t, dsn).Open(t.Context(), amber.DefaultTenant, "shared", postgres.Options{}))(t)
			goes := standsStill(t, dsn)
			var holds int
			must.Do(t, dial(t, server.DSN(name)).QueryRow(t.Context(), holdsHead).Scan(&holds))
			must.Equal(t, "sessions that hold the head", holds, 1)
			first, n := othersWrite(t, st, 10*time.Second)
			t.Logf("others: the first after %v, %d in 10 s", first, n)
			must.Hold(t, first < 6*time.Second, "the first write of another replica took %v, want less than 6 s", first)
			must.Hold(t, n > 100, "other replicas wrote %d times in 10 s, want more than 100", n)
			told := goes()
			must.Equal(t, "what the stopped one says", len(told), 2)
			must.Says(t, "the cut off write", told[0], "unreachable: ")
			must.Says(t, "the cut off write", told[0], "nothing was changed")
			must.Equal(t, "turns", len(must.Get(amber.LastTurns(t.Context(), st, "talk", 10))(t)), 0)
		})
	}
}

// othersWrite has eight writers write to an agent for some time. It returns when the first one was done, and how many were.
func othersWrite(t *testing.T, st *postgres.Store, d time.Duration) (first time.Duration, n int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	begun := time.Now()
	var wg sync.WaitGroup
	var done, at atomic.Int64
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if _, err := st.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("other writer %d, line %d", w, i)}); err == nil {
					at.CompareAndSwap(0, int64(time.Since(begun)))
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if at.Load() == 0 {
		return d, 0
	}
	return time.Duration(at.Load()), done.Load()
}

// A program that reads nothing of an answer which does not fit on the way to it is not idle to the server: the others get what
// it has locked after seconds. Work that goes on beside a transaction is not taken for one that stands still.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	db := must.Get(pgdb.Open(pgdb.Options{DSN: server.TCP(server.Database(t))}))(t)
	defer db.Close()
	lock := pgdb.Work{Setup: "SELECT pg_advisory_xact_lock(1)", Committed: func(context.Context, *pgdb.Conn) (bool, error) { return false, nil }}
	locked := make(chan struct{})
	reading, read := context.WithCancel(t.Context())
	defer read()
	lost := make(chan error, 1)
	go func() {
		w := lock
		w.Do = func(c *pgdb.Conn, _ []string) error {
			rows := c.PG().PgConn().Exec(t.Context(), "SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
			rows.NextResult()
			close(locked)
			<-reading.Done()
			return rows.Close()
		}
		lost <- db.Update(t.Context(), w)
	}()
	<-locked
	begun := time.Now()
	w := lock
	w.Do = func(*pgdb.Conn, []string) error { return nil }
	must.Do(t, db.Update(t.Context(), w))
	t.Logf("locked after %v", time.Since(begun))
	read()
	must.Error(t, "the unread transaction", <-lost)

	w.Do = func(c *pgdb.Conn, _ []string) error {
		sleep := c.Awake(t.Context())
		time.Sleep(6 * time.Second) // longer than a silent program is waited for
		sleep()
		return c.Flush(t.Context())
	}
	must.Do(t, db.Update(t.Context(), w))
}

// Every statement after the one that learns why the server ended a connection says so, too: callers share transactions,
// and the error of a later one may be all that the others get.
func TestWhyAConnectionEnded(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	db := must.Get(pgdb.Open(pgdb.Options{DSN: server.TCP(server.Database(t))}))(t)
	defer db.Close()
	one := "SELECT 1"
	var n int
	for name, ask := range map[string]func(context.Context, *pgdb.Conn) error{
		"exec":      func(ctx context.Context, c *pgdb.Conn) error { return must.Err(c.Exec(ctx, one)) },
		"row":       func(ctx context.Context, c *pgdb.Conn) error { return c.Row(ctx, one).Scan(&n) },
		"each":      func(ctx context.Context, c *pgdb.Conn) error { return c.Each(ctx, one, nil, nil) },
		"script":    func(ctx context.Context, c *pgdb.Conn) error { return c.Script(ctx, one) },
		"flush":     func(ctx context.Context, c *pgdb.Conn) error { return errors.Join(c.Later(ctx, one), c.Flush(ctx)) },
		"savepoint": func(ctx context.Context, c *pgdb.Conn) error { return must.Err(c.Exec(ctx, "ROLLBACK TO one")) },
	} {
		var first, second error
		last := db.Update(t.Context(), pgdb.Work{Do: func(c *pgdb.Conn, _ []string) error {
			first = must.Err(c.Exec(t.Context(), "SELECT pg_terminate_backend(pg_backend_pid())"))
			second = ask(t.Context(), c)
			return second
		}})
		for what, err := range map[string]error{"the statement that ends it": first, "the next one": second, "the transaction": last} {
			must.Equal(t, name+": code of "+what, pgerr.Code(err), "57P01")
		}
	}
}

// Where the server, or the pooler before it, has no connection left, a program gets an error that says so, and not that
// another writer is in its way.
func TestNoConnectionLeft(t *testing.T) {
	t.Parallel()
	server := pgtest.New(t, pgtest.Options{Settings: map[string]string{"max_connections": "6", "superuser_reserved_connections": "0", "max_wal_senders": "0"}})
	name := server.Database(t)
	var held []*pgx.Conn
	for range 6 {
		c, err := pgx.Connect(t.Context(), server.DSN(name))
		if err != nil {
			break
		}
		held = append(held, c)
	}
	_, err := postgres.Connect(t.Context(), postgres.ServerOptions{DSN: server.TCP(name), Clock: time.Now, Random: rand.Reader})
	must.Kind(t, "connect", err, amber.KindUnreachable, "too many clients")
	must.Says(t, "hint", amber.HintOf(err), "max_connections")
	for _, c := range held {
		must.Do(t, c.Close(t.Context()))
	}
}
