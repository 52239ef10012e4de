package pgdb

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// A primary that was replaced and comes back still believes to be one: a program can reach it and write to it, and it
// knows nothing of the writes that its successor acknowledged. The timeline, which grows by one with every promotion,
// distinguishes them. So each new connection asks for it, and through a pooler, behind which the server may change,
// each transaction. Where an address names several hosts, the store asks all of them before it uses the first one, and
// again after it lost the way to it: a program that starts has seen no successor yet.
const (
	// lineage is the name of the column with the timeline of a transaction.
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
	// accepted reports whether an operator has accepted the database of a server of an earlier timeline than replaced, as one that was set back.
	accepted func(context.Context, *pgconn.PgConn) bool
	closed   bool // the server does not tell, as some that are hosted

	asking sync.Mutex       // held while the hosts are asked
	hosts  []*pgconn.Config // all of them, nil where there is one
	asked  bool             // under asking: they were asked since the way was lost last
	asks   atomic.Int64     // how often they were asked
}

// askWithin is how long the store waits for the other hosts. A host that does not answer is not the primary to this
// program.
const askWithin = time.Second

// hostsOf returns how each host of an address is reached, nil where there is one.
func hostsOf(c *pgx.ConnConfig) (all []*pgconn.Config) {
	for _, way := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		if i := slices.IndexFunc(all, func(h *pgconn.Config) bool { return h.Host == way.Host && h.Port == way.Port }); i >= 0 {
			all[i].Fallbacks = append(all[i].Fallbacks, way) // with TLS or without
			continue
		}
		h := c.Config.Copy()
		h.Host, h.Port, h.TLSConfig, h.Fallbacks, h.ValidateConnect = way.Host, way.Port, way.TLSConfig, nil, nil
		all = append(all, h)
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// askAll asks every host for its timeline, at the same time, and remembers the largest of those that take writes for the cluster.
func (o *origin) askAll(ctx context.Context, system int64) {
	before := o.asks.Load()
	o.asking.Lock()
	defer o.asking.Unlock()
	if o.hosts == nil || o.asked && (o.asks.Load() != before || o.hasOthers()) { // they were asked meanwhile, or before what is there was opened
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	found := make([]int64, len(o.hosts))
	var all sync.WaitGroup
	for i, h := range o.hosts {
		all.Go(func() {
			if is, timeline, err := askHost(ctx, h); err == nil && is == system {
				found[i] = timeline
			}
		})
	}
	all.Wait()
	o.asks.Add(1)
	o.asked = ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded)
	o.mu.Lock()
	defer o.mu.Unlock()
	if largest := slices.Max(found); o.before != system {
		o.before, o.replaced = system, largest
	} else {
		o.replaced = max(o.replaced, largest)
	}
}

// hasOthers reports whether the pool has a connection. A pool that has none may have lost them without a word.
func (o *origin) hasOthers() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pool == nil {
		return false
	}
	s := o.pool.Stat()
	return s.AcquiredConns()+s.IdleConns() > 0
}

func askHost(ctx context.Context, h *pgconn.Config) (system, timeline int64, err error) {
	c, err := pgconn.ConnectConfig(ctx, h)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // nothing was changed on it
	return readOrigin(ctx, c)
}

func readOrigin(ctx context.Context, c *pgconn.PgConn) (system, timeline int64, err error) {
	results, err := c.Exec(ctx, selectOrigin).ReadAll()
	if err != nil {
		return 0, 0, err
	}
	row := results[0].Rows[0]
	system, err = strconv.ParseInt(string(row[0]), 10, 64)
	if err == nil {
		timeline, err = strconv.ParseInt(string(row[1]), 10, 64)
	}
	return system, timeline, err
}

// lost has all hosts asked again: another one may be the primary by now.
func (o *origin) lost() {
	o.asking.Lock()
	defer o.asking.Unlock()
	o.asked = false
}

// use says whose connections are to be given up when the server changes, and which hosts there are.
func (o *origin) use(p *pgxpool.Pool, hosts []*pgconn.Config) {
	o.asking.Lock()
	defer o.asking.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pool, o.hosts = p, hosts
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
	system, timeline, err := readOrigin(ctx, c)
	if err != nil {
		if !isUntold(err) || c.IsClosed() {
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.closed = true
		return nil
	}
	if timeline != 0 {
		if o.isNoted(system, timeline) && o.accepted != nil && o.accepted(ctx, c) {
			o.forget()
		}
		o.askAll(ctx, system)
	}
	return o.seen(system, timeline)
}

// isNoted reports whether a later timeline of the cluster was noted.
func (o *origin) isNoted(system, timeline int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return system == o.before && timeline < o.replaced
}

// forget gives up what an earlier program has seen.
func (o *origin) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.before, o.replaced = 0, 0
}

// isUntold reports whether a server answers that it does not tell its timeline, to this role or to anybody. Any other error may be over
// with the next connection.
func isUntold(err error) bool {
	code := pgerr.Code(err)
	return strings.HasPrefix(code, "42") || strings.HasPrefix(code, "0A")
}

// check looks at the timeline that the server gave a transaction.
func (o *origin) check(results []*pgconn.Result) error {
	for _, r := range results {
		if len(r.FieldDescriptions) == 1 && r.FieldDescriptions[0].Name == lineage && len(r.Rows) == 1 {
			timeline, err := strconv.ParseInt(string(r.Rows[0][0]), 10, 64)
			if err != nil {
				return err
			}
			return o.seen(0, timeline)
		}
	}
	return nil
}

// seen compares a server with those that were seen before. System is 0 where it is not known. The connections
// that are open lead to another server than the one that is newer, or to the wrong
// one, so all of them are given up.
func (o *origin) seen(system, timeline int64) error {
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
			WithHint("stop the old primary, or make it a standby of the new one with pg_rewind; where it is a backup that was put in the place of the new one, run amber migrate --restored")
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
