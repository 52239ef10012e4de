package image

import (
	"fmt"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/wire"
)

// redaction is the redaction of one file.
type redaction struct {
	*sqlrows.Tx
	header   Header
	redactor *redact.Redactor
	secrets  *redact.Secrets
	shared   bool // they have those of other files
	stained  bool // there is one in a row

	names map[string]string // keys that have become others
	taken map[string]bool   // keys that may look like one of those
	made  int64             // ids that were made up

	digests map[string]string // of texts that were rewritten: what they were and are
	scanned int64
	matches map[string]int64
	more    int64
	places  []wire.RedactionPlace
	rewrote int64
	emptied int64
	vectors int64
	answers int64
	topics  int64

	forgotten int64 // rows about sync
	allowed   int

	progress    func(done, total int64)
	done, total int64
}

func newRedaction(h Header, r *redact.Redactor, known *redact.Secrets, progress func(done, total int64)) *redaction {
	const passes = 3 // two over the rows and one over the bytes
	shared := known != nil
	if !shared {
		known = &redact.Secrets{}
	}
	return &redaction{
		header: h, redactor: r, secrets: known, shared: shared, names: map[string]string{}, taken: map[string]bool{},
		digests: map[string]string{}, matches: map[string]int64{},
		progress: progress, total: passes * h.Pages * h.PageSize,
	}
}

// advance tells about bytes of work. How many there will be is a guess: rows
// are smaller than their pages.
func (d *redaction) advance(n int) { d.reach(d.done + int64(n)) }

// reach tells how far the work has come.
func (d *redaction) reach(done int64) {
	d.done = min(max(d.done, done), d.total)
	if d.progress != nil {
		d.progress(d.done, d.total)
	}
}

// rows looks through all rows and, where there is a secret, rewrites them.
func (d *redaction) rows() error {
	tables, err := d.scanAll()
	if err != nil {
		return err
	}
	d.reach(d.total / 3)
	if err := d.forget(); err != nil {
		return fmt.Errorf("forget sync: %w", err)
	}
	if !d.stained {
		d.secrets.Seal()
		return nil
	}
	if err := d.know(); err != nil {
		return err
	}
	for i := range tables {
		if err := d.rewriteTable(&tables[i]); err != nil {
			return fmt.Errorf("rewrite %s: %w", tables[i].Name, err)
		}
	}
	if d.header.Schema.File == sqlfile.MemorySchema.File {
		if _, err := d.IndexDirty(sqlrows.Indexing{Erase: true}); err != nil {
			return err
		}
	}
	if err := d.changes(); err != nil {
		return fmt.Errorf("rewrite changes: %w", err)
	}
	d.reach(2 * d.total / 3)
	return nil
}
