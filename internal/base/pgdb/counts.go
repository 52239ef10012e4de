package pgdb

import (
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber/internal/base/pgerr"
)

// counts are what happened since the database was opened.
type counts struct {
	writes, waited, taken, retries, settled, unknown atomic.Int64
}

// wrote counts a transaction that writes and the time until it had its locks.
func (c *counts) wrote(wait time.Duration, err error) {
	c.writes.Add(1)
	c.waited.Add(int64(wait))
	if pgerr.Code(err) == "55P03" {
		c.taken.Add(1)
	}
}

func (d *DB) now() (t time.Time) {
	if d.o.Clock != nil {
		t = d.o.Clock()
	}
	return t
}

// Counts are how a database is used by this program. All but the connections only grow.
type Counts struct {
	Connections, InUse, Most int64         // of the pool: open, lent, and at most
	PoolWaits                int64         // times that a caller found no free one
	Writes                   int64         // transactions that write
	HeadWait                 time.Duration // of them, until they had their locks
	HeadsTaken               int64         // of them, that gave up waiting
	Retries                  int64         // transactions that were begun again on another connection
	Settled                  int64         // commits whose answer was lost, and that were looked for
	Unknown                  int64         // of them, that were not found out
}

// Counts returns how the database is used.
func (d *DB) Counts() Counts {
	s, c := d.pool.Stat(), d.counts
	return Counts{
		int64(s.TotalConns()), int64(s.AcquiredConns()), int64(s.MaxConns()), s.EmptyAcquireCount(),
		c.writes.Load(), time.Duration(c.waited.Load()), c.taken.Load(), c.retries.Load(), c.settled.Load(), c.unknown.Load(),
	}
}

// Plus adds the counts of another database.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		c.Connections + o.Connections, c.InUse + o.InUse, c.Most + o.Most, c.PoolWaits + o.PoolWaits, c.Writes + o.Writes, c.HeadWait + o.HeadWait,
		c.HeadsTaken + o.HeadsTaken, c.Retries + o.Retries, c.Settled + o.Settled, c.Unknown + o.Unknown,
	}
}
