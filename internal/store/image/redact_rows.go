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
	emptied int64
	vectors int64
	answers int64
	topics  int64

	forgotten int64 // rows about sync
	allowed   int
}

func newRedaction(h Header, r *redact.Redactor, known *redact.Secrets) *redaction {
	shared := known != nil
	if !shared {
		known = &redact.Secrets{}
	}
	return &redaction{
		header: h, redactor: r, secrets: known, shared: shared, names: map[string]string{}, taken: map[string]bool{},
		digests: map[string]string{}, matches: map[string]int64{},
	}
}

// rows looks through all rows and, where there is a secret, rewrites them.
func (d *redaction) rows() error {
	tables, err := d.scanAll()
	if err != nil {
		return err
	}
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
	return nil
}
