package image

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/wire"
)

// FreezeBoth pins memory.db and control.db of a folder, in that order, at this
// instant. The caller holds the exclusive lock of the agent; FreezeBoth locks both
// databases against other programs too while it runs. The frozen databases stay as
// they are while programs write on or make a checkpoint. A database that is
// damaged is frozen as it is; [wire.DatabaseInfo] says what is wrong. Errors:
// damaged where SQLite cannot open it at all; busy, after wait.
func FreezeBoth(ctx context.Context, dir string, wait time.Duration) (frozen []wire.FrozenDatabase, err error) {
	var locks []*raw
	defer func() {
		for _, l := range locks {
			err = errors.Join(err, l.close()) // undoes its transaction, which changed nothing
		}
		if err != nil {
			for _, f := range frozen {
				err = errors.Join(err, f.Close())
			}
			frozen = nil
		}
	}()
	schemas := []*sqlfile.Schema{&sqlfile.MemorySchema, &sqlfile.ControlSchema}
	for _, s := range schemas {
		path := filepath.Join(dir, s.File)
		if err := sqlfile.CheckFile(path); err != nil {
			return frozen, err
		}
		l, err := lockDatabase(ctx, path, wait)
		if err != nil {
			return frozen, sqlconn.Wrap("freeze database", path, err)
		}
		locks = append(locks, l)
	}
	for _, s := range schemas {
		path := filepath.Join(dir, s.File)
		f, err := pin(ctx, path, url.Values{"mode": {"rw"}}, wait)
		if err != nil {
			return frozen, sqlconn.Wrap("freeze database", path, err)
		}
		f.schema = s
		frozen = append(frozen, f)
	}
	return frozen, nil
}

// lockDatabase returns a connection that keeps every other program from
// writing until it is closed.
func lockDatabase(ctx context.Context, path string, wait time.Duration) (*raw, error) {
	r, err := openRaw(sqlconn.FileURI(path, url.Values{"mode": {"rw"}}), patienceMS)
	if err != nil {
		return nil, err
	}
	_ = r.exec("PRAGMA writable_schema=1") // damage is no reason not to lock; nothing is written
	if err := r.insist(ctx, "BEGIN IMMEDIATE", wait); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// patienceMS is how long SQLite waits for a lock before we look whether the
// caller still wants it, in milliseconds.
const patienceMS = 50

// insist runs a statement that may find the database locked, until the time is
// over.
func (r *raw) insist(ctx context.Context, query string, wait time.Duration) error {
	for left := wait; ; left -= patienceMS * time.Millisecond {
		err := r.exec(query)
		var e *rawError
		if !errors.As(err, &e) || e.code&0xff != lib.SQLITE_BUSY || left <= 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// frozenDatabase is a read transaction that has begun, on a connection of its
// own.
type frozenDatabase struct {
	path   string
	r      *raw
	schema *sqlfile.Schema // what it should be; nil for a database that is not Amber's
	info   wire.DatabaseInfo
	looked bool // info.Damage says what was found
	// still returns an error if a database that is read without a lock has changed;
	// nil where the transaction keeps it as it is.
	still func() error
}

var _ wire.FrozenDatabase = (*frozenDatabase)(nil)

// pin begins a read transaction on a database, also on one that SQLite calls
// corrupt.
func pin(ctx context.Context, path string, q url.Values, wait time.Duration) (*frozenDatabase, error) {
	f, err := begin(ctx, path, q, wait, strict)
	var e *rawError
	if !errors.As(err, &e) || e.code&0xff != lib.SQLITE_CORRUPT {
		return f, err
	}
	f, terr := begin(ctx, path, q, wait, tolerant)
	if terr != nil {
		return nil, err
	}
	f.info.Damage = e.Error()
	return f, nil
}

// strict and tolerant are what a connection is told first. Tolerant, SQLite
// goes on with what it can read of a schema, which is enough for sqlite_dbpage,
// and does not compare the number of pages with the size of the file. The
// statement that reads the schema fails nevertheless; those after it do not.
var (
	strict   = []string{"PRAGMA trusted_schema=0", "PRAGMA query_only=1"}
	tolerant = []string{"PRAGMA trusted_schema=0", "PRAGMA query_only=1", "PRAGMA writable_schema=1", "SELECT 1 FROM sqlite_schema"}
)

// begin pins a view. BEGIN alone pins nothing: the first statement that reads
// does, even if it reads the header alone.
func begin(ctx context.Context, path string, q url.Values, wait time.Duration, first []string) (*frozenDatabase, error) {
	r, err := openRaw(sqlconn.FileURI(path, q), patienceMS)
	if err != nil {
		return nil, err
	}
	f := &frozenDatabase{path: path, r: r, info: wire.DatabaseInfo{Name: filepath.Base(path)}}
	for _, query := range first {
		_ = r.exec(query) // what matters shows below
	}
	err = r.exec("BEGIN")
	if err == nil {
		err = r.insist(ctx, "PRAGMA user_version", wait)
	}
	if err == nil {
		err = f.describe()
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return f, nil
}

// describe reads what Info tells.
func (f *frozenDatabase) describe() (err error) {
	if err := f.r.exec("PRAGMA cache_size=16"); err != nil { // pages come once and in order
		return err
	}
	var size int64
	for _, n := range []struct {
		query string
		into  *int64
	}{
		{"PRAGMA application_id", &f.info.ApplicationID},
		{"PRAGMA user_version", &f.info.Schema},
		{"PRAGMA page_count", &f.info.Pages},
		{"PRAGMA page_size", &size},
	} {
		if *n.into, err = f.r.number(n.query); err != nil {
			return err
		}
	}
	f.info.PageSize = int(size)
	return nil
}

// Info implements [wire.FrozenDatabase]. What ReadPages finds is added to the
// damage. Nothing expensive is looked for: that is for Check.
func (f *frozenDatabase) Info() wire.DatabaseInfo {
	if !f.looked {
		f.looked = true
		f.note(f.look())
	}
	return f.info
}

// note adds to what is wrong.
func (f *frozenDatabase) note(what string) {
	if f.info.Damage != "" && what != "" {
		what = f.info.Damage + "; " + what
	}
	f.info.Damage = cmp.Or(what, f.info.Damage)
}

// look says what is wrong with the database as far as that is cheap to tell.
func (f *frozenDatabase) look() string {
	header, err := f.header()
	if err != nil {
		return "the header cannot be read: " + err.Error()
	}
	counted := int64(binary.BigEndian.Uint32(header[28:]))
	valid := binary.BigEndian.Uint32(header[24:]) == binary.BigEndian.Uint32(header[92:])
	if valid && counted != f.info.Pages {
		return fmt.Sprintf("the header counts %d pages, the file has %d", counted, f.info.Pages)
	}
	if free := int64(binary.BigEndian.Uint32(header[36:])); free >= f.info.Pages {
		return fmt.Sprintf("the header counts %d free pages, the file has %d pages", free, f.info.Pages)
	}
	if f.schema == nil {
		return ""
	}
	return f.strange()
}

// header returns the first 100 bytes of the database.
func (f *frozenDatabase) header() ([]byte, error) {
	q, err := f.r.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = 1")
	if err != nil {
		return nil, err
	}
	defer q.close()
	found, err := q.step()
	if err != nil {
		return nil, err
	}
	page := q.bytes(0)
	if !found || len(page) < 100 {
		return nil, errors.New("the first page is missing")
	}
	return append([]byte{}, page[:100]...), nil
}

// strange says how a database of ours differs from what its schema says.
func (f *frozenDatabase) strange() string {
	if f.info.ApplicationID != f.schema.ApplicationID {
		return fmt.Sprintf("the application id is %#x, want %#x", f.info.ApplicationID, f.schema.ApplicationID)
	}
	want, err := f.schema.ShapeAt(f.info.Schema)
	if err != nil {
		return fmt.Sprintf("schema %d is not known to this version of Amber", f.info.Schema)
	}
	got, err := f.shape()
	if err != nil {
		return "the schema cannot be read: " + err.Error()
	}
	return want.Differs(got)
}

func (f *frozenDatabase) shape() (s sqlconn.Shape, err error) {
	q, err := f.r.prepare(sqlconn.SelectShape)
	if err != nil {
		return s, err
	}
	defer q.close()
	for {
		more, err := q.step()
		if !more || err != nil {
			return s, err
		}
		s = append(s, sqlconn.Object{Kind: string(q.bytes(0)), Name: string(q.bytes(1)), Table: string(q.bytes(2)), SQL: string(q.bytes(3))})
	}
}

// Close implements [wire.FrozenDatabase]. It may be called twice.
func (f *frozenDatabase) Close() error {
	return sqlconn.Wrap("let go of database", f.path, f.r.close())
}
