package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fifo"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// tx is one transaction of a store.
type tx = sqlcore.Tx

// The logs of an agent, each with the schema of its rows.
const (
	logMemory  = "memory"
	logControl = "control"
)

var schemaOf = map[string]string{logMemory: "amber", logControl: "amber_control"}

// database is the memory or the control plane of an agent, in whichever generation is live.
type database struct {
	server *Server
	tenant amber.TenantID
	agent  amber.AgentID
	log    string
	line   *fifo.Line
	o      Options
	core   *sqlcore.Options
	index  *sqlcore.Indexer // nil where there is no index

	mu     sync.Mutex
	live   *generation
	closed bool
	writes int64 // since tokens of old commits were removed
}

var _ sqlcore.Database = (*database)(nil)

// Name implements [sqlcore.Database].
func (d *database) Name() string { return schemaOf[d.log] }

// writable says whether the database may be written.
func (d *database) writable() error {
	if d.o.Frozen {
		return amber.Errorf(amber.KindRefused, "use store", d.log, "the store was opened to be read")
	}
	return d.usable()
}

// usable says whether the database may be used.
func (d *database) usable() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return amber.Errorf(amber.KindInvalid, "use store", d.log, "the store is closed")
	}
	return nil
}

// generation returns the one that was live last, or looks for it where that is not known or is not
// live any more.
func (d *database) generation(ctx context.Context, gone *generation) (*generation, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	g := d.live
	d.mu.Unlock()
	if g != nil && g != gone {
		return g, nil
	}
	g, err := d.server.lookUp(ctx, d.tenant, d.agent, d.o.Frozen)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live == nil || d.live.gen != g.gen || d.live.current.Incarnation != g.current.Incarnation {
		d.live = g
	}
	return d.live, nil
}

// setup is what a transaction begins with, after which the head of the log was read. A writer
// locks it.
func (d *database) setup(g *generation, write bool) string {
	lock := ""
	if write {
		lock = " FOR UPDATE OF h"
	}
	return fmt.Sprintf(asApp+`; %s; SELECT h.live::int, h.seq, h.stamp, v.number, v.needs, (extract(epoch FROM clock_timestamp()) * 1000)::int8, h.incarnation
FROM amber.heads h, amber_meta.version v WHERE h.log = '%s'%s`, schemaOf[d.log], g.setting(), d.log, lock)
}

// head is what a transaction reads first.
type head struct {
	live       bool
	seq, stamp int64
	version    schema.Version
	now        int64 // milliseconds, by the server's clock
}

var errMoved = errors.New("another generation became live")

// readHead makes sense of the row that setup reads. It is errMoved where the generation is not live, and where it has a new history since it was
// looked for: then the database was set back, and what is kept of its rows is of others.
func (d *database) readHead(g *generation, row []string) (h head, err error) {
	var n [6]int64
	if len(row) != len(n)+1 {
		return h, errMoved // the generation is gone with all its rows
	}
	for i, text := range row[:len(n)] {
		if n[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return h, sqlrows.Damaged("read head", d.log, err)
		}
	}
	h = head{n[0] == 1, n[1], n[2], schema.Version{Number: n[3], Needs: n[4]}, n[5]}
	d.server.heard(h.now)
	if !h.live && !d.o.Frozen || row[len(n)] != g.current.Incarnation {
		return h, errMoved
	}
	return h, schema.Judge(h.version)
}

// Update implements [sqlcore.Database].
func (d *database) Update(ctx context.Context, op, id string, fn func(*tx) error) error {
	if d.o.OneByOne {
		return d.UpdateAlone(ctx, op, id, fn)
	}
	if err := d.writable(); err != nil {
		return err
	}
	fn, done := entering(ctx, id, fn)
	w := sqlcore.NewWork(ctx, d.core, d.usable, fn)
	taken, err := d.line.Join(ctx, w)
	switch {
	case err != nil:
	case taken:
		err = w.Follow()
	default:
		defer d.line.Leave()
		err = d.lead(ctx, fn, d.line.Take)
	}
	done(err)
	return pgerr.Wrap(op, id, err)
}

var _ sqlcore.Asker = (*database)(nil)

// UpdateAsking implements [sqlcore.Asker].
func (d *database) UpdateAsking(ctx context.Context, op, id string, twins []sqlrows.Twin, fn func(*tx) error) error {
	if d.o.Plain {
		return d.Update(ctx, op, id, fn)
	}
	if err := d.writable(); err != nil {
		return err
	}
	with, done := entering(ctx, id, fn)
	err := d.joinAsking(ctx, sqlcore.NewAsking(ctx, d.core, d.usable, twins, with))
	done(err)
	if errors.Is(err, sqlcore.ErrSpoiled) {
		return d.UpdateAlone(ctx, op, id, fn)
	}
	return pgerr.Wrap(op, id, err)
}

// joinAsking does work in the line that says what it will ask.
func (d *database) joinAsking(ctx context.Context, w *sqlcore.Work) error {
	if d.o.OneByOne {
		if err := d.line.Enter(ctx); err != nil {
			return err
		}
		defer d.line.Leave()
		return d.leadAsking(ctx, w, func() (any, bool) { return nil, false })
	}
	switch taken, err := d.line.Join(ctx, w); {
	case err != nil:
		return err
	case taken:
		return w.Follow()
	}
	defer d.line.Leave()
	return d.leadAsking(ctx, w, func() (any, bool) { return d.line.TakeIf(sqlcore.IsAsking) })
}

// leadAsking runs one transaction for callers that have said what they will ask.
func (d *database) leadAsking(ctx context.Context, w *sqlcore.Work, next func() (any, bool)) error {
	group := sqlcore.NewAskingGroup()
	told := sqlcore.ErrGivenUp // unless what follows returns
	defer func() { group.End(told) }()
	began := false
	var own error
	err := d.retry(ctx, func(g *generation, token string) error {
		return d.transact(ctx, g, token, func(t *tx) (last *tx, err error) {
			began = true
			last, own, err = group.RunAsking(t, w, next, d.index.Finish)
			return last, err
		})
	})
	told = err
	switch {
	case err == nil:
		return own
	case errors.Is(err, pgdb.ErrUnknown) || !began:
	case pgerr.Code(err) != "" && !pgdb.IsLost(err): // an answer: it may be about the work of anybody
		told = sqlcore.ErrSpoiled
		return told
	case ctx.Err() != nil: // which the others have not given up with
		told = sqlcore.ErrSpoiled
	}
	return err
}

// UpdateAlone implements [sqlcore.Database].
func (d *database) UpdateAlone(ctx context.Context, op, id string, fn func(*tx) error) error {
	err := d.writable()
	if err == nil {
		err = d.line.Enter(ctx)
	}
	if err == nil {
		defer d.line.Leave()
		fn, done := entering(ctx, id, fn)
		err = d.lead(ctx, fn, func() (any, bool) { return nil, false })
		done(err)
	}
	return pgerr.Wrap(op, id, err)
}

// entering returns fn with the entry of the audit log that ctx has for a change of id. The entry is written in the same
// transaction where fn has changed something, so that neither is there without the other. The caller of entering calls
// done with the outcome of the transaction. Where several callers share a transaction, each enters its own entry.
func entering(ctx context.Context, id string, fn func(*tx) error) (with func(*tx) error, done func(error)) {
	entry := audited.Begin(ctx)
	if entry == nil {
		return fn, func(error) {}
	}
	return func(t *tx) error {
		c, ok := t.Conn.(*pgdb.Conn)
		if !ok {
			return fmt.Errorf("the transaction is one of %T, want one of PostgreSQL", t.Conn)
		}
		before := c.Changed()
		if err := fn(t); err != nil || t.Unasked || c.Changed() == before {
			return err
		}
		return entry.Enter(t.Ctx, c, t.Now, t.Subjects, id)
	}, entry.Done
}

// lead runs one transaction for fn and for those whom next returns.
func (d *database) lead(ctx context.Context, fn func(*tx) error, next func() (any, bool)) (err error) {
	group := sqlcore.NewGroup()
	err = sqlcore.ErrGivenUp // unless what follows returns
	defer func() { group.End(err) }()
	return d.retry(ctx, func(g *generation, token string) error {
		return d.transact(ctx, g, token, func(t *tx) (*tx, error) { return group.Run(t, fn, next, d.index.Finish) })
	})
}

// retry runs a transaction on the generation that is live, with a token of its own.
func (d *database) retry(ctx context.Context, transact func(g *generation, token string) error) error {
	token, err := amber.NewUUID(d.server.Now(), d.server.o.Random)
	if err != nil {
		return err
	}
	return d.onLive(ctx, func(g *generation) error { return transact(g, token) })
}

// onLive calls do with the generation that is live, once more each time another one became live meanwhile.
func (d *database) onLive(ctx context.Context, do func(*generation) error) error {
	var gone *generation
	for {
		g, err := d.generation(ctx, gone)
		if err != nil {
			return err
		}
		if err = do(g); !errors.Is(err, errMoved) {
			return err
		}
		gone = g
	}
}

const isCommitted = `SELECT EXISTS (SELECT 1 FROM amber.commits WHERE token = ?)`

func (d *database) transact(ctx context.Context, g *generation, token string, run func(*tx) (*tx, error)) error {
	return d.server.db.Update(ctx, pgdb.Work{
		Setup: d.setup(g, true),
		Do: func(c *pgdb.Conn, row []string) error {
			h, err := d.readHead(g, row)
			if err != nil {
				return err
			}
			t := d.tx(ctx, c, g)
			t.Seq, t.FirstSeq = h.seq, h.seq
			t.Stamp = max(amber.Stamp(h.stamp), g.current.Clock)
			last, err := run(t)
			if err != nil || !c.Wrote() { // who looks whether the agent has changed finds that it has not
				return err
			}
			return d.end(context.WithoutCancel(ctx), c, last, token)
		},
		Committed: func(ctx context.Context, c *pgdb.Conn) (committed bool, err error) {
			err = c.Row(ctx, isCommitted, token).Scan(&committed)
			return committed, err
		},
	})
}

const (
	// tokensFor is how many milliseconds the token of a commit is kept: far longer than any writer looks for its token.
	tokensFor = 3_600_000
	// tokensEvery is after how many commits old tokens are removed.
	tokensEvery = 256
)

const (
	updateHead    = `UPDATE amber.heads SET seq = ?, stamp = greatest(stamp, ?) WHERE log = ?`
	insertToken   = `INSERT INTO amber.commits (log, token) VALUES (?, CAST(? AS uuid))`
	dropOldTokens = `DELETE FROM amber.commits WHERE (gen, token) IN (SELECT gen, token FROM amber.commits WHERE at < (extract(epoch FROM clock_timestamp()) * 1000)::int8 - ? ORDER BY at LIMIT ?)`
)

// end writes what goes with COMMIT: the head, and the token. The head has the stamp of the last entry,
// as the log itself says it in a file of SQLite: what was given to a version without an entry comes to nothing.
func (d *database) end(ctx context.Context, c *pgdb.Conn, t *tx, token string) error {
	err := errors.Join(c.Later(ctx, updateHead, t.Seq, int64(t.Logged), d.log), c.Later(ctx, insertToken, d.log, token))
	if d.writes++; d.writes%tokensEvery == 0 { // who leads is alone
		err = errors.Join(err, c.Later(ctx, dropOldTokens, tokensFor, 4*tokensEvery))
	}
	return err
}

// tx returns a transaction on a connection.
func (d *database) tx(ctx context.Context, c *pgdb.Conn, g *generation) *tx {
	return sqlcore.NewTx(&sqlrows.Tx{
		Ctx: ctx, Conn: c, Random: d.core.Random, Told: d.core.SetAside, Current: g.current, Now: amber.At(d.core.Clock()), Index: &g.index,
		Overwrite: leave, Far: !d.o.Plain,
	}, d.core)
}

// leave is what can be done about deleted rows: nothing. PostgreSQL keeps them until it
// vacuums, which the report of an erasure says.
func leave(*sqlrows.Tx) error { return nil }

// View implements [sqlcore.Database].
func (d *database) View(ctx context.Context, op, id string, fn func(*tx) error) error {
	return pgerr.Wrap(op, id, d.onLive(ctx, func(g *generation) error {
		return d.server.db.View(ctx, d.setup(g, false), func(c *pgdb.Conn, row []string) error {
			if _, err := d.readHead(g, row); err != nil {
				return err
			}
			return fn(d.tx(ctx, c, g))
		})
	}))
}

// bytesOf are the tables that take nearly all the room of a database.
var bytesOf = map[string][]string{
	logMemory:  {"memories", "revisions", "turns", "activity", "embeddings", "passages", "index_lists", "index_segments", "index_tail", "index_vectors", "changes", "notes", "note_objects"},
	logControl: {"tasks", "events", "approvals", "results", "queue", "changes"},
}

// Bytes implements [sqlcore.Database]: how much the rows take, without the indexes over them, which
// all agents share.
func (d *database) Bytes(t *tx) (n int64, err error) {
	for _, table := range bytesOf[d.log] {
		var b int64
		if err := t.Row(`SELECT coalesce(sum(pg_column_size(r)), 0) FROM ` + table + ` r`).Scan(&b); err != nil {
			return 0, err
		}
		n += b
	}
	return n, nil
}

// Kept names what PostgreSQL keeps of rows that were deleted.
func Kept() []string {
	return []string{
		"old versions of rows in the tables of PostgreSQL, until they are vacuumed and their room is used again",
		"the write-ahead log of PostgreSQL, its standbys, archives and base backups, as long as their operator keeps them",
	}
}

// Forget implements [sqlcore.Database]: it names what PostgreSQL keeps.
func (d *database) Forget(context.Context) ([]string, error) { return Kept(), nil }

func (d *database) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}
