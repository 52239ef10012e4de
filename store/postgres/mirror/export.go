package mirror

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/pgdb"
	"github.com/amber-memory/amber/internal/pgerr"
	"github.com/amber-memory/amber/store/postgres"
	"github.com/amber-memory/amber/store/postgres/schema"
	"github.com/amber-memory/amber/store/sqlite/rowfile"
)

// ExportOptions say how rows are written to files.
type ExportOptions struct {
	// Compare says how the files are compared with what was read; "" is [Counts].
	Compare Comparison
	// Document is called for each document of runtime state, by name; nil leaves them out. They are
	// of the same instant as the rows.
	Document func(Document) error
	// Frozen writes the rows of an agent that leaves or has left, see [postgres.Server.BeginDeparture].
	Frozen bool
	// Earlier is the folder of an earlier mirror to go on from. It must be "": every mirror
	// is made of all rows so far.
	Earlier string
}

// Exported says what was written.
type Exported struct {
	Gen       int64        // the generation, among all of the database
	Current   home.Current // its number, incarnation, device and clock
	At        amber.Time   // the instant, by the clock of the database
	Memory    Position
	Control   Position
	Tables    []Table
	Documents int
	Pin       time.Duration // how long it took to fix the instant
	Compared  Comparison    // that was made, and found nothing
}

const opExport = "write mirror"

// errMoved is for a generation that is not live any more, or of which the head is missing.
var errMoved = amber.Errorf(amber.KindDamaged, opExport, "", "the head of the agent says that its live generation is not live").WithHint("amber doctor")

// Export writes the rows of the live generation of an agent into a new memory.db and a new control.db
// in a folder, all of one instant. Writers go on meanwhile. The files are durable and
// have been compared when it returns; after an error there are none. Errors: not_found;
// conflict where a file is there; unsupported for an earlier mirror; those of the database and the disk.
func Export(ctx context.Context, a Agent, dir string, o ExportOptions) (e Exported, err error) {
	if err := a.check(); err != nil {
		return e, err
	}
	switch o.Compare {
	case "":
		o.Compare = Counts
	case Counts, Rows:
	default:
		return e, amber.Errorf(amber.KindInvalid, opExport, "", "the comparison is %q, want %q or %q", o.Compare, Counts, Rows)
	}
	if o.Earlier != "" {
		return e, amber.Errorf(amber.KindUnsupported, opExport, o.Earlier, "a mirror cannot go on from an earlier one yet")
	}
	x := &export{agent: a, dir: dir, o: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.abandon())
		}
	}()
	for gone := int64(0); ; {
		err := x.read(ctx)
		if errors.Is(err, errMoved) && x.result.Gen != gone {
			gone = x.result.Gen
			continue
		}
		if err != nil {
			return e, pgerr.Wrap(opExport, string(a.ID), err)
		}
		break
	}
	for len(x.writers) > 0 {
		if err := x.writers[0].Finish(ctx); err != nil {
			return e, err
		}
		x.finished, x.writers = append(x.finished, x.writers[0]), x.writers[1:]
	}
	if err := x.compare(ctx); err != nil {
		return e, err
	}
	x.result.Compared = o.Compare
	return x.result, nil
}

// export is one while it is made.
type export struct {
	agent    Agent
	dir      string
	o        ExportOptions
	writers  []*rowfile.Writer // that are not finished
	finished []*rowfile.Writer
	result   Exported
}

func (x *export) abandon() (err error) {
	for _, w := range append(x.writers, x.finished...) {
		err = errors.Join(err, w.Abandon())
	}
	return err
}

// longRead is for a transaction that reads everything: no statement of it is too long, and the disk may
// be slow between two of them.
const longRead = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '15min'`

const selectHeads = `SELECT (m.live AND c.live)::int, m.seq, m.stamp, c.seq, c.stamp, v.number, v.needs, (extract(epoch FROM clock_timestamp()) * 1000)::int8
FROM amber.heads m, amber.heads c, amber_meta.version v WHERE m.log = 'memory' AND c.log = 'control'`

// read pins an instant and writes its rows.
func (x *export) read(ctx context.Context) error {
	a, clock := x.agent, x.agent.Server.Clock()
	look := a.Server.Live
	if x.o.Frozen {
		look = a.Server.Frozen
	}
	gen, current, err := look(ctx, a.Tenant, a.ID)
	if err != nil {
		return err
	}
	begun := clock()
	return a.Server.DB().View(ctx, postgres.Enter(gen)+"; "+longRead+"; "+selectHeads, func(c *pgdb.Conn, row []string) error {
		x.result = Exported{Gen: gen, Current: current, Pin: clock().Sub(begun)}
		if err := x.head(row); err != nil {
			return err
		}
		files, err := rowfile.Files()
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := x.file(ctx, c, f); err != nil {
				return err
			}
		}
		return x.documents(ctx, c)
	})
}

func (x *export) head(row []string) error {
	if len(row) != 8 {
		return errMoved
	}
	var n [8]int64
	for i, text := range row {
		var err error
		if n[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return amber.Errorf(amber.KindDamaged, opExport, string(x.agent.ID), "the head of the agent is not a row of numbers")
		}
	}
	if n[0] != 1 && !x.o.Frozen {
		return errMoved
	}
	x.result.Memory, x.result.Control = Position{n[1], amber.Stamp(n[2])}, Position{n[3], amber.Stamp(n[4])}
	x.result.At = amber.UnixMilli(n[7])
	return schema.Judge(schema.Version{Number: n[5], Needs: n[6]})
}

// file writes the rows of one file.
func (x *export) file(ctx context.Context, c *pgdb.Conn, f rowfile.File) error {
	w, err := rowfile.Create(ctx, x.dir, f.Name)
	if err != nil {
		return err
	}
	x.writers = append(x.writers, w)
	for _, t := range f.Tables {
		last, err := x.table(ctx, c, w, f.Name, t)
		if err != nil {
			return err
		}
		want := x.result.Memory.Seq
		if f.Name == controlDB {
			want = x.result.Control.Seq
		}
		if t.Name == "changes" && last != want {
			return amber.Errorf(amber.KindDamaged, opExport, string(x.agent.ID), "the change log of %s ends with entry %d, its head says %d", f.Name, last, want).
				WithHint("amber doctor")
		}
	}
	return nil
}

// table writes the rows of one table. Last is the number in the first column of the last row, where it
// is one.
func (x *export) table(ctx context.Context, c *pgdb.Conn, w *rowfile.Writer, file string, t rowfile.Table) (last int64, err error) {
	rows, err := open(ctx, c.PG(), file, t)
	if err != nil {
		return 0, err
	}
	defer rows.rows.Close()
	d := newDigest(t)
	_, err = w.Insert(ctx, t, func() ([]any, error) {
		row, err := rows.next()
		if row == nil || err != nil {
			return nil, err
		}
		last, _ = row[0].(int64)
		return row, d.add(row)
	})
	x.result.Tables = append(x.result.Tables, d.table(file, t))
	return last, err
}

const selectDocuments = `SELECT name, revision, document FROM documents ORDER BY name`

// documents hands out the documents of runtime state. Notes, as objects and references of git,
// will be handed out beside them: they are not part of the files either.
func (x *export) documents(ctx context.Context, c *pgdb.Conn) error {
	if x.o.Document == nil {
		return nil
	}
	return c.Each(ctx, selectDocuments, nil, func(s interface{ Scan(...any) error }) error {
		var d Document
		if err := s.Scan(&d.Name, &d.Revision, &d.JSON); err != nil {
			return err
		}
		x.result.Documents++
		return x.o.Document(d)
	})
}

// compare reads the files again.
func (x *export) compare(ctx context.Context) error {
	tables := x.result.Tables
	for _, file := range []string{memoryDB, controlDB} {
		r, err := rowfile.Open(ctx, filepath.Join(x.dir, file), file, "")
		if err != nil {
			return err
		}
		n, err := x.compareFile(ctx, r, tables)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
		tables = tables[n:]
	}
	return nil
}

func (x *export) compareFile(ctx context.Context, r *rowfile.Reader, tables []Table) (n int, err error) {
	for i, t := range r.File().Tables {
		n, err := r.Count(ctx, t)
		if err != nil {
			return 0, err
		}
		if n != tables[i].Rows {
			return 0, differ(opExport, t.Name, fmt.Sprintf("the file has %d rows, the database %d", n, tables[i].Rows))
		}
		if x.o.Compare != Rows {
			continue
		}
		d := newDigest(t)
		if err := r.Each(ctx, t, d.add); err != nil {
			return 0, err
		}
		if d.sum() != tables[i].Digest {
			return 0, differ(opExport, t.Name, "the rows have another digest")
		}
	}
	return len(r.File().Tables), nil
}
