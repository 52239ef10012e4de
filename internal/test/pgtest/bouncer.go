package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
)

// BouncerOptions say what a pooler is like.
type BouncerOptions struct {
	// PoolSize is how many connections to the server each database has; 4 by default.
	PoolSize int
	// Users may come in beside postgres.
	Users []string
}

// Bouncer is PgBouncer in transaction mode: each transaction of a client may get another
// connection to the server. It leads to the database of the same name.
type Bouncer struct {
	options BouncerOptions
	dir     *folder
	port    int
	done    <-chan struct{}
}

// NewBouncer starts PgBouncer before a server. It ends with the test.
func NewBouncer(tb testing.TB, to *Server, o BouncerOptions) *Bouncer {
	tb.Helper()
	bin, err := findBouncer("/usr/sbin")
	need(tb, err)
	if o.PoolSize == 0 {
		o.PoolSize = 4
	}
	b := &Bouncer{options: o}
	b.dir, err = newFolder()
	need(tb, err)
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of the log of PgBouncer:\n%s", b.Log())
		}
		if err := b.Stop(); err != nil {
			tb.Error(err)
		}
	})
	need(tb, b.start(tb.Context(), bin, to))
	return b
}

// start tries ports until one is still free when PgBouncer takes it.
func (b *Bouncer) start(ctx context.Context, bin string, to *Server) (err error) {
	for range 8 {
		if b.port, err = freePort(); err != nil {
			return err
		}
		if err = b.configure(to); err != nil {
			return err
		}
		if err = b.launch(ctx, bin); err == nil || !strings.Contains(b.Log(), "Address already in use") {
			return err
		}
		if err = os.Truncate(b.dir.log(), 0); err != nil {
			return err
		}
	}
	return err
}

func (b *Bouncer) iniFile() string { return filepath.Join(b.dir.path, "bouncer.ini") }

// configure writes the files of PgBouncer.
func (b *Bouncer) configure(to *Server) error {
	server, err := pgx.ParseConfig(to.TCP("postgres"))
	if err != nil {
		return err
	}
	target := fmt.Sprintf("host=%s port=%d", server.Host, server.Port)
	if to.given != "" {
		target += " user=" + quoted(server.User)
		if server.Password != "" {
			target += " password=" + quoted(server.Password)
		}
	}
	var users strings.Builder
	for _, u := range append([]string{"postgres"}, b.options.Users...) {
		fmt.Fprintf(&users, "\"%s\" \"\"\n", u)
	}
	ini := strings.Join([]string{
		"[databases]",
		"* = " + target,
		"[pgbouncer]",
		"listen_addr = 127.0.0.1",
		"listen_port = " + strconv.Itoa(b.port),
		"unix_socket_dir =",
		"auth_type = trust",
		"auth_file = " + b.dir.path + "/users",
		"admin_users = postgres",
		"pool_mode = transaction",
		"default_pool_size = " + strconv.Itoa(b.options.PoolSize),
		"max_client_conn = 500",
		"query_wait_timeout = 30",
		"server_connect_timeout = 5",
		"server_login_retry = 0.1", // the default is 15 s, during which a server that came back is not asked
		"",
	}, "\n")
	for path, text := range map[string]string{filepath.Join(b.dir.path, "users"): users.String(), b.iniFile(): ini} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
		if err := b.dir.give(path); err != nil {
			return err
		}
	}
	return nil
}

// launch starts PgBouncer and waits until its console answers.
func (b *Bouncer) launch(ctx context.Context, bin string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var err error
	if _, b.done, err = b.dir.start(bin, b.iniFile()); err != nil {
		return err
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err = b.Console(ctx, "SHOW VERSION"); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-b.done:
			return amber.Errorf(amber.KindInternal, "pgtest.bouncer", b.dir.path, "PgBouncer ended while it was started:\n%s", b.Log())
		case <-ctx.Done():
			return amber.Errorf(amber.KindUnreachable, "pgtest.bouncer", b.dir.path, "PgBouncer does not answer: %w\n%s", err, b.Log())
		}
	}
}

// DSN names a database of the server behind PgBouncer.
func (b *Bouncer) DSN(database string) string {
	return dsn("127.0.0.1", strconv.Itoa(b.port), database)
}

// Addr is where PgBouncer listens, for [NewProxy].
func (b *Bouncer) Addr() string { return loopback(b.port) }

// Console runs a command of the administrator, as RELOAD, PAUSE or KILL.
func (b *Bouncer) Console(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	conn, err := pgconn.Connect(ctx, b.DSN("pgbouncer"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, command).ReadAll() // the console knows only simple queries
	return err
}

// Point leads new transactions to another server. Those that run stay where they are.
func (b *Bouncer) Point(ctx context.Context, to *Server) error {
	if err := b.configure(to); err != nil {
		return err
	}
	return b.Console(ctx, "RELOAD")
}

// Log returns the end of what PgBouncer wrote into its log.
func (b *Bouncer) Log() string { return tail(b.dir.log()) }

// Stop kills PgBouncer and removes its folder.
func (b *Bouncer) Stop() error {
	err := b.dir.remove()
	if b.done != nil {
		<-b.done
	}
	return err
}
