package ledger

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	pgschema "github.com/amber-memory/amber/internal/store/postgres/schema"
)

// PostgresOptions say how a ledger in a PostgreSQL database works. Clock and Random are required.
type PostgresOptions struct {
	// Clock is best that of the database, which all servers share.
	Clock  amber.Clock
	Random io.Reader // unpredictable
	// Server is the id under which this process is known in amber_meta.servers, by which others see that it still
	// answers requests. Without one it begins no answers.
	Server string
	// Lease is how long a server is believed to live that was not heard of; default 30 s.
	Lease time.Duration
	// Away counts the entries that wait in other databases to be carried to this one, for who verifies. It may be nil.
	Away func(ctx context.Context) (int64, error)
	// Done is called once when the ledger is closed, for who opened the database for it alone. It may be nil.
	Done func() error
}

const (
	defaultLease = 30 * time.Second
	// updateWithin is how long a transaction may take: a server that gives no answer must not hold up everybody who records.
	updateWithin = time.Minute
)

// server is the engine of a database that many programs share. The rows are in the schema amber_home.
type server struct {
	db     *pgdb.DB
	o      PostgresOptions
	writes atomic.Int64
}

var _ engine = (*server)(nil)

// homeDialect has nothing in front of the keys: the rows belong to no agent.
var homeDialect = &pgdb.Dialect{}

// OpenPostgres opens the ledger of a PostgreSQL database. Closing it does not close the database. Errors: invalid; those of
// a database that cannot be reached, is older than this Amber or needs a newer one.
func OpenPostgres(ctx context.Context, db *pgdb.DB, o PostgresOptions) (*DB, error) {
	const op = "open database"
	if db == nil || o.Clock == nil || o.Random == nil {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "database, clock and random source are required")
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	s := &server{db: db.With(homeDialect), o: o}
	err := s.db.Conn(ctx, func(c *pgx.Conn) error {
		_, err := pgschema.Check(ctx, c)
		return err
	})
	if err != nil {
		return nil, pgerr.Wrap(op, "", err)
	}
	return newDB(s, o.Clock, o.Random), nil
}

func (s *server) name() string { return "amber_home" }

func (s *server) wrap(op, id string, err error) error { return pgerr.Wrap(op, id, err) }

// asHome is what every transaction begins with: the role that may do nothing else, and names that are looked for in one
// schema alone.
const asHome = `SET LOCAL ROLE amber_app; SET LOCAL search_path = amber_home; `

const (
	selectSchema = `SELECT v.number, v.needs FROM amber_meta.version v`
	// %s is a lock.
	lockHead = `SELECT v.number, v.needs FROM heads h, amber_meta.version v WHERE h.name = '%s' FOR UPDATE OF h`

	insertCommit = `INSERT INTO commits (token) VALUES ('%s')`
	isCommitted  = `SELECT EXISTS (SELECT 1 FROM commits WHERE token = ?)`
	sweepCommits = `; DELETE FROM commits WHERE token IN (SELECT token FROM commits WHERE at < (extract(epoch FROM clock_timestamp()) * 1000)::int8 - %d ORDER BY at LIMIT %d FOR UPDATE SKIP LOCKED)`
)

const (
	// tokensFor is how many milliseconds the token of a commit is kept: far longer than the writer looks for the
	// token to learn whether its commit succeeded.
	tokensFor = 3_600_000
	// tokensEvery is after how many commits old tokens are removed.
	tokensEvery = 256
)

// judge looks at the row that setup reads: another program may have migrated the database.
func (s *server) judge(row []string) error {
	if len(row) != 2 {
		return amber.Errorf(amber.KindDamaged, "use database", s.name(), "amber_home.heads lacks a row").WithHint("put the database back from a backup")
	}
	var n [2]int64
	for i, text := range row {
		var err error
		if n[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return err
		}
	}
	return pgschema.Judge(pgschema.Version{Number: n[0], Needs: n[1]})
}

func (s *server) tx(ctx context.Context, c *pgdb.Conn) *tx {
	return &tx{ctx: ctx, conn: c, now: amber.At(s.o.Clock()), skip: " FOR UPDATE SKIP LOCKED"}
}

// update locks the row of what is written, so that it comes after every earlier transaction with the same lock and sees what those
// have written. A row for the commit settles what became of it where the answer is lost.
func (s *server) update(ctx context.Context, op, id string, on lock, fn func(*tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, updateWithin)
	defer cancel()
	token, err := amber.NewUUID(s.o.Clock(), s.o.Random)
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInternal, ID: id, Err: err}
	}
	return pgerr.Wrap(op, id, s.db.Update(ctx, pgdb.Work{
		Setup: asHome + fmt.Sprintf(lockHead, on),
		Do: func(c *pgdb.Conn, row []string) error {
			if err := s.judge(row); err != nil {
				return err
			}
			return fn(s.tx(ctx, c))
		},
		End: func() string {
			end := fmt.Sprintf(insertCommit, token)
			if s.writes.Add(1)%tokensEvery == 0 {
				end += fmt.Sprintf(sweepCommits, tokensFor, 4*tokensEvery)
			}
			return end
		},
		Committed: func(ctx context.Context, c *pgdb.Conn) (committed bool, err error) {
			err = c.Row(ctx, isCommitted, token).Scan(&committed)
			return committed, err
		},
	}))
}

func (s *server) view(ctx context.Context, op, id string, fn func(*tx) error) error {
	return pgerr.Wrap(op, id, s.db.View(ctx, asHome+selectSchema, func(c *pgdb.Conn, row []string) error {
		if err := s.judge(row); err != nil {
			return err
		}
		return fn(s.tx(ctx, c))
	}))
}

const (
	// Where the log does not end as the row says, the row stays: writing on does not cover it up.
	moveEnd   = `UPDATE heads SET seq = ?3, hash = ?4 WHERE name = 'audit' AND seq = ?1 AND hash = ?2`
	selectEnd = `SELECT seq, hash, (SELECT count(*) FROM audit_unchained) FROM heads WHERE name = 'audit'`
)

func (s *server) chained(t *tx, was, is mark) error {
	_, err := t.exec(moveEnd, was.seq, was.hash[:], is.seq, is.hash[:])
	return err
}

func (s *server) wrote(context.Context, int64) {}

func (s *server) prepare(*verifier) error { return nil }

// inspect compares the log with the row that says where it ends, in the same view.
func (s *server) inspect(t *tx, v *verifier) error {
	var end mark
	var hash []byte
	var unchained int64
	if err := t.row(selectEnd).Scan(&end.seq, &hash, &unchained); err != nil {
		return err
	}
	copy(end.hash[:], hash)
	switch {
	case v.last.seq != end.seq:
		v.damage("the log ends at entry %d; the database says that it ends at entry %d", v.last.seq, end.seq)
	case v.last.hash != end.hash:
		v.damage("entry %d: hash differs from the one the database keeps of the end", end.seq)
	default:
		v.checked("that the log ends where the database says")
	}
	if unchained > 0 {
		v.notChecked("%d entries that are not chained yet", unchained)
	}
	return nil
}

func (s *server) conclude(ctx context.Context, v *verifier) {
	if s.o.Away != nil {
		switch n, err := s.o.Away(ctx); {
		case err != nil:
			v.notChecked("entries that wait in databases of tenants: %v", err)
		case n > 0:
			v.notChecked("%d entries in databases of tenants that are not chained yet", n)
		}
	}
	v.notChecked("the end of the log from outside: what is known of it lies in the same database, so a database that was set back, or changed by somebody with write access to it, would not be seen")
	v.notChecked("the pages and indexes the log lies in: that is for pg_amcheck")
}

// isAlive asks for a server that was heard of within so many milliseconds, or as many as it set for itself, if those are more: servers whose settings differ
// must not take a living one for gone.
const isAlive = `SELECT count(*) FROM amber_meta.servers WHERE id = ? AND seen_at > clock_timestamp() - greatest(CAST(? AS INTEGER), lease) * interval '1 millisecond'`

func (s *server) show(context.Context) (string, error) {
	if s.o.Server == "" {
		return "", amber.Errorf(amber.KindInvalid, "begin answer", "", "this process is not known as a server, so others could not see that it lives")
	}
	return s.o.Server, nil
}

func (s *server) shared() bool { return true }

func (s *server) holder() string { return s.o.Server }

// gone asks the clock of the database, which is the same for everybody.
func (s *server) gone(t *tx, id string) (bool, error) {
	var n int64
	err := t.row(isAlive, id, s.o.Lease.Milliseconds()).Scan(&n)
	return n == 0, err
}

// forgotten can do nothing: PostgreSQL keeps deleted rows until it vacuums, and its log.
func (s *server) forgotten(context.Context, string) error { return nil }

// check reads every row.
func (s *server) check(ctx context.Context) error {
	return s.view(ctx, "check database", s.name(), func(t *tx) error {
		for _, table := range []string{"tokens", "audit", "audit_unchained", "audit_away", "audit_carried", "answers", "outbox", "heads"} {
			var n int64
			if err := t.row(`SELECT count(md5(r::text)) FROM ` + table + ` r`).Scan(&n); err != nil {
				return err
			}
		}
		return nil
	})
}

// close closes nothing by itself: the database is its owner's.
func (s *server) close() error {
	if s.o.Done == nil {
		return nil
	}
	return s.o.Done()
}
