package pgtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
)

// Options say what a server is like.
type Options struct {
	// Durable makes what the server acknowledges survive a crash of the machine. It is off for
	// speed where a test does not kill the server.
	Durable bool
	// ICU is a locale as en-US, whose rules the databases sort by. By default they sort by bytes.
	ICU string
	// Settings are lines of postgresql.conf.
	Settings map[string]string
}

// Server is one PostgreSQL cluster. It listens on a socket in its folder and on a port of the
// loopback; the superuser postgres comes in without a password. Its methods may be called at the
// same time, except those that start and end it.
type Server struct {
	given   string // the DSN of a server that was there before; all below is empty then
	options Options
	bin     string // the folder of the programs
	dir     *folder
	port    int

	templates sync.Map // by kind, of [Server.Copy]

	mu       sync.Mutex
	cmd      *exec.Cmd       // the postmaster
	done     <-chan struct{} // closed when the postmaster has ended
	standbys []*Server
}

// Start makes a cluster and starts it. The caller has to call Close. The error is [*Missing]
// where PostgreSQL is not installed.
func Start(ctx context.Context, o Options) (*Server, error) {
	bin, err := findServer(debian)
	if err != nil {
		return nil, err
	}
	return build(ctx, &Server{options: o, bin: bin}, func(s *Server) error {
		args := []string{"-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"}
		if o.ICU != "" {
			args = append(args, "--locale-provider=icu", "--icu-locale="+o.ICU)
		}
		return s.dir.run(ctx, filepath.Join(bin, "initdb"), args...)
	})
}

// build gives a server its folder, has fill make the cluster there, and starts it.
func build(ctx context.Context, s *Server, fill func(*Server) error) (*Server, error) {
	var err error
	if s.dir, err = newFolder(); err != nil {
		return nil, err
	}
	if err = fill(s); err == nil {
		err = s.first(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// first starts the server on a free port. Another program may take the port first; then the
// next one is tried.
func (s *Server) first(ctx context.Context) (err error) {
	for range 8 {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.configure(); err != nil {
			return err
		}
		if err = s.launch(ctx); err == nil || !strings.Contains(s.Log(), "Address already in use") {
			return err
		}
		if err = os.Truncate(s.dir.log(), 0); err != nil {
			return err
		}
	}
	return err
}

// freePort returns a port on which nothing listens. It lies below those that the system gives
// to outgoing connections, so that a server that was killed gets it again.
func freePort() (int, error) {
	var last error
	for range 100 {
		port := 15000 + rand.IntN(17000)
		l, err := net.Listen("tcp", loopback(port))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, last
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// configure writes postgresql.conf.
func (s *Server) configure() error {
	on := "off"
	if s.options.Durable {
		on = "on"
	}
	settings := map[string]string{
		"listen_addresses":           "127.0.0.1",
		"port":                       strconv.Itoa(s.port),
		"unix_socket_directories":    s.dir.path,
		"cluster_name":               filepath.Base(s.dir.path), // every process shows it; see pids
		"dynamic_shared_memory_type": "mmap",                    // files in the folder, which go with it
		"log_line_prefix":            "%m [%p] %d ",
		"wal_keep_size":              "256MB", // a standby that was stopped finds its place again
		"fsync":                      on,
		"full_page_writes":           on,
		"synchronous_commit":         on,
	}
	maps.Copy(settings, s.options.Settings)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s = %s\n", name, quoted(settings[name]))
	}
	return s.write(filepath.Join(s.data(), "postgresql.conf"), text.String())
}

// write writes a file of the folder that the server can read and replace.
func (s *Server) write(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return s.dir.give(path)
}

func quoted(value string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(value, `\`, `\\`), "'", "''") + "'"
}

func (s *Server) data() string { return filepath.Join(s.dir.path, "data") }

// launch starts the postmaster and waits until the server accepts sessions.
func (s *Server) launch(ctx context.Context) error {
	cmd, done, err := s.dir.start(filepath.Join(s.bin, "postgres"), "-D", s.data())
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.cmd, s.done = cmd, done
	s.mu.Unlock()
	return s.ready(ctx, done)
}

// ready waits until the server accepts a session: while it recovers, it refuses them.
func (s *Server) ready(ctx context.Context, done <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := s.exec(ctx, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-done:
			return amber.Errorf(amber.KindInternal, "pgtest.start", s.dir.path, "the server ended while it was started:\n%s", s.Log())
		case <-ctx.Done():
			return amber.Errorf(amber.KindUnreachable, "pgtest.start", s.dir.path, "the server does not accept sessions: %w\n%s", err, s.Log())
		}
	}
}

// exec runs statements in a session of their own in the database postgres.
func (s *Server) exec(ctx context.Context, statements ...string) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, q := range statements {
		if _, err := conn.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// await runs a question that answers true or false until it answers true.
func (s *Server) await(ctx context.Context, what, question string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		var yes bool
		if err := conn.QueryRow(ctx, question, args...).Scan(&yes); err != nil || yes {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return amber.Errorf(amber.KindUnreachable, "pgtest.await", s.dir.path, "%s did not happen: %w\n%s", what, ctx.Err(), s.Log())
		}
	}
}

// Alter changes a setting of the running server, as ALTER SYSTEM does, and waits until new
// sessions have it. Settings that need a restart have it after the next one.
func (s *Server) Alter(ctx context.Context, name, value string) error {
	if err := s.owned("pgtest.alter"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var before time.Time
	if err := conn.QueryRow(ctx, "SELECT pg_conf_load_time()").Scan(&before); err != nil {
		return err
	}
	change := "ALTER SYSTEM SET " + pgx.Identifier{name}.Sanitize() + " = '" + strings.ReplaceAll(value, "'", "''") + "'"
	for _, q := range []string{change, "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, q); err != nil {
			return err
		}
	}
	// The postmaster reads the settings before it tells the sessions to.
	return s.await(ctx, "the change of "+name, "SELECT pg_conf_load_time() > $1", before)
}

// owned is the error of what cannot be done to a server that was there before the tests.
func (s *Server) owned(op string) error {
	if s.given == "" {
		return nil
	}
	return amber.Errorf(amber.KindUnsupported, op, "", "the server of %s is not stopped or changed by tests", envDSN).
		WithHint("unset " + envDSN + ", and install the package postgresql")
}

// postmaster returns the process number, and the channel that is closed when it has ended.
func (s *Server) postmaster() (int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		ended := make(chan struct{})
		close(ended)
		return 0, ended
	}
	return s.cmd.Process.Pid, s.done
}

// Running reports whether the postmaster is there; a suspended one is.
func (s *Server) Running() bool {
	if s.given != "" {
		return true
	}
	_, done := s.postmaster()
	select {
	case <-done:
		return false
	default:
		return true
	}
}

// Kill kills all processes of the server at once, as a machine that dies would, and returns when
// they are gone.
func (s *Server) Kill() error {
	if err := s.owned("pgtest.kill"); err != nil {
		return err
	}
	pid, done := s.postmaster()
	if err := s.dir.signal(pid, sigKill); err != nil {
		return err
	}
	if err := s.dir.empty(context.Background()); err != nil {
		return err
	}
	<-done
	return nil
}

// Suspend stops all processes of the server in the middle of what they do, and returns when
// they stand. Connections stay open, and new ones get no answer.
func (s *Server) Suspend() error {
	if err := s.owned("pgtest.suspend"); err != nil {
		return err
	}
	pid, _ := s.postmaster()
	if err := s.dir.signal(pid, sigStop); err != nil {
		return err
	}
	return s.dir.still(context.Background())
}

// Resume lets a suspended server go on.
func (s *Server) Resume() error {
	if err := s.owned("pgtest.resume"); err != nil {
		return err
	}
	pid, _ := s.postmaster()
	return s.dir.signal(pid, sigContinue)
}

// Stop shuts the server down in order; sessions are ended. A server that does not end in time,
// because a standby does not answer, is killed. A server that has ended is left as it is. Restart
// starts it again.
func (s *Server) Stop() error {
	if err := s.owned("pgtest.stop"); err != nil || !s.Running() {
		return err
	}
	return s.end(sigFast)
}

// end asks the postmaster to shut down, and kills the server when it does not in time.
func (s *Server) end(how syscall.Signal) error {
	pid, done := s.postmaster()
	if pid == 0 || !s.Running() {
		return nil
	}
	if err := s.Resume(); err != nil {
		return err
	}
	s.mu.Lock()
	err := s.cmd.Process.Signal(how)
	s.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.NewTimer(stopLimit)
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-late.C:
		return s.Kill()
	}
}

// Restart starts the server again on the same port, after Kill with a recovery from what is on
// the disk, and waits until it accepts sessions. A running server is stopped first.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(); err != nil {
		return err
	}
	if err := s.Kill(); err != nil { // children may be left when the postmaster alone was killed
		return err
	}
	// The server is gone, but another process may have its number by now, and a new postmaster
	// would believe the files.
	socket := filepath.Join(s.dir.path, ".s.PGSQL."+strconv.Itoa(s.port))
	for _, stale := range []string{filepath.Join(s.data(), "postmaster.pid"), socket, socket + ".lock"} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return s.launch(ctx)
}

// Close ends the server and its standbys at once and removes their folders.
func (s *Server) Close() error {
	if s.given != "" {
		return nil
	}
	var errs []error
	s.mu.Lock()
	standbys := s.standbys
	s.mu.Unlock()
	for _, b := range standbys {
		errs = append(errs, b.Close())
	}
	errs = append(errs, s.end(sigImmediate), s.dir.remove())
	return errors.Join(errs...)
}

// Log returns the end of what the server wrote into its log.
func (s *Server) Log() string {
	if s.given != "" {
		return ""
	}
	return tail(s.dir.log())
}
