package pgdb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The last statements of a transaction, for whose answers the program does not wait, go to the server in one message
// with COMMIT. An error of one of them is an answer: the server runs nothing behind it, and so not COMMIT.

// waiting is a statement that is prepared, with arguments as the server takes them.
type waiting struct {
	name    string
	values  [][]byte
	formats []int16
}

const (
	// prepared is the name under which a connection remembers what it has prepared for that.
	prepared = "amber.prepared"
	// maxPrepared bounds that.
	maxPrepared = 256
)

// last returns the statements of a connection that wait, so that they can be sent with COMMIT. Where that cannot be done,
// they are run: a pooler keeps nothing that is prepared, and a few statements are seldom the same.
func (d *DB) last(ctx context.Context, c *Conn) ([]waiting, error) {
	if c.waiting == nil {
		return nil, nil
	}
	known, _ := c.pg.PgConn().CustomData()[prepared].(map[string]*pgconn.StatementDescription)
	if known == nil {
		known = map[string]*pgconn.StatementDescription{}
		c.pg.PgConn().CustomData()[prepared] = known
	}
	if d.pooled.Load() {
		return nil, c.Flush(ctx)
	}
	out := make([]waiting, 0, c.waiting.Len())
	for _, q := range c.waiting.QueuedQueries {
		s := known[q.SQL]
		if s == nil && len(known) == maxPrepared {
			return nil, c.Flush(ctx)
		}
		if s == nil {
			var err error
			if s, err = c.pg.Prepare(ctx, fmt.Sprint("last_", len(known)), q.SQL); err != nil {
				return nil, err
			}
			known[q.SQL] = s
		}
		var made pgx.ExtendedQueryBuilder
		if err := made.Build(c.pg.TypeMap(), s, q.Arguments); err != nil {
			return nil, fmt.Errorf("arguments of %.60q: %w", q.SQL, err)
		}
		out = append(out, waiting{s.Name, made.ParamValues, made.ParamFormats})
	}
	c.take()
	return out, nil
}

// sendLast runs statements and commits, in one round trip, and returns how COMMIT was answered.
func sendLast(ctx context.Context, c *pgconn.PgConn, last []waiting) (tag string, err error) {
	p := c.StartPipeline(ctx)
	for _, w := range last {
		p.SendQueryPrepared(w.name, w.values, w.formats, nil)
	}
	p.SendQueryParams("COMMIT", nil, nil, nil, nil)
	err = p.Sync()
	for range len(last) + 1 {
		if err != nil {
			break
		}
		var results any
		if results, err = p.GetResults(); err != nil {
			break
		}
		r, ok := results.(*pgconn.ResultReader)
		if !ok {
			err = fmt.Errorf("the database answered %d statements with a %T", len(last)+1, results)
			break
		}
		var t pgconn.CommandTag
		t, err = r.Close()
		tag = t.String()
	}
	if cerr := p.Close(); err == nil {
		err = cerr
	}
	return tag, err
}
