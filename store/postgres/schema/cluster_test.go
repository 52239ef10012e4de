//go:build unix

package schema

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/must"
)

var (
	socket    string
	databases atomic.Int64
)

func TestMain(m *testing.M) {
	code, err := withCluster(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withCluster(run func() int) (code int, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		return 0, fmt.Errorf("no PostgreSQL in /usr/lib/postgresql: install the package postgresql")
	}
	bin := slices.Max(found)
	if socket, err = os.MkdirTemp("/tmp", "ambpg-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(socket)
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return 0, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(socket, uid, gid); err != nil {
			return 0, err
		}
	}
	data := filepath.Join(socket, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "--no-sync", "-E", "UTF8", "--locale=C", "-A", "trust", "-U", "postgres")
	initdb.SysProcAttr, initdb.Dir = as, socket
	if out, err := initdb.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("initdb: %w: %s", err, out)
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", socket, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "log_min_messages=fatal")
	server.SysProcAttr, server.Dir = as, socket
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, address("postgres", "postgres"))
		if err == nil {
			_ = c.Close(ctx)
			return run(), nil
		}
		if ctx.Err() != nil {
			return 0, fmt.Errorf("the server does not start: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func address(database, role string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s sslmode=disable", socket, role, database)
}

// connect opens a connection that the test closes.
func connect(t testing.TB, database, role string) *pgx.Conn {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), address(database, role)))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		must.NoError(t, c.Close(ctx))
	})
	return c
}

// database makes an empty database, and returns its name and a connection to it.
func database(t testing.TB, options string) (string, *pgx.Conn) {
	t.Helper()
	name := fmt.Sprintf("t%d", databases.Add(1))
	do(t, connect(t, "postgres", "postgres"), "CREATE DATABASE "+name+" "+options)
	return name, connect(t, name, "postgres")
}

func do(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// list returns the one column of a query.
func list[T any](t testing.TB, q Querier, sql string, args ...any) []T {
	t.Helper()
	rows, err := q.Query(t.Context(), sql, args...)
	must.Do(t, err)
	return must.Get(pgx.CollectRows(rows, pgx.RowTo[T]))(t)
}
