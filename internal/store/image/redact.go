package image

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/wire"
)

// Redact takes secrets out of a copy of memory.db or control.db, which lies in
// a folder of the caller's and which no other process uses; it is never the
// live one. The file is replaced by one that was written anew:
//
//	scan     every text of every row is looked through; what is found is remembered
//	rewrite  texts, keys, and what was made of them: digests, index entries, ids of topics
//	vacuum   into a fresh file, so that no page, used or free, is one that held a secret
//	check    every byte of that file, and every word of its index, against what was found
//
// Redact also removes a secret that nothing gives away except that Redact found it
// elsewhere in the file, or that it is one of known. Known holds secrets of other
// files, sealed, in a copy of the caller's, or is nil. Redact adds the secrets that it
// finds to known, and excuses in known the texts that the file may keep. Afterwards
// known is what the file was searched for, and the caller can search anything made of
// the file for the same.
//
// Keys that hold a secret are renamed, alike wherever they stand; different keys stay
// different. A database in which Redact finds nothing has the same rows afterwards,
// except for its notes on syncs: they are about folders of this machine, and Redact
// removes them. In a database that held a secret, Redact also empties the digests of
// texts that are no longer there: a digest does not say which text it is of. Vectors
// of a rewritten text are removed.
//
// The schema must be, row by row, that of a migration of Amber; an older one of
// memory.db is migrated. Pages are not checked: [Examine] does that, before and after.
// The report names a row by its table, its key and the column. The policy is the caller's to name.
//
// Errors: those of [Examine] for a file that is no database of Amber's, which
// then is as it was. After any other error, and after a crash, there is no file
// at path: internal where the check finds something; quota where more keys hold
// secrets than can be renamed. Nothing is synced.
func Redact(ctx context.Context, path string, r *redact.Redactor, known *redact.Secrets) (wire.RedactionReport, error) {
	return redactFile(ctx, fsx.OS(), path, r, known)
}

func redactFile(ctx context.Context, fsys fsx.FS, path string, r *redact.Redactor, known *redact.Secrets) (report wire.RedactionReport, err error) {
	h, err := redactable(ctx, path)
	if err != nil {
		return report, err
	}
	w := newWorkshop(fsys, path)
	d := newRedaction(h, r, known)
	if err := d.work(ctx, w); err != nil {
		return report, sqlconn.Wrap("redact database", path, errors.Join(err, w.discard()))
	}
	return d.finish(), nil
}

// FindSecrets adds what [Redact] would find in a memory.db or control.db to
// found, which it does not seal. The file stays as it is. Errors: those of
// [Examine] for a file that is no database of Amber's.
func FindSecrets(ctx context.Context, path string, r *redact.Redactor, found *redact.Secrets) error {
	h, err := redactable(ctx, path)
	if err != nil {
		return err
	}
	d := newRedaction(h, r, nil)
	d.secrets = found
	err = inFile(ctx, sqlconn.UntrustedURI(path, nil), func(t *sqlrows.Tx) error {
		d.Tx = t
		_, err := d.scanAll()
		return err
	})
	return sqlconn.Wrap("find secrets", path, err)
}

// redactable makes sure that a file is a database of Amber's.
func redactable(ctx context.Context, path string) (Header, error) {
	h, err := ReadFile(path)
	if err == nil {
		err = h.compareShape(ctx, path)
	}
	return h, AboutFile(path, err)
}

// work does everything in a workshop.
func (d *redaction) work(ctx context.Context, w *workshop) error {
	if err := w.open(); err != nil {
		return err
	}
	if err := d.upgrade(ctx, w.old); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := d.rewrite(ctx, w.old); err != nil {
		return err
	}
	if err := d.vacuum(ctx, w.old, w.fresh); err != nil {
		return fmt.Errorf("write anew: %w", err)
	}
	if err := d.check(ctx, w.fsys, w.fresh); err != nil {
		return err
	}
	return w.deliver()
}

// upgrade brings an older memory.db to the newest schema: it has no other index.
func (d *redaction) upgrade(ctx context.Context, path string) error {
	s := d.header.Schema
	if s.File != sqlfile.MemorySchema.File || d.header.Version == sqlfile.MemorySchema.Version() {
		return nil
	}
	p, err := sqlfile.OpenPool(path, sqlfile.Write, 0, 1)
	if err != nil {
		return err
	}
	d.header.Version = sqlfile.MemorySchema.Version()
	return errors.Join(sqlfile.MemorySchema.Migrate(ctx, p.DB), p.Close())
}

// compareShape compares the schema of a file with the migration it claims to
// be of.
func (h Header) compareShape(ctx context.Context, path string) error {
	s, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, nil))
	if err != nil {
		return err
	}
	return errors.Join(h.checkShape(ctx, s), s.Close())
}

// redactPragmas are for a file that is thrown away when anything goes wrong:
// there is no journal to go back to.
var redactPragmas = []string{
	"locking_mode(EXCLUSIVE)", "journal_mode(OFF)", "synchronous(OFF)", "foreign_keys(0)", "secure_delete(1)",
	"trusted_schema(0)", "cell_size_check(1)", "temp_store(2)", "cache_size(-4096)",
}

func redactDSN(path string) string {
	return sqlconn.FileURI(path, url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_pragma": redactPragmas})
}

// rewrite runs what reads and writes rows, in one transaction.
func (d *redaction) rewrite(ctx context.Context, path string) error {
	return inFile(ctx, redactDSN(path), func(t *sqlrows.Tx) error {
		d.Tx = t
		if _, err := t.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		if err := d.rows(); err != nil {
			return err // without a journal there is nothing to undo
		}
		_, err := t.Exec("COMMIT")
		return err
	})
}

// vacuum writes a fresh file of what the rows are now.
func (d *redaction) vacuum(ctx context.Context, path, fresh string) error {
	err := inFile(ctx, redactDSN(path), func(t *sqlrows.Tx) error {
		_, err := t.Exec("VACUUM INTO ?", sqlconn.FileURI(fresh, url.Values{"mode": {"rw"}}))
		return err
	})
	if err != nil {
		return err
	}
	h, err := ReadFile(fresh)
	if err != nil {
		return err
	}
	if h.Schema.File != d.header.Schema.File || h.Version != d.header.Version || h.PageSize != d.header.PageSize {
		return amber.Errorf(amber.KindInternal, "redact database", path, "the rewritten file has another schema or page size")
	}
	return nil
}

// inFile opens a file and runs fn.
func inFile(ctx context.Context, dsn string, fn func(*sqlrows.Tx) error) (err error) {
	s, err := sqlconn.OpenUntrusted(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Limit(sqlconn.MaxValue); err != nil {
		return err
	}
	err = fn(reader(ctx, s))
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// check looks for what was found in every byte of the fresh file and, in
// memory.db, in every word of the index, which shortens words that begin alike
// and so hides them from a look at its bytes. The rules are not asked again:
// they judge a text by what stands around it, and in a page that is the next
// cell, or the rest of the text is in another page. They have seen each text as
// it reads. Where no row holds a secret, none is broken in two, and words that
// the secrets of other files have too may be there.
func (d *redaction) check(ctx context.Context, fsys fsx.FS, fresh string) error {
	f, err := fsys.OpenFile(fresh, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	search := d.secrets.Search
	if !d.stained {
		search = d.secrets.SearchWhole
	}
	leak, err := search(f, func(int) error { return ctx.Err() })
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if leak != nil {
		return amber.Errorf(amber.KindInternal, "redact database", d.header.Schema.File,
			"a secret of rule %s is left at byte %d", leak.Rule, leak.Offset)
	}
	if d.header.Schema.File != sqlfile.MemorySchema.File || !d.stained {
		return nil
	}
	return d.checkWords(ctx, fresh)
}
