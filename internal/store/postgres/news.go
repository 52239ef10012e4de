package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// News are reports of what happens to snapshots of agents of the database. No change log has that, so servers send it
// to each other in rows that stay for some time. The rows are numbered in the order of their commits, because each
// insert takes the row that counts them. They lie in the table of work, and are never due.

// MaxNews bounds one of them in bytes.
const MaxNews = 1 << 20

const (
	insertNews = `WITH counted AS (INSERT INTO amber_meta.work AS w (kind, tenant, agent, fence, due_at) VALUES ('news', '', '', 1, 'infinity')
 ON CONFLICT (kind, tenant, agent) DO UPDATE SET fence = w.fence + 1 RETURNING fence),
gone AS (DELETE FROM amber_meta.work WHERE kind LIKE 'news %' AND until < clock_timestamp())
INSERT INTO amber_meta.work (kind, tenant, agent, fence, holder, due_at, until)
SELECT 'news ' || fence, '', '', fence, $1, 'infinity', clock_timestamp() + interval '1 minute' FROM counted`
	selectNewest = `SELECT coalesce((SELECT fence FROM amber_meta.work WHERE kind = 'news' AND tenant = '' AND agent = ''), 0)`
	selectNews   = `SELECT fence, holder FROM amber_meta.work WHERE kind LIKE 'news %' AND fence > $1 ORDER BY fence LIMIT 100`
)

// News is one piece of them.
type News struct {
	Number int64
	Text   []byte // JSON, of a program that may be another version
}

// Tell tells all servers of the database. Errors: those of the database.
func (s *Server) Tell(ctx context.Context, text []byte) error {
	if len(text) > MaxNews {
		return amber.Errorf(amber.KindInvalid, "tell other servers", "", "the text has %d bytes, want at most %d", len(text), MaxNews)
	}
	return pgerr.Wrap("tell other servers", "", s.db.Conn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, insertNews, string(text))
		return err
	}))
}

// Newest is the number of what was told last.
func (s *Server) Newest(ctx context.Context) (n int64, err error) {
	err = s.db.Conn(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, selectNewest).Scan(&n) })
	return n, pgerr.Wrap("hear of other servers", "", err)
}

// News returns what was told after a number, the first 100 of it.
func (s *Server) News(ctx context.Context, after int64) ([]News, error) {
	list, err := pgdb.Collect(ctx, s.db, pgx.RowToStructByPos[News], selectNews, after)
	return list, pgerr.Wrap("hear of other servers", "", err)
}
