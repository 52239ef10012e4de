package pgdb

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/pgerr"
)

// A primary that was replaced and comes back still believes to be one: it can be reached and
// written, and knows nothing of what its successor acknowledged. What tells them apart is
// the timeline, which grows by one with every promotion. So each new connection is asked for
// it, and through a pooler, behind which the server may change, each transaction.
const (
	// lineage is the name of the column that tells a transaction its timeline.
	lineage = "amber_timeline"

	// onTimeline is 0 on a server that only follows another one.
	onTimeline     = `CASE WHEN pg_is_in_recovery() THEN 0 ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int8 END`
	selectOrigin   = `SELECT system_identifier, ` + onTimeline + ` FROM pg_control_system()`
	selectTimeline = `SELECT ` + onTimeline + ` AS ` + lineage + `; `
)

// origin is the server that was seen last, with the largest timeline.
type origin struct {
	mu       sync.Mutex
	pool     *pgxpool.Pool // nil before there is one
	system   int64
	timeline int64 // 0: not known
	// before and replaced are the cluster and the timeline of the primary that an earlier program saw last. A database that was moved to
	// another cluster begins anew.
	before, replaced int64
	closed           bool // the server does not tell, as some that are hosted
}

// use says whose connections are to be given up when the server changes.
func (o *origin) use(p *pgxpool.Pool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pool = p
}

// known reports whether transactions can ask for the timeline.
func (o *origin) known() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.timeline != 0 && !o.closed
}

// validate looks at a new connection before it is used. Where several hosts are named, the next one is
// tried after an error.
func (o *origin) validate(ctx context.Context, c *pgconn.PgConn) error {
	results, err := c.Exec(ctx, selectOrigin).ReadAll()
	if err != nil {
		if !isUntold(err) || c.IsClosed() {
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.closed = true
		return nil
	}
	row := results[0].Rows[0]
	system, err := strconv.ParseInt(string(row[0]), 10, 64)
	if err != nil {
		return err
	}
	return o.seen(system, string(row[1]))
}

// isUntold reports whether a server answers that it does not tell its timeline, to this role or to anybody. Any other error may be over
// with the next connection.
func isUntold(err error) bool {
	code := pgerr.Code(err)
	return strings.HasPrefix(code, "42") || strings.HasPrefix(code, "0A")
}

// check looks at what a transaction was told.
func (o *origin) check(results []*pgconn.Result) error {
	for _, r := range results {
		if len(r.FieldDescriptions) == 1 && r.FieldDescriptions[0].Name == lineage && len(r.Rows) == 1 {
			return o.seen(0, string(r.Rows[0][0]))
		}
	}
	return nil
}

// seen compares a server with those that were seen before. System is 0 where it is not known. The connections
// that are open lead to another server than the one that is newer, or to the wrong
// one, so all of them are given up.
func (o *origin) seen(system int64, text string) error {
	timeline, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case system != 0 && o.system != 0 && system != o.system:
		o.giveUp()
		return amber.Errorf(amber.KindDamaged, opOpen, "", "the address leads to another database cluster than before: its system identifier is %d, want %d", system, o.system).
			WithHint("name the server that was there before; after a move to another cluster start this program again")
	case timeline == 0: // it follows another one
		return nil
	case timeline < o.timeline, system == o.before && timeline < o.replaced:
		o.giveUp()
		return amber.Errorf(amber.KindDamaged, opOpen, "", "the server is on timeline %d, and its successor on timeline %d was seen: it is an old primary that came back", timeline, max(o.timeline, o.replaced)).
			WithHint("stop the old primary, or make it a standby of the new one with pg_rewind")
	case timeline > o.timeline && o.timeline != 0:
		o.giveUp()
	}
	if system != 0 {
		o.system = system
	}
	o.timeline = timeline
	return nil
}

// giveUp closes the connections that are there, each once it was given back.
func (o *origin) giveUp() {
	if o.pool != nil {
		o.pool.Reset()
	}
}
