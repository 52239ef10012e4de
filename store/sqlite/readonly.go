package sqlite

import (
	"context"
	"errors"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/store/home"
)

// ReadOnly answers from a memory.db that is not live and is only read, wherever
// its bytes lie. It is safe for concurrent use. A control.db can be opened too,
// for [image.Diff] alone.
type ReadOnly struct {
	s      *sqlcore.Contracts
	db     *database
	header image.Header
	files  *sqlconn.Served // nil for a file of the operating system
}

// OpenReadOnly opens a database of size bytes that r reads. R must be safe for
// concurrent use and stays open until after Close. Only the pages a question
// needs are read, which is what this is for: no check reads them all. The
// schema must be, row by row, that of a migration of Amber. Name is for
// messages. Errors: damaged; too_new; refused for another schema than Amber's.
func OpenReadOnly(ctx context.Context, name string, r io.ReaderAt, size int64, o Options) (*ReadOnly, error) {
	h, err := image.ReadHeader(r, size)
	if err == nil {
		err = sqlconn.CheckSchemaTree(r, h.PageSize, h.Pages)
	}
	if err != nil {
		return nil, image.AboutFile(name, err)
	}
	files, err := sqlconn.Serve(r, size)
	if err != nil {
		return nil, sqlconn.Wrap("open database", name, err)
	}
	v, err := openReadOnly(ctx, name, files.URI(), h, o)
	if err != nil {
		if cause := files.Failure(); cause != nil {
			err = image.AboutFile(name, cause)
		}
		return nil, errors.Join(err, files.Close())
	}
	v.files = files
	return v, nil
}

// OpenReadOnlyFile does the same for a file that no process writes meanwhile.
func OpenReadOnlyFile(ctx context.Context, path string, o Options) (*ReadOnly, error) {
	h, err := image.ReadFile(path)
	if err != nil {
		return nil, image.AboutFile(path, err)
	}
	return openReadOnly(ctx, path, sqlconn.UntrustedURI(path, nil), h, o)
}

// still is the ground of a database that has one generation and is not
// written.
type still struct{}

func (still) Current() (home.Current, error) { return home.Current{}, nil }
func (still) Gone(home.Current) error        { return nil }
func (still) GenDir(home.Current) string     { return "" }

func (still) Write(context.Context, string, func(home.Current) error) error { return errReadOnly }

func (still) WriteTogether(context.Context, string, any, func(home.Current, func() (any, bool)) error) (bool, error) {
	return false, errReadOnly
}

func (still) Exclusive(context.Context, func(home.Current) error) error { return errReadOnly }

var errReadOnly = amber.Errorf(amber.KindRefused, "write", "", "a snapshot can be read, not written")

func openReadOnly(ctx context.Context, name, dsn string, h image.Header, o Options) (*ReadOnly, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	core := o.core()
	known := h.Schema // as the file has it
	known.Migrations = known.Migrations[:min(max(h.Version, 0), known.Version())]
	d := &database{ground: still{}, name: name, schema: known, o: o, core: core}
	readers, err := sqlconn.Open(dsn, o.Readers)
	if err != nil {
		return nil, sqlconn.Wrap("open database", name, err)
	}
	d.live = &handles{readers: readers}
	v := &ReadOnly{db: d, header: h, s: sqlcore.New(d, d, nil, core)}
	if h.Schema.File == sqlfile.MemorySchema.File {
		v.s.OfSchema(h.Version)
	}
	if err := v.check(ctx); err != nil {
		return nil, errors.Join(image.AboutFile(name, err), d.close())
	}
	return v, nil
}

// check compares the schema before anything else is asked.
func (v *ReadOnly) check(ctx context.Context) error {
	want, err := v.header.Schema.ShapeAt(v.header.Version)
	if err != nil {
		return err
	}
	return v.db.View(ctx, "read schema", "", func(t *tx) error {
		got, err := sqlrows.All(t.Tx, sqlconn.ScanObject, sqlconn.SelectShape)
		if err != nil {
			return sqlrows.Damaged("read schema", "", err)
		}
		if why := want.Differs(got); why != "" {
			return amber.Errorf(amber.KindRefused, "compare schema", "", "%s", why)
		}
		return nil
	})
}

// Close closes the database, which must not be used afterwards. It may be
// called twice.
func (v *ReadOnly) Close() error {
	err := v.db.close()
	if v.files != nil {
		err = errors.Join(err, v.files.Close())
	}
	return err
}

// NotesHead returns the commit that its copy of the notes is of; "" for none, and for a file of a
// schema without notes.
func (v *ReadOnly) NotesHead(ctx context.Context) (string, error) {
	if !v.s.HasNotes() {
		return "", nil
	}
	head, err := v.s.NotesHead(ctx)
	return head, v.answer(err)
}

// answer says what an error of a question means: SQLite does not tell why a
// page could not be read.
func (v *ReadOnly) answer(err error) error {
	if err == nil || v.files == nil {
		return err
	}
	if cause := v.files.Failure(); cause != nil {
		return image.AboutFile(v.db.name, cause)
	}
	return err
}

// Recall implements [amber.LongTerm], as far as it reads.
func (v *ReadOnly) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	r, err := v.s.Recall(ctx, q)
	return r, v.answer(err)
}

// Get answers as [amber.MemoryReader] does.
func (v *ReadOnly) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	m, err := v.s.Get(ctx, id)
	return m, v.answer(err)
}

// List answers as [amber.MemoryReader] does.
func (v *ReadOnly) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	p, err := v.s.List(ctx, q)
	return p, v.answer(err)
}
