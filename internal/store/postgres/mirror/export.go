package mirror

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
	"github.com/amber-memory/amber/internal/store/rowfile"
	"github.com/amber-memory/amber/store/home"
)

// ExportOptions say how rows are written to files.
type ExportOptions struct {
	// Document is called for each document of runtime state, by name; nil leaves them out. They are
	// of the same instant as the rows.
	Document func(Document) error
	// VaultFile is called for each file of the agent's vault, by place; nil leaves them out. They are of the same instant.
	VaultFile func(VaultFile) error
	// Frozen writes the rows of an agent that leaves or has left, see [postgres.Server.BeginDeparture]. Then a document that is
	// not what its digest says is an error.
	Frozen bool
	// Update brings the files that are in the folder up to date, where they are of an earlier export:
	// what stays is not written again. Where they cannot be, the error is [rowfile.ErrOutdated].
	Update bool
	// Since is the mark of the files to update, which no other program has changed since. Export then reads only the
	// rows that were written after it, where the database can tell which those are. [Exported.Compared] says which rows
	// it read. May be nil.
	Since *Instant
	// Within is called in the transaction that reads, for what belongs to the same instant and is not in the
	// files; see [postgres.NotesIn]. May be nil.
	Within func(ctx context.Context, c *pgdb.Conn) error
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
	// VaultFiles is how many files of the vault were handed out.
	VaultFiles int
	Pin        time.Duration // how long it took to fix the instant
	Compared   Comparison    // that was made, and found nothing
	// Version is of the rows: it is another one after any write. See [SwitchOptions.Expect].
	Version string
	Changed int64 // rows that an update has written or deleted
	// Instant is for [ExportOptions.Since]; nil where the server does not tell enough.
	Instant *Instant
	// Full says why all rows were read; "" where only those were that are new.
	Full string
}

const opExport = "write mirror"

// errMoved is for a generation that is not live any more, or of which the head is missing.
var errMoved = amber.Errorf(amber.KindDamaged, opExport, "", "the head of the agent says that its live generation is not live").WithHint("amber doctor")

// Export writes the rows of the live generation of an agent into a new memory.db and a new control.db
// in a folder, all of one instant. Writers go on meanwhile. The files are durable and
// have been compared when it returns; after an error there are none. Files that are to be updated stay as they
// were. Errors: not_found; conflict where a file is there; [rowfile.ErrOutdated]; those of the database and the disk.
func Export(ctx context.Context, a Agent, dir string, o ExportOptions) (e Exported, err error) {
	if err := a.check(); err != nil {
		return e, err
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
			if err := x.abandon(); err != nil {
				return e, err
			}
			continue
		}
		if err != nil {
			return e, pgerr.Wrap(opExport, string(a.ID), err)
		}
		break
	}
	for len(x.writers) > 0 {
		w := x.writers[0]
		x.writers, x.finished = x.writers[1:], append(x.finished, w)
		if err := w.Finish(ctx); err != nil {
			return e, err
		}
	}
	if x.since != "" {
		x.result.Compared = Changes // before the files were finished
		return x.result, nil
	}
	if err := x.compare(ctx); err != nil {
		return e, err
	}
	x.result.Compared = Rows
	return x.result, nil
}

// export is one while it is made.
type export struct {
	agent    Agent
	dir      string
	o        ExportOptions
	writers  []writer // that are not finished
	finished []writer
	result   Exported
	schema   int64  // of the database
	since    string // the first transaction that the files may not know; "": all rows are read
}

// writer is a file that is made or brought up to date.
type writer interface {
	Finish(ctx context.Context) error
	Abandon() error
}

func (x *export) abandon() (err error) {
	for _, w := range append(x.writers, x.finished...) {
		err = errors.Join(err, w.Abandon())
	}
	x.writers, x.finished = nil, nil
	return err
}

// longRead is for a transaction that reads everything: no statement of it is too long, and the disk may
// be slow between two of them. To compile a statement takes longer than these take.
const longRead = `SET LOCAL statement_timeout = 0; SET LOCAL jit = off; SET LOCAL idle_in_transaction_session_timeout = '15min'`

const (
	// filling is for a transaction that fills a generation which is being built: no writer waits for it, and its rows
	// come from a slow disk.
	filling = `SET LOCAL idle_in_transaction_session_timeout = '1min'`
	// refilling is filling behind which the writers of an agent wait.
	refilling = `SET LOCAL statement_timeout = 0; SET LOCAL jit = off; ` + filling
)

const selectHeads = `SELECT (m.live AND c.live)::int, m.seq, m.stamp, c.seq, c.stamp, v.number, v.needs, (extract(epoch FROM clock_timestamp()) * 1000)::int8,
m.xmin::text, c.xmin::text FROM amber.heads m, amber.heads c, amber_meta.version v WHERE m.log = 'memory' AND c.log = 'control'`

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
		if err == nil {
			err = x.marks(ctx, c)
		}
		if err != nil {
			return err
		}
		write := x.file
		if x.since != "" {
			write = x.fileSince
		}
		for _, f := range files {
			if err := write(ctx, c, f); err != nil {
				return err
			}
		}
		if err := errors.Join(x.documents(ctx, c), x.vault(ctx, c)); err != nil || x.o.Within == nil {
			return err
		}
		return x.o.Within(ctx, c)
	})
}

func (x *export) head(row []string) error {
	if len(row) != 10 {
		return errMoved
	}
	var n [10]int64
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
	x.result.Version = version(x.result.Gen, x.result.Memory.Seq, n[8], x.result.Control.Seq, n[9])
	x.schema = n[5]
	return schema.Judge(schema.Version{Number: n[5], Needs: n[6]})
}

// version names a state of the rows. Every write writes the heads anew, so a write changes the numbers of the
// transactions that wrote them.
func version(gen, memory, memoryBy, control, controlBy int64) string {
	return fmt.Sprintf("%d memory %d by %d control %d by %d", gen, memory, memoryBy, control, controlBy)
}

// open opens one file to be written, and returns what writes the rows of a table to it.
func (x *export) open(ctx context.Context, f rowfile.File) (into func(rowfile.Table, func() ([]any, error)) error, err error) {
	if x.o.Update {
		u, err := rowfile.Update(ctx, x.dir, f.Name)
		if err != nil {
			return nil, err
		}
		x.writers = append(x.writers, u)
		return func(t rowfile.Table, next func() ([]any, error)) error {
			n, err := u.Replace(ctx, t, next)
			x.result.Changed += n
			return err
		}, nil
	}
	w, err := rowfile.Create(ctx, x.dir, f.Name)
	if err != nil {
		return nil, err
	}
	x.writers = append(x.writers, w)
	return func(t rowfile.Table, next func() ([]any, error)) error {
		_, err := w.Insert(ctx, t, next)
		return err
	}, nil
}

// file writes the rows of one file.
func (x *export) file(ctx context.Context, c *pgdb.Conn, f rowfile.File) error {
	into, err := x.open(ctx, f)
	if err != nil {
		return err
	}
	tables := make([]Table, len(f.Tables))
	for _, i := range lateLast(f.Tables) {
		t := f.Tables[i]
		last, carried, err := x.table(ctx, c, into, f.Name, t)
		if err != nil {
			return err
		}
		tables[i] = carried
		want := x.result.Memory.Seq
		if f.Name == controlDB {
			want = x.result.Control.Seq
		}
		if t.Name == "changes" && last != want {
			return endsElsewhere(x.agent.ID, f.Name, last, want)
		}
	}
	x.result.Tables = append(x.result.Tables, tables...)
	return nil
}

// lateLast are the places of tables, those that triggers write behind all others.
func lateLast(tables []rowfile.Table) (places []int) {
	for _, late := range []bool{false, true} {
		for i, t := range tables {
			if slices.Contains(derived, t.Name) == late {
				places = append(places, i)
			}
		}
	}
	return places
}

// table writes the rows of one table. Last is the number in the first column of the last row, where it
// is one.
func (x *export) table(ctx context.Context, c *pgdb.Conn, into func(rowfile.Table, func() ([]any, error)) error, file string, t rowfile.Table) (last int64, carried Table, err error) {
	rows, err := open(ctx, c.PG(), file, t)
	if err != nil {
		return 0, carried, err
	}
	defer rows.rows.Close()
	d := newDigest(t)
	err = into(t, func() ([]any, error) {
		row, err := rows.next()
		if row == nil || err != nil {
			return nil, err
		}
		last, _ = row[0].(int64)
		return row, d.add(row)
	})
	return last, d.table(file, t), err
}

const selectDocuments = `SELECT name, revision, document FROM documents ORDER BY name`

// documents hands out the documents of runtime state.
func (x *export) documents(ctx context.Context, c *pgdb.Conn) error {
	if x.o.Document == nil {
		return nil
	}
	return c.Each(ctx, selectDocuments, nil, func(s interface{ Scan(...any) error }) error {
		var d Document
		if err := s.Scan(&d.Name, &d.Revision, &d.JSON); err != nil {
			return err
		}
		if x.o.Frozen {
			if err := d.check(opExport); err != nil {
				return err
			}
		}
		x.result.Documents++
		return x.o.Document(d)
	})
}

// vault hands out the files of the vault, one at a time.
func (x *export) vault(ctx context.Context, c *pgdb.Conn) error {
	if x.o.VaultFile == nil {
		return nil
	}
	files := postgres.VaultIn(ctx, c)
	list, _, err := files.List()
	if err != nil {
		return err
	}
	for _, f := range list {
		b, _, err := files.Read(f.Place)
		if err == nil {
			err = x.o.VaultFile(VaultFile{Place: f.Place, Bytes: b})
		}
		if err != nil {
			return err
		}
		x.result.VaultFiles++
	}
	return nil
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
