package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	sqlite3 "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// Examination is what was found in a database that came from elsewhere.
type Examination struct {
	Name   string // "memory.db" or "control.db"
	Schema int64
	Pages  int64
	// Checks are those that were made, in order; when they were made is for
	// the caller to say. The checks after one that failed are not made.
	Checks []amber.Check
}

// Examine looks at a database file that came from elsewhere, as at a
// stranger's: nothing in it is run before it is known to be Amber's. Its schema
// must be, row by row, that of a migration. Deep, every page is read, both
// full-text indexes are compared with the memories, and every row of every table
// is read as its reader does, unless the schema is an older one. The file is not changed,
// and nobody else may use it meanwhile. A check that fails is in the
// examination. Errors: damaged for what is no whole Amber database; too_new;
// refused for one with another schema than Amber's, or with a journal beside
// it.
func Examine(ctx context.Context, path string, deep bool) (e Examination, err error) {
	h, err := lookAtStranger(path)
	if err != nil {
		return e, aboutFile(path, err)
	}
	e = Examination{Name: h.schema.file, Schema: h.version, Pages: h.pages}
	s, err := openStranger(ctx, strangerDSN(path, nil))
	if err != nil {
		return e, sqlconn.Wrap("examine database", path, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := h.checkShape(ctx, s); err != nil {
		return e, aboutFile(path, err)
	}
	e.note("schema", nil)
	if deep {
		if err := e.deepen(ctx, h, s, path); err != nil {
			return e, sqlconn.Wrap("examine database", path, err)
		}
	}
	return e, nil
}

// note adds a check and reports whether it found nothing.
func (e *Examination) note(name string, err error) bool {
	part, _, _ := strings.Cut(e.Name, ".")
	c := amber.Check{Name: name, Part: part, OK: err == nil}
	if err != nil {
		c.Detail = err.Error()
	}
	e.Checks = append(e.Checks, c)
	return c.OK
}

// lookAtStranger looks at a file without SQLite.
func lookAtStranger(path string) (h header, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return h, sqlconn.Wrap("examine database", path, err)
	}
	if !info.Mode().IsRegular() {
		return h, amber.Errorf(amber.KindRefused, "examine database", path, "it is not a regular file")
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return h, amber.Errorf(amber.KindRefused, "examine database", path, "there is a %s file beside it, which would change it", suffix)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return h, sqlconn.Wrap("examine database", path, err)
	}
	defer f.Close()
	if h, err = readHeader(f, info.Size()); err != nil {
		return h, err
	}
	return h, h.checkSchemaTree(f)
}

// strangerDSN names a file that is not trusted and not written.
func strangerDSN(path string, more url.Values) string {
	q := url.Values{
		"mode": {"ro"}, "immutable": {"1"}, "_dqs": {"0"}, "_defensive": {"1"},
		"_pragma": {"trusted_schema(0)", "cell_size_check(1)", "query_only(1)", "temp_store(2)"},
	}
	for k, v := range more {
		q[k] = v
	}
	return sqlconn.FileURI(path, q)
}

// stranger is one connection to a database that is not trusted.
type stranger struct {
	db   *sql.DB
	conn *sqlconn.Conn
}

func openStranger(ctx context.Context, dsn string) (*stranger, error) {
	c, err := sqlite3.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	s := &stranger{db: sql.OpenDB(c)}
	one, err := s.db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.conn = sqlconn.New(one)
	return s, nil
}

func (s *stranger) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// limit bounds the memory one value may take.
func (s *stranger) limit(bytes int) error {
	_, err := sqlite3.Limit(s.conn.SQL, lib.SQLITE_LIMIT_LENGTH, bytes)
	return err
}

// begin returns the connection as a transaction that reads.
func (s *stranger) begin(ctx context.Context) *tx { return &tx{ctx: ctx, conn: s.conn} }

const (
	maxSchemaText = 1 << 20  // of one object; Amber's longest has 2 KiB
	maxValue      = 64 << 20 // the largest record of Amber's is a fraction of it
)

// checkShape compares the schema with the migration it claims to be of.
func (h header) checkShape(ctx context.Context, s *stranger) error {
	want, err := h.schema.shapeAt(h.version)
	if err != nil {
		return err
	}
	if err := s.limit(maxSchemaText); err != nil {
		return err
	}
	got, err := sqlconn.ReadShape(ctx, s.conn.SQL)
	if err != nil {
		return damaged("read schema", "", err)
	}
	if why := want.Differs(got); why != "" {
		return amber.Errorf(amber.KindRefused, "compare schema", "", "%s", why)
	}
	return s.limit(maxValue)
}

// deepen reads everything. The first check is the one that makes the others
// safe: it meets every page once, however the pages lead to each other.
func (e *Examination) deepen(ctx context.Context, h header, s *stranger, path string) error {
	checks := []check{{name: "integrity", run: (*tx).checkIntegrity}, {name: "foreign_keys", run: (*tx).checkForeignKeys}}
	if h.schema.file == memorySchema.file {
		checks = append(checks, check{name: "full_text", run: func(t *tx) error {
			return errors.Join(t.checkIndexSettings(), t.checkFullText(), compareIndexes(ctx, path))
		}})
	}
	checks = append(checks, h.schema.rowChecks(h.version)...)
	for _, c := range checks {
		err := sqlconn.Wrap("check "+c.name, h.schema.file, c.run(s.begin(ctx)))
		if k := amber.KindOf(err); err != nil && k != amber.KindDamaged {
			return err // it was not made
		}
		if !e.note(c.name, err) {
			return nil
		}
	}
	return nil
}

// checkIndexSettings compares what the full-text indexes are told to do with
// what the migrations tell them: the settings lie in tables of their own. The
// version is for FTS5 to judge, which raises it by itself.
func (t *tx) checkIndexSettings() error {
	for _, x := range []struct {
		query string
		want  []string
	}{
		{
			`SELECT k || '=' || v FROM memory_fts_config WHERE k <> 'version' ORDER BY k`,
			[]string{"automerge=0", "crisismerge=1000", "rank=bm25(6.0, 6.0, 3.0, 2.0, 1.0, 1.0, 0.0)", "secure-delete=1"},
		},
		{
			`SELECT k || '=' || v FROM memory_grams_config WHERE k <> 'version' ORDER BY k`,
			[]string{"automerge=0", "crisismerge=1000", "secure-delete=1"},
		},
	} {
		got, err := all(t, scanText, x.query)
		if err != nil {
			return err
		}
		if !slices.Equal(got, x.want) {
			return damaged("read full-text settings", "", fmt.Errorf("they are %q, not %q", got, x.want))
		}
	}
	return nil
}

// compareIndexes lets both full-text indexes compare themselves with the
// memories. SQLite knows that as a write, so it needs a connection that may;
// the transaction is undone and has changed nothing.
func compareIndexes(ctx context.Context, path string) (err error) {
	s, err := openStranger(ctx, strangerDSN(path, url.Values{
		"mode": {"rw"}, "immutable": {"0"}, "_pragma": {"trusted_schema(0)", "cell_size_check(1)", "temp_store(2)"},
	}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.limit(maxValue); err != nil {
		return err
	}
	t := s.begin(ctx)
	if _, err := t.exec("BEGIN"); err != nil {
		return err
	}
	defer func() {
		t.ctx = context.WithoutCancel(ctx)
		_, rerr := t.exec("ROLLBACK")
		err = errors.Join(err, rerr)
	}()
	return t.compareIndexes()
}

// aboutFile names the file an error is about.
func aboutFile(path string, err error) error {
	var e *amber.Error
	if errors.As(err, &e) && e.ID == "" {
		named := *e
		named.ID = path
		return &named
	}
	return sqlconn.Wrap("examine database", path, err)
}
