package image

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/wire"
)

// Examination is what was found in a database that came from elsewhere.
type Examination struct {
	Name   string // "memory.db" or "control.db"
	Schema int64
	// Checks are those that were made, in order; when they were made is for
	// the caller to say. The checks after one that failed are not made.
	Checks []wire.Check
}

// Examine looks at a database file that came from elsewhere, as at a stranger's: nothing
// in it is run before it is known to be Amber's. Its schema must be, row by row, that of
// a migration. Deep, every page is read, both full-text indexes are compared with the
// memories, and every row of every table is read as its reader does, unless the schema is
// an older one. The file is not changed, and no other process may use it meanwhile. A
// check that fails is in the examination. Errors: damaged for what is no whole Amber
// database; too_new; refused for one with another schema than Amber's, or with a journal
// beside it.
func Examine(ctx context.Context, path string, deep bool) (e Examination, err error) {
	h, err := ReadFile(path)
	if err != nil {
		return e, AboutFile(path, err)
	}
	e = Examination{Name: h.Schema.File, Schema: h.Version}
	s, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, nil))
	if err != nil {
		return e, sqlconn.Wrap("examine database", path, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := h.checkShape(ctx, s); err != nil {
		return e, AboutFile(path, err)
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
	c := wire.Check{Name: name, Part: part, OK: err == nil}
	if err != nil {
		c.Detail = err.Error()
	}
	e.Checks = append(e.Checks, c)
	return c.OK
}

// ReadFile looks at a file without SQLite.
func ReadFile(path string) (h Header, err error) {
	info, err := sqlconn.CheckAlone("examine database", path)
	if err != nil {
		return h, err
	}
	f, err := os.Open(path)
	if err != nil {
		return h, sqlconn.Wrap("examine database", path, err)
	}
	defer f.Close()
	if h, err = ReadHeader(f, info.Size()); err != nil {
		return h, err
	}
	return h, sqlconn.CheckSchemaTree(f, h.PageSize, h.Pages)
}

// reader returns a connection to a file that is not trusted as a transaction
// that reads.
func reader(ctx context.Context, u *sqlconn.Untrusted) *sqlrows.Tx {
	return &sqlrows.Tx{Ctx: ctx, Conn: u.Conn}
}

// reader is a transaction that reads the records of the file, which has the columns of its schema.
func (h Header) reader(ctx context.Context, u *sqlconn.Untrusted) *sqlrows.Tx {
	t := reader(ctx, u)
	if h.Schema.File == sqlfile.MemorySchema.File {
		t.Schema = h.Version
	}
	return t
}

// checkShape compares the schema with the migration it claims to be of.
func (h Header) checkShape(ctx context.Context, s *sqlconn.Untrusted) error {
	want, err := h.Schema.ShapeAt(h.Version)
	if err != nil {
		return err
	}
	if err := s.Limit(sqlconn.MaxSchemaText); err != nil {
		return err
	}
	got, err := sqlconn.ReadShape(ctx, s.SQL)
	if err != nil {
		return sqlrows.Damaged("read schema", "", err)
	}
	if why := want.Differs(got); why != "" {
		return amber.Errorf(amber.KindRefused, "compare schema", "", "%s", why)
	}
	return s.Limit(sqlconn.MaxValue)
}

// deepen reads everything. The first check is the one that makes the others
// safe: it meets every page once, however the pages lead to each other.
func (e *Examination) deepen(ctx context.Context, h Header, s *sqlconn.Untrusted, path string) error {
	checks := []sqlrows.Check{{Name: "integrity", Run: sqlfile.CheckIntegrity}, {Name: "foreign_keys", Run: sqlfile.CheckForeignKeys}}
	if h.Schema.File == sqlfile.MemorySchema.File {
		checks = append(checks, sqlrows.Check{Name: "full_text", Run: func(t *sqlrows.Tx) error {
			if h.Version >= indexedSince {
				return t.CheckIndex(true)
			}
			return errors.Join(checkIndexSettings(t), sqlfile.CheckFullText(t), compareIndexes(ctx, path))
		}})
	}
	checks = append(checks, h.Schema.RowChecks(h.Version)...)
	for _, c := range checks {
		err := sqlconn.Wrap("check "+c.Name, h.Schema.File, c.Run(h.reader(ctx, s)))
		if k := amber.KindOf(err); err != nil && k != amber.KindDamaged {
			return err // it was not made
		}
		if !e.note(c.Name, err) {
			return nil
		}
	}
	return nil
}

// indexedSince is the first schema whose index is rows. Older files have two of FTS5.
const indexedSince = 5

// checkIndexSettings compares what the full-text indexes are told to do with
// what the migrations tell them: the settings lie in tables of their own. The
// version is for FTS5 to judge, which raises it by itself.
func checkIndexSettings(t *sqlrows.Tx) error {
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
		got, err := sqlrows.All(t, sqlrows.ScanText, x.query)
		if err != nil {
			return err
		}
		if !slices.Equal(got, x.want) {
			return sqlrows.Damaged("read full-text settings", "", fmt.Errorf("settings are %q, want %q", got, x.want))
		}
	}
	return nil
}

// compareIndexes lets both full-text indexes compare themselves with the
// memories. SQLite knows that as a write, so it needs a connection that may;
// the transaction is undone and has changed nothing.
func compareIndexes(ctx context.Context, path string) (err error) {
	s, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, url.Values{
		"mode": {"rw"}, "immutable": {"0"}, "_pragma": {"trusted_schema(0)", "cell_size_check(1)", "temp_store(2)"},
	}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Limit(sqlconn.MaxValue); err != nil {
		return err
	}
	t := reader(ctx, s)
	if _, err := t.Exec("BEGIN"); err != nil {
		return err
	}
	defer func() {
		t.Ctx = context.WithoutCancel(ctx)
		_, rerr := t.Exec("ROLLBACK")
		err = errors.Join(err, rerr)
	}()
	return sqlfile.CompareIndexes(t)
}

// AboutFile names the file an error is about.
func AboutFile(path string, err error) error { return sqlconn.About("examine database", path, err) }
