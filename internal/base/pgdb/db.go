package pgdb

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// Options say how a database is reached.
type Options struct {
	// DSN names the server, as libpq does. It may hold a password and is never shown.
	DSN string
	// Pooled says that a pooler lies between, also where that cannot be seen.
	Pooled bool
	// Plain allows a connection beyond this machine without a certificate that was checked.
	Plain bool
	// Name is what the server calls the connections, unless the DSN does; default "amber".
	Name string
	// Connections at most; default 16.
	Connections int
	// Lock is how long a writer waits for another one; default 10 s.
	Lock time.Duration
	// Statement is how long a statement that reads may take; default 30 s.
	Statement time.Duration
	// Settle is how long the store tries to find out what became of a COMMIT that was not answered;
	// default 15 s.
	Settle time.Duration
	// Dialect translates statements.
	Dialect *Dialect
	// Check looks at the database on a new connection, until it once returns nil; before that no connection is used. Nil: none is looked at.
	Check func(context.Context, *pgx.Conn) error
	// System and Timeline are those of the server that was the primary of this database when it was seen last; 0: not known.
	System, Timeline int64
	// Accepted reports whether an operator has accepted that a server is on an earlier timeline, because its database was set back; nil: that
	// was not accepted.
	Accepted func(context.Context, *pgconn.PgConn) bool
	// Clock measures how long writers wait for their locks; nil: that is not measured.
	Clock amber.Clock
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "amber"
	}
	if o.Connections <= 0 {
		o.Connections = 16
	}
	if o.Lock <= 0 {
		o.Lock = 10 * time.Second
	}
	if o.Statement <= 0 {
		o.Statement = 30 * time.Second
	}
	if o.Settle <= 0 {
		o.Settle = 15 * time.Second
	}
	if o.Dialect == nil {
		o.Dialect = &Dialect{}
	}
	return o
}

// DB is a PostgreSQL database. It is safe for concurrent use.
type DB struct {
	pool   *pgxpool.Pool
	o      Options
	pooled *atomic.Bool // a pooler lies between
	origin *origin

	checked atomic.Bool // Options.Check was content
	refused *atomic.Pointer[error]
	counts  *counts
}

const (
	connectWithin = 2 * time.Second
	// readerIdle ends a transaction that reads and whose program says nothing.
	readerIdle = time.Minute
	// writerIdle ends one that writes: others wait for what it has locked. A program that stands still, or whose machine is gone
	// without a word, keeps them waiting for that long.
	writerIdle = 4 * time.Second
	opOpen     = "open database"
)

// Open prepares for connections to a database. None is opened yet. Errors: invalid; refused
// for a server beyond this machine without a certificate that is checked.
func Open(o Options) (*DB, error) {
	o = o.withDefaults()
	c, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return nil, pgerr.Wrap(opOpen, "", err)
	}
	if !o.Plain {
		if err := checkTLS(c.ConnConfig); err != nil {
			return nil, err
		}
	}
	c.MaxConns = int32(o.Connections)
	d := &DB{o: o, pooled: &atomic.Bool{}, refused: &atomic.Pointer[error]{}, counts: &counts{}}
	d.pooled.Store(o.Pooled)
	c.BeforeConnect, c.AfterConnect = d.beforeConnect, d.afterConnect
	c.ConnConfig.StatementCacheCapacity, c.ConnConfig.DescriptionCacheCapacity = 512, 512
	if c.ConnConfig.ConnectTimeout <= 0 {
		c.ConnConfig.ConnectTimeout = connectWithin
	}
	wanted, origin := c.ConnConfig.ValidateConnect, &origin{before: o.System, replaced: o.Timeline, accepted: o.Accepted}
	if wanted == nil { // the address sets no target_session_attrs, which would count
		wanted = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	c.ConnConfig.ValidateConnect = func(ctx context.Context, c *pgconn.PgConn) error {
		if err := wanted(ctx, c); err != nil {
			return err
		}
		return origin.validate(ctx, c)
	}
	c.ConnConfig.OnNotice = notice
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = o.Name
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), c)
	if err != nil {
		return nil, pgerr.Wrap(opOpen, "", err)
	}
	origin.use(pool, hostsOf(c.ConnConfig))
	d.pool, d.origin = pool, origin
	return d, nil
}

// The server plans a prepared statement once. A pooler may hand each transaction to another server,
// and many poolers keep no prepared statements, so these break behind one. We detect a pooler by
// comparing pg_backend_pid() with the pid of the handshake.

// errPooled is for a connection that turns out to be one to a pooler.
var errPooled = errors.New("a pooler lies between")

func (d *DB) beforeConnect(_ context.Context, c *pgx.ConnConfig) error {
	c.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	if d.pooled.Load() {
		c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return nil
}

func (d *DB) afterConnect(ctx context.Context, c *pgx.Conn) error {
	if err := d.seePooler(ctx, c); err != nil || d.o.Check == nil || d.checked.Load() {
		return err
	}
	err := d.o.Check(ctx, c)
	if err == nil {
		d.checked.Store(true)
	}
	return err
}

func (d *DB) seePooler(ctx context.Context, c *pgx.Conn) error {
	if d.pooled.Load() {
		return nil
	}
	var pid uint32
	if err := c.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&pid); err != nil {
		return err
	}
	if pid != c.PgConn().PID() {
		d.pooled.Store(true)
		return errPooled
	}
	return nil
}

// checkTLS refuses addresses where an attacker between could pass for the server.
func checkTLS(c *pgx.ConnConfig) error {
	type way struct {
		host   string
		secure bool
	}
	ways := []way{{c.Host, c.TLSConfig != nil && !c.TLSConfig.InsecureSkipVerify}}
	for _, f := range c.Fallbacks {
		ways = append(ways, way{f.Host, f.TLSConfig != nil && !f.TLSConfig.InsecureSkipVerify})
	}
	for _, w := range ways {
		if !w.secure && !isHere(w.host) {
			return amber.Errorf(amber.KindRefused, opOpen, "", "the server %s is on another machine, and the address does not ask for a certificate that is checked", w.host).
				WithHint("add sslmode=verify-full to the address; where the network is trusted, set memory.backends.postgres.plain")
		}
	}
	return nil
}

// isHere reports whether a host is this machine.
func isHere(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" { // sockets
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// With returns the same database for statements of another dialect: the connections are shared, and closed with either.
func (d *DB) With(dialect *Dialect) *DB {
	o := d.o
	o.Dialect = dialect
	return &DB{pool: d.pool, o: o, pooled: d.pooled, origin: d.origin, refused: d.refused, counts: d.counts}
}

// Refuse makes every later call fail with an error.
func (d *DB) Refuse(err error) { d.refused.Store(&err) }

// Awaited reports whether nothing was asked yet, because Options.Check was never content.
func (d *DB) Awaited() bool { return d.o.Check != nil && !d.checked.Load() }

// Origin is the server that takes writes, as far as it tells: which cluster, and on which timeline.
func (d *DB) Origin() (system, timeline int64) {
	d.origin.mu.Lock()
	defer d.origin.mu.Unlock()
	return d.origin.system, d.origin.timeline
}

// Close closes every connection, each once it was given back.
func (d *DB) Close() { d.pool.Close() }

// Conn runs fn on a connection outside of transactions, for what cannot be in one.
func (d *DB) Conn(ctx context.Context, fn func(*pgx.Conn) error) error {
	c, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	return d.lookAt(fn(c.Conn()))
}

// Collect runs a query on a connection outside of transactions, and returns what row makes of each row.
func Collect[T any](ctx context.Context, d *DB, row pgx.RowToFunc[T], query string, args ...any) (list []T, err error) {
	err = d.Conn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, row)
		return err
	})
	return list, err
}

// acquire waits for a connection.
func (d *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if err := d.refused.Load(); err != nil {
		return nil, *err
	}
	c, err := d.pool.Acquire(ctx)
	if errors.Is(err, errPooled) {
		c, err = d.pool.Acquire(ctx)
	}
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil: // the caller goes; nothing is known of the connections that others have
		return nil, err
	}
	return nil, d.lookAt(err)
}

// lookAt gives up all connections where an error says that the server is not the one to
// write to any more: they would all lead there.
func (d *DB) lookAt(err error) error {
	if IsLost(err) {
		d.origin.lost()
		d.pool.Reset()
	}
	return err
}

// IsLost reports whether an error is about the way to the server, or a server that takes
// no writes.
func IsLost(err error) bool {
	if err == nil {
		return false
	}
	switch code := pgerr.Code(err); {
	case code == "25006", strings.HasPrefix(code, "57P0"), strings.HasPrefix(code, "08"):
		return true
	case code != "":
		return false
	}
	return pgerr.IsLost(err)
}

// begin begins a transaction: one message with what it needs. The first row of the last
// statement is returned, nil where there is none.
func (d *DB) begin(ctx context.Context, c *pgxpool.Conn, script string) ([]string, error) {
	if !d.pooled.Load() && isPlanOld(c.Conn()) {
		script = strings.Replace(script, ";", "; DISCARD PLANS;", 1) // behind BEGIN, which must come before what looks at rows
	}
	results, err := c.Conn().PgConn().Exec(ctx, script).ReadAll()
	if err != nil {
		return nil, err
	}
	if err := d.origin.check(results); err != nil {
		return nil, err
	}
	last := results[len(results)-1]
	if last.Err != nil || len(last.Rows) == 0 {
		return nil, last.Err
	}
	head := make([]string, len(last.Rows[0]))
	for i, v := range last.Rows[0] {
		head[i] = string(v)
	}
	return head, nil
}

const (
	// begun is the name under which a connection counts its transactions.
	begun = "amber.begun"
	// replanEvery is after how many of them at most statements are planned anew.
	replanEvery = 4096
)

// isPlanOld counts a transaction, and reports whether the plans of a connection are to be made anew. The server keeps a plan until
// it has looked at the table again, which takes it minutes: one that was made for a table of no rows may read all of it when there are
// many. So connections forget their plans after 16 transactions, 32, 64 and so on.
func isPlanOld(c *pgx.Conn) bool {
	data := c.PgConn().CustomData()
	n, _ := data[begun].(int)
	n++
	data[begun] = n
	return n%replanEvery == 0 || n >= 16 && n&(n-1) == 0
}

func milliseconds(d time.Duration) int64 { return max(1, d.Milliseconds()) }

// View runs fn in a transaction that only reads: one consistent view. Setup is run with BEGIN and
// without arguments; fn is given the first row of its last statement. Fn runs at most once.
func (d *DB) View(ctx context.Context, setup string, fn func(c *Conn, head []string) error) error {
	script := fmt.Sprintf("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d; %s%s",
		milliseconds(d.o.Statement), milliseconds(readerIdle), d.askTimeline(), setup)
	c, head, err := d.start(ctx, script)
	if err != nil {
		return err
	}
	defer c.Release()
	if err := fn(d.conn(c), head); err != nil {
		d.rollback(ctx, c)
		return d.lookAt(err)
	}
	d.rollback(ctx, c) // there is nothing to keep
	return nil
}

func (d *DB) conn(c *pgxpool.Conn) *Conn { return &Conn{pg: c.Conn(), dialect: d.o.Dialect} }

// start begins a transaction, again where the connection turns out to be one to a server that is
// gone: nothing has happened yet.
func (d *DB) start(ctx context.Context, script string) (*pgxpool.Conn, []string, error) {
	for try := 1; ; try++ {
		c, err := d.acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		head, err := d.begin(ctx, c, script)
		if err == nil {
			return c, head, nil
		}
		d.rollback(ctx, c)
		c.Release()
		if d.lookAt(err); !IsLost(err) || try == 2 || ctx.Err() != nil {
			return nil, nil, err
		}
		d.counts.retries.Add(1)
	}
}

// rollback undoes a transaction. A connection on which that fails is closed, and the
// server undoes the rest.
func (d *DB) rollback(ctx context.Context, c *pgxpool.Conn) {
	if c.Conn().IsClosed() {
		return
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectWithin)
	defer cancel()
	if err := c.Conn().PgConn().Exec(late, "ROLLBACK").Close(); err != nil {
		_ = c.Conn().Close(late)
	}
}

// Work is a transaction that writes.
type Work struct {
	// Setup is run with BEGIN and without arguments.
	Setup string
	// Do does the work. It is given the first row of the last statement of Setup. It runs
	// at most once. The server undoes the work of a program that is silent for 4 seconds, see [Conn.Awake].
	Do func(c *Conn, head []string) error
	// End returns statements without arguments that are run with COMMIT, "" for none; may be nil.
	End func() string
	// Committed looks, in a later transaction that was begun with Setup, whether the work
	// was committed. It must be certain.
	Committed func(ctx context.Context, c *Conn) (bool, error)
}

// ErrUnknown is in the error about a transaction of which it is not known whether it was
// committed.
var ErrUnknown = fmt.Errorf("the database did not answer in time, so %w", amber.ErrUnknownOutcome)

// errNoStandby is for a commit whose wait for a standby was cut off.
var errNoStandby = errors.New("the database did not wait for its standby")

// Update runs a transaction that writes, and returns when it is durable or certainly undone. On any
// error nothing of it stays, but where the error is [ErrUnknown]. A context that ends before COMMIT undoes
// everything; COMMIT itself is never interrupted.
func (d *DB) Update(ctx context.Context, w Work) error {
	begun := d.now()
	c, head, err := d.start(ctx, d.beginWrite(w.Setup))
	d.counts.wrote(d.now().Sub(begun), err)
	if err != nil {
		return err
	}
	defer c.Release()
	done := false
	defer func() {
		if !done { // an error, or a panic
			d.rollback(ctx, c)
		}
	}()
	conn := d.conn(c)
	err = w.Do(conn, head)
	var last []waiting
	switch {
	case err != nil:
	case w.End != nil:
		err = conn.Flush(ctx)
	default:
		last, err = d.last(ctx, conn)
	}
	if err != nil {
		return d.lookAt(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done, err = d.commit(ctx, c, w, last)
	return err
}

// beginWrite is the beginning of a transaction that writes. The settings end with it, because a pooler gives the session to others then. A
// program that does not read its answers is not idle to the server, so the network gives it up.
func (d *DB) beginWrite(setup string) string {
	return fmt.Sprintf("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d; SET LOCAL tcp_user_timeout = %[2]d; %[3]s%[4]s",
		milliseconds(d.o.Lock), milliseconds(writerIdle), d.askTimeline(), setup)
}

// askTimeline is a statement for the beginning of transactions that may be on another server than the one
// before.
func (d *DB) askTimeline() string {
	if !d.pooled.Load() || !d.origin.known() {
		return ""
	}
	return selectTimeline
}

// commit commits, after some last statements. It reports whether the transaction is at its end.
func (d *DB) commit(ctx context.Context, c *pgxpool.Conn, w Work, last []waiting) (ended bool, err error) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.o.Settle)
	defer cancel()
	clearWarning(c.Conn())
	var tag string
	if len(last) > 0 {
		tag, err = sendLast(late, c.Conn().PgConn(), last)
	} else {
		tag, err = sendCommit(late, c.Conn().PgConn(), w)
	}
	switch {
	case err == nil && isWarned(c.Conn()):
		// The commit may be lost with the server.
		err = errNoStandby
	case err == nil:
		if tag != "COMMIT" {
			return true, fmt.Errorf("the transaction was undone: COMMIT was answered with %.20q", tag)
		}
		return true, nil
	case isAnswer(err) && !c.Conn().IsClosed():
		return false, d.lookAt(err) // it was refused, so nothing of it stays
	}
	_ = c.Conn().Close(late)
	d.origin.lost()
	d.pool.Reset()
	d.counts.settled.Add(1)
	return true, d.settle(late, w, err)
}

// sendCommit commits with statements in one script, and returns how that was answered.
func sendCommit(ctx context.Context, c *pgconn.PgConn, w Work) (tag string, err error) {
	script := "COMMIT"
	if w.End != nil {
		if end := w.End(); end != "" {
			script = end + "; COMMIT"
		}
	}
	results, err := c.Exec(ctx, script).ReadAll()
	if err != nil {
		return "", err
	}
	return results[len(results)-1].CommandTag.String(), nil
}

// isAnswer reports whether an error is a server's answer to a statement, after which the
// connection and the server live: the transaction was not committed. A server that is shut down
// while a commit waits for its standby has committed, and so may one have that a pooler lost (08).
func isAnswer(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Severity == "ERROR" && !strings.HasPrefix(e.Code, "57P0") && !strings.HasPrefix(e.Code, "08")
}

// settle finds out what became of a COMMIT that was not answered. Cause says why.
func (d *DB) settle(ctx context.Context, w Work, cause error) error {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second/2) {
		committed, err := d.look(ctx, w)
		switch {
		case err == nil && committed:
			return nil
		case err == nil:
			return &amber.Error{
				Op: "write", Kind: amber.KindUnreachable, Err: fmt.Errorf("the connection was lost before the write was stored; nothing was changed: %w", plain(cause)),
				Hint: "try again",
			}
		}
		select {
		case <-ctx.Done():
			d.counts.unknown.Add(1)
			return &amber.Error{Op: "write", Kind: amber.KindUnreachable, Err: ErrUnknown, Hint: "repeat the write with the same idempotency key"}
		case <-time.After(pause):
		}
	}
}

// plain is the text of an error that is not to be asked for its kind.
func plain(err error) error { return errors.New(pgerr.Wrap("commit", "", err).Error()) }

// confirm writes a message and commits. A server that is to wait for a standby answers when the standby has this, and
// so has everything that was committed before. No program reads the message.
const confirm = `SELECT pg_logical_emit_message(true, 'amber', ''); COMMIT`

// look asks once. Setup takes the locks that the lost transaction had, so having them means that it
// is at its end. A row that look finds may still be on this server alone, where the wait for a
// standby was cut off, and would be lost with it: so look reports it only once a later write is
// where it has to be.
func (d *DB) look(ctx context.Context, w Work) (committed bool, err error) {
	c, _, err := d.start(ctx, d.beginWrite(w.Setup))
	if err != nil {
		return false, err
	}
	defer c.Release()
	committed, err = w.Committed(ctx, d.conn(c))
	if err != nil || !committed {
		d.rollback(ctx, c)
		return committed, d.lookAt(err)
	}
	clearWarning(c.Conn())
	if err = c.Conn().PgConn().Exec(ctx, confirm).Close(); err == nil && isWarned(c.Conn()) {
		err = errNoStandby
	}
	if err != nil {
		d.rollback(ctx, c)
		return false, d.lookAt(err)
	}
	return true, nil
}

// warning is the name under which a connection remembers one.
const warning = "amber.warning"

// notice remembers that the server did not wait for its standby: the wait was cancelled, so
// the commit is acknowledged and may be lost with the primary.
// Its words are in the language of the server, so any warning without a code of its own counts.
func notice(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.Code == "01000" {
		c.CustomData()[warning] = true
	}
}

func clearWarning(c *pgx.Conn) { delete(c.PgConn().CustomData(), warning) }

func isWarned(c *pgx.Conn) bool { return c.PgConn().CustomData()[warning] == true }

// Pooled reports whether a pooler lies between, as far as is known.
func (d *DB) Pooled() bool { return d.pooled.Load() }
