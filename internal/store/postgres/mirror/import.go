package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/rowfile"
	"github.com/amber-memory/amber/store/home"
)

// Files are the two files of an agent, at rest: no process writes to them.
type Files struct {
	Memory  string
	Control string
}

// ImportOptions say what becomes of files.
type ImportOptions struct {
	// Scratch is a folder in which copies of files with an older schema are migrated. "" refuses
	// such files.
	Scratch string
	// From names what the files are of, the id of a snapshot for example; may be "".
	From string
	// Device is that of an agent that is not in the database yet, or that moves there; "" makes one. An agent
	// that is there keeps its own.
	Device string
	// Moves says that the agent arrives by a move, see [postgres.Server.BeginArrival], and is not live.
	Moves bool
	// Clock is the latest stamp that is known of the agent where it comes from, beside those
	// in the files.
	Clock amber.Stamp
	// Documents calls put for each document of runtime state; nil has none.
	Documents func(put func(Document) error) error
	// VaultFiles calls put for each file of the agent's vault; nil has none. The reader of a file checks what the file
	// says of itself.
	VaultFiles func(put func(VaultFile) error) error
	// Notes is the repository of the notes. The objects are a whole one: the caller has seen to that. With nil there is
	// none, and the copy of the notes in the files stays as it is.
	Notes *Notes
	// Incarnation is the one that the files name as their last, where they were made for this generation; "" makes one.
	Incarnation string
	// Lease is for how long the generation is kept after its owner was last heard of; default 10
	// minutes. Every step of the import renews it.
	Lease time.Duration
}

// Building is a generation that is not live. Its owner ends it with Switch or Discard. It is for one goroutine
// at a time.
type Building struct {
	// Gen is its number among all generations of the database.
	Gen int64
	// Current is what it will be called when it is live; the clock is raised then.
	Current home.Current
	Memory  Position
	Control Position
	Tables  []Table
	Objects int // of the notes
	// Replaces is the generation that was live when it began; 0 where the agent is new.
	Replaces int64

	agent  Agent
	state  string // that the agent has until the switch
	lease  time.Duration
	over   bool
	inside *pgdb.Conn // a transaction that all steps are part of; nil gives each its own
}

// Notes is a repository of notes.
type Notes struct {
	Refs    gitobj.Refs
	Objects gitobj.ObjectSource
}

const (
	opImport     = "read files into the database"
	defaultLease = 10 * time.Minute
	// working is the kind of work that is done by one at a time on an agent: building a generation.
	working = "generation"
)

// Import puts the rows of two files into a new generation of an agent, which may be new itself. Users of the agent see
// nothing of it. The files are taken for a stranger's: the caller has examined them, and what the database does not
// take is refused here. All rows have been read back and compared when it returns. After an error the generation is
// removed, at the latest by [Sweep]. Errors: damaged and invalid for files, with table and row; those of
// [rowfile.Open]; busy while another generation of the agent is built; those of the database.
func Import(ctx context.Context, a Agent, f Files, o ImportOptions) (*Building, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	b := &Building{agent: a, lease: o.Lease}
	readers, done, err := b.open(ctx, f, o)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := b.begin(ctx, o); err != nil {
		return nil, pgerr.Wrap(opImport, string(a.ID), err)
	}
	if err := b.fill(ctx, readers, o); err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
		defer cancel()
		_ = b.Discard(late) // what it does not come to do, Sweep does
		return nil, pgerr.Wrap(opImport, string(a.ID), err)
	}
	return b, nil
}

// open opens the files and reads where their logs end.
func (b *Building) open(ctx context.Context, f Files, o ImportOptions) (readers []*rowfile.Reader, done func(), err error) {
	done = func() {
		for _, r := range readers {
			_ = r.Close()
		}
	}
	for _, e := range []struct {
		path, file string
		at         *Position
	}{{f.Memory, memoryDB, &b.Memory}, {f.Control, controlDB, &b.Control}} {
		r, err := rowfile.Open(ctx, e.path, e.file, o.Scratch)
		if err == nil {
			readers = append(readers, r)
			*e.at, err = end(ctx, r)
		}
		if err != nil {
			done()
			return nil, nil, err
		}
	}
	return readers, done, nil
}

const setPositions = `UPDATE amber.heads SET seq = CASE log WHEN 'memory' THEN $1::int8 ELSE $3::int8 END, stamp = CASE log WHEN 'memory' THEN $2::int8 ELSE $4::int8 END`

// refill replaces all rows of the generation inside a transaction that is about it.
func (b *Building) refill(ctx context.Context, c *pgdb.Conn, f Files, o ImportOptions) error {
	readers, done, err := b.open(ctx, f, o)
	if err != nil {
		return err
	}
	defer done()
	tables, err := tablesToEmpty(ctx, b.agent.Server)
	if err != nil {
		return err
	}
	b.inside, b.Tables = c, nil
	defer func() { b.inside = nil }()
	for deleted := int64(1); deleted > 0; {
		deleted = 0
		for _, t := range tables {
			if t.name == headsTable {
				continue
			}
			tag, err := c.PG().Exec(ctx, fmt.Sprintf(deleteRest, t.name))
			if err != nil {
				return err
			}
			deleted += tag.RowsAffected()
		}
	}
	b.Current.Clock = max(b.Current.Clock, o.Clock, b.Memory.Stamp, b.Control.Stamp)
	if _, err := c.PG().Exec(ctx, setPositions, b.Memory.Seq, int64(b.Memory.Stamp), b.Control.Seq, int64(b.Control.Stamp)); err != nil {
		return err
	}
	return b.fill(ctx, readers, o)
}

// abandonWithin is how long an import that failed tries to remove the rows that it has left.
const abandonWithin = 10 * time.Second

// end reads where the change log of a file ends. Numbers that leave no room for those after them are refused.
func end(ctx context.Context, r *rowfile.Reader) (Position, error) {
	seq, stamp, err := r.End(ctx)
	if err == nil && (seq < 0 || seq > math.MaxInt64/2 || stamp < 0) {
		err = amber.Errorf(amber.KindDamaged, opImport, r.File().Name, "the change log ends with entry %d and stamp %d, which cannot be", seq, stamp)
	}
	return Position{seq, amber.Stamp(stamp)}, err
}

const (
	takeWork = `INSERT INTO amber_meta.work AS w (kind, tenant, agent, holder, fence, until) VALUES ($1, $2, $3, $4, 1, now() + $5 * interval '1 millisecond')
ON CONFLICT (kind, tenant, agent) DO UPDATE SET holder = excluded.holder, fence = w.fence + 1, until = excluded.until WHERE w.until IS NULL OR w.until < now()`
	selectAgent      = `SELECT coalesce(live_gen, 0), device, state FROM amber_meta.agents WHERE tenant = $1 AND agent = $2`
	insertGeneration = `INSERT INTO amber_meta.generations (tenant, agent, number, incarnation, state, replaces, from_snapshot, clock)
SELECT $1, $2, coalesce(max(number), 0) + 1, $3, 'building', nullif($4::int8, 0), $5::text, $6::int8 FROM amber_meta.generations WHERE tenant = $1 AND agent = $2 RETURNING gen, number`
	setGeneration = `SELECT set_config('amber.gen', $1::int8::text, true)`
	insertHeads   = `INSERT INTO amber.heads (log, live, incarnation, device, seq, stamp) VALUES ('memory', false, $1, $2, $3, $4), ('control', false, $1, $2, $5, $6)`
	isBegun       = `SELECT coalesce((SELECT gen FROM amber_meta.generations WHERE incarnation = $1), 0)`
)

// begin makes the generation, and the row of work that says that this import builds it.
func (b *Building) begin(ctx context.Context, o ImportOptions) (err error) {
	a := b.agent
	if b.Current.Incarnation = o.Incarnation; o.Incarnation == "" {
		if b.Current.Incarnation, err = a.Server.NewID(); err != nil {
			return err
		}
	} else if err := amber.CheckID("incarnation", o.Incarnation); err != nil {
		return err
	}
	device := o.Device
	if device == "" {
		if device, err = a.Server.NewID(); err != nil {
			return err
		}
	}
	b.Current.Clock = max(o.Clock, b.Memory.Stamp, b.Control.Stamp)
	return a.Server.DB().Update(ctx, pgdb.Work{
		Setup: postgres.Enter(0),
		Do: func(conn *pgdb.Conn, _ []string) error {
			c := conn.PG()
			tag, err := c.Exec(ctx, takeWork, working, string(a.Tenant), string(a.ID), b.Current.Incarnation, b.lease.Milliseconds())
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return amber.Errorf(amber.KindBusy, opImport, string(a.ID), "another generation of the agent is being built").
					WithHint("wait until it is live or was given up, and try again")
			}
			state := "live"
			if b.state = state; o.Moves {
				b.state = "arriving"
			}
			b.Current.Device = device
			err = c.QueryRow(ctx, selectAgent, string(a.Tenant), string(a.ID)).Scan(&b.Replaces, &b.Current.Device, &state)
			if err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			if state != b.state {
				return amber.Errorf(amber.KindRefused, opImport, string(a.ID), "the agent is %s, want one that is %s", state, b.state)
			}
			if o.Moves { // what an earlier move has left may be of another agent of this name
				b.Current.Device = device
			}
			err = c.QueryRow(ctx, insertGeneration, string(a.Tenant), string(a.ID), b.Current.Incarnation, b.Replaces, o.From, int64(b.Current.Clock)).
				Scan(&b.Gen, &b.Current.Generation)
			if err != nil {
				return err
			}
			if _, err := c.Exec(ctx, setGeneration, b.Gen); err != nil {
				return err
			}
			_, err = c.Exec(ctx, insertHeads, b.Current.Incarnation, b.Current.Device, b.Memory.Seq, int64(b.Memory.Stamp), b.Control.Seq, int64(b.Control.Stamp))
			return err
		},
		// Where the lost transaction still runs and commits after this look, Sweep removes what it made.
		Committed: func(ctx context.Context, conn *pgdb.Conn) (bool, error) {
			var gen int64
			err := conn.PG().QueryRow(ctx, isBegun, b.Current.Incarnation).Scan(&gen)
			return gen != 0, err
		},
	})
}

const (
	lockGeneration = `UPDATE amber_meta.work SET until = now() + %d * interval '1 millisecond' WHERE kind = '%s' AND tenant = %s AND agent = %s AND holder = '%s';
SELECT g.state, coalesce((SELECT w.holder FROM amber_meta.work w WHERE w.kind = '%[2]s' AND w.tenant = g.tenant AND w.agent = g.agent), '') FROM amber_meta.generations g WHERE g.gen = %[6]d FOR UPDATE`
	insertToken = `INSERT INTO amber.commits (log, token) VALUES ('memory', '%s')`
	isCommitted = `SELECT EXISTS (SELECT 1 FROM amber.commits WHERE token = $1)`
)

// literal is a text in a statement that has no arguments.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// step runs one transaction on the rows of the generation, and renews the lease.
func (b *Building) step(ctx context.Context, do func(c *pgx.Conn) error) error {
	return b.stepIn(ctx, func(c *pgdb.Conn) error { return do(c.PG()) })
}

// stepIn is step for what needs the transaction.
func (b *Building) stepIn(ctx context.Context, do func(c *pgdb.Conn) error) error {
	if b.inside != nil {
		return do(b.inside)
	}
	if b.over {
		return amber.Errorf(amber.KindInvalid, opImport, string(b.agent.ID), "the generation is live or was given up")
	}
	token, err := b.agent.Server.NewID()
	if err != nil {
		return err
	}
	return b.agent.Server.DB().Update(ctx, pgdb.Work{
		Setup: postgres.Enter(b.Gen) + "; " + filling + "; " + fmt.Sprintf(lockGeneration, b.lease.Milliseconds(), working, literal(string(b.agent.Tenant)), literal(string(b.agent.ID)), b.Current.Incarnation, b.Gen),
		Do: func(c *pgdb.Conn, row []string) error {
			if len(row) != 2 || row[0] != "building" || row[1] != b.Current.Incarnation {
				return b.lost()
			}
			return do(c)
		},
		End: func() string { return fmt.Sprintf(insertToken, token) },
		Committed: func(ctx context.Context, c *pgdb.Conn) (committed bool, err error) {
			err = c.PG().QueryRow(ctx, isCommitted, token).Scan(&committed)
			return committed, err
		},
	})
}

func (b *Building) lost() error {
	return amber.Errorf(amber.KindConflict, opImport, string(b.agent.ID), "the generation that was being built is given up: nothing was heard of its owner for %s", b.lease).
		WithHint("begin again")
}

// derived are the tables that triggers write. They are emptied and filled last.
var derived = []string{"index_dirty", "queue_counts"}

// fill copies all rows and compares them.
func (b *Building) fill(ctx context.Context, readers []*rowfile.Reader, o ImportOptions) error {
	for _, r := range readers {
		tables := map[string]Table{}
		for _, late := range []bool{false, true} {
			for _, t := range r.File().Tables {
				if slices.Contains(derived, t.Name) != late {
					continue
				}
				if late {
					err := b.step(ctx, func(c *pgx.Conn) error {
						_, err := c.Exec(ctx, "DELETE FROM "+name(r.File().Name, t))
						return err
					})
					if err != nil {
						return err
					}
				}
				var err error
				if tables[t.Name], err = b.table(ctx, r, t); err != nil {
					return err
				}
			}
		}
		for _, t := range r.File().Tables {
			b.Tables = append(b.Tables, tables[t.Name])
		}
	}
	if o.Documents != nil {
		if err := o.Documents(func(d Document) error { return b.document(ctx, d) }); err != nil {
			return err
		}
	}
	if o.VaultFiles != nil {
		if err := o.VaultFiles(func(f VaultFile) error { return b.vaultFile(ctx, f) }); err != nil {
			return err
		}
	}
	if err := b.compare(ctx, readers); err != nil {
		return err
	}
	return b.notes(ctx, o.Notes)
}

// How many objects of notes are stored in one transaction.
const (
	noteObjects = 512
	noteBytes   = 8 << 20
)

// notes stores the repository of the notes, each object under the id of its bytes. The copy by which notes are found is made anew where it is
// not of the branch.
func (b *Building) notes(ctx context.Context, n *Notes) error {
	if n == nil {
		return nil
	}
	var list []gitobj.Object
	bytes := 0
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		err := b.stepIn(ctx, func(c *pgdb.Conn) error { return postgres.NotesIn(ctx, c).Put(list...) })
		list, bytes = list[:0], 0
		return err
	}
	seen := map[string]bool{}
	add := func(oid string, raw []byte) error {
		if seen[oid] {
			return nil
		}
		seen[oid] = true
		o, err := gitobj.CheckObject(oid, raw)
		if err != nil {
			return err
		}
		o.Raw = slices.Clone(raw) // its owner may use the bytes again
		list = append(list, o)
		if bytes += len(raw); len(list) >= noteObjects || bytes >= noteBytes {
			return flush()
		}
		return nil
	}
	if n.Objects != nil {
		if err := n.Objects(add); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if err := b.stepIn(ctx, func(c *pgdb.Conn) error { return postgres.NotesIn(ctx, c).SetRefs(n.Refs) }); err != nil {
		return err
	}
	b.Objects = len(seen)
	return b.compareNotes(ctx, n.Refs, seen)
}

// compareNotes reads all objects and references back. Left are the ids of the objects.
func (b *Building) compareNotes(ctx context.Context, refs gitobj.Refs, left map[string]bool) error {
	return b.view(ctx, func(c *pgdb.Conn, _ []string) error {
		rows := postgres.NotesIn(ctx, c)
		err := rows.Objects(func(oid string, _ []byte) error {
			if !left[oid] {
				return differ(opImport, "note_objects", fmt.Sprintf("the object %.40q was not put there", oid))
			}
			delete(left, oid)
			return nil
		})
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return differ(opImport, "note_objects", fmt.Sprintf("%d objects are missing", len(left)))
		}
		have, err := rows.Refs()
		if err == nil && !slices.Equal(have.Refs, refs.Refs) {
			err = differ(opImport, "note_refs", "the references are others")
		}
		return err
	})
}

// table copies the rows of one table.
func (b *Building) table(ctx context.Context, r *rowfile.Reader, t rowfile.Table) (Table, error) {
	d, rows := newDigest(t), newBatch(t)
	flush := func() error {
		if rows.rows == 0 {
			return nil
		}
		err := b.step(ctx, func(c *pgx.Conn) error { return rows.insert(ctx, c, r.File().Name) })
		if err != nil {
			return refused(t.Name, d.rows-int64(rows.rows)+1, d.rows, err)
		}
		rows.clear()
		return nil
	}
	err := r.Each(ctx, t, func(row []any) error {
		if err := d.add(row); err != nil {
			return err
		}
		if rows.add(row); rows.full() {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return d.table(r.File().Name, t), err
}

var classes = regexp.MustCompile(`^(22|23|54)`)

// refused names the rows in which the server found something that it does not take. Others are not the
// file's fault.
func refused(table string, first, last int64, err error) error {
	var s *pgconn.PgError
	if !errors.As(err, &s) || !classes.MatchString(s.Code) {
		return err
	}
	var told *amber.Error
	errors.As(pgerr.Wrap(opImport, table, err), &told)
	return amber.Errorf(amber.KindDamaged, opImport, table, "the database does not take one of the rows %d to %d in the order of the key: %w", first, last, told.Err)
}

const upsertDocument = `INSERT INTO amber.documents (name, revision, document) VALUES ($1, $2, $3)`

// document stores one document of runtime state.
func (b *Building) document(ctx context.Context, d Document) error {
	if err := d.check(opImport); err != nil {
		return err
	}
	return b.step(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, upsertDocument, d.Name, d.Revision, string(d.JSON))
		return err
	})
}

// vaultFile stores one file of the vault and reads it back.
func (b *Building) vaultFile(ctx context.Context, f VaultFile) error {
	return b.stepIn(ctx, func(c *pgdb.Conn) error {
		files := postgres.VaultIn(ctx, c)
		if err := files.Put(f.Place, f.Bytes); err != nil {
			return err
		}
		is, _, err := files.Read(f.Place)
		if err == nil && !bytes.Equal(is, f.Bytes) {
			err = differ(opImport, "vault_files", "a file of the vault has other bytes")
		}
		return err
	})
}

// compare reads all rows back.
func (b *Building) compare(ctx context.Context, readers []*rowfile.Reader) error {
	return b.view(ctx, func(c *pgdb.Conn, _ []string) error {
		at := 0
		for _, r := range readers {
			for _, t := range r.File().Tables {
				if err := compareTable(ctx, c.PG(), r.File().Name, t, b.Tables[at]); err != nil {
					return err
				}
				at++
			}
		}
		return nil
	})
}

// view reads the rows of the generation.
func (b *Building) view(ctx context.Context, fn func(c *pgdb.Conn, _ []string) error) error {
	if b.inside != nil {
		return fn(b.inside, nil)
	}
	return b.agent.Server.DB().View(ctx, postgres.Enter(b.Gen)+"; "+longRead+"; SELECT 1", fn)
}

func compareTable(ctx context.Context, c *pgx.Conn, file string, t rowfile.Table, want Table) error {
	rows, err := open(ctx, c, file, t)
	if err != nil {
		return err
	}
	defer rows.rows.Close()
	d := newDigest(t)
	for {
		row, err := rows.next()
		if err != nil {
			return err
		}
		if row == nil {
			break
		}
		if err := d.add(row); err != nil {
			return err
		}
	}
	switch {
	case d.rows != want.Rows:
		return differ(opImport, t.Name, fmt.Sprintf("the database has %d rows, the file %d", d.rows, want.Rows))
	case d.sum() != want.Digest:
		return differ(opImport, t.Name, "the rows have another digest")
	}
	return nil
}
