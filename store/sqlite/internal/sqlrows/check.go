package sqlrows

import (
	"fmt"

	"github.com/amber-memory/amber/internal/sqlconn"
)

// Check is one look at one file. It runs in a read transaction and changes
// nothing.
type Check struct {
	Name  string
	Scope string
	Run   func(*Tx) error
}

func (t *Tx) CheckIntegrity() error {
	lines, err := All(t, ScanText, "PRAGMA integrity_check(20)")
	if err != nil {
		return err
	}
	if len(lines) == 1 && lines[0] == "ok" {
		return nil
	}
	return Damaged("check integrity", "", fmt.Errorf("%d problems, the first: %s", len(lines), lines[0]))
}

func (t *Tx) CheckForeignKeys() error {
	tables, err := All(t, ScanText, `SELECT "table" FROM pragma_foreign_key_check LIMIT 20`)
	if err != nil {
		return err
	}
	if len(tables) > 0 {
		return Damaged("check foreign keys", "", fmt.Errorf("%d rows have no parent, the first in table %s", len(tables), tables[0]))
	}
	return nil
}

// CheckFullText compares the rows each index knows with the live memories. It
// does not compare their text: see DeepCheck.
func (t *Tx) CheckFullText() error {
	for _, index := range []string{"memory_fts", "memory_grams"} {
		var missing, extra int64
		// Both names are constants of this package.
		err := t.Row(`SELECT
 (SELECT count(*) FROM memories WHERE deleted_at IS NULL AND rowid NOT IN (SELECT id FROM `+index+`_docsize)),
 (SELECT count(*) FROM `+index+`_docsize WHERE id NOT IN (SELECT rowid FROM memories WHERE deleted_at IS NULL))`).Scan(&missing, &extra)
		if err != nil {
			return err
		}
		if missing > 0 || extra > 0 {
			return Damaged("check full text", index, fmt.Errorf("%d memories are missing in the index, %d rows of the index have no memory", missing, extra))
		}
	}
	return nil
}

func (t *Tx) CompareIndexes() error {
	for _, q := range []string{
		`INSERT INTO memory_fts (memory_fts, rank) VALUES ('integrity-check', 1)`,
		`INSERT INTO memory_grams (memory_grams, rank) VALUES ('integrity-check', 1)`,
	} {
		if _, err := t.Exec(q); err != nil {
			return sqlconn.Wrap("check full text", "", err)
		}
	}
	return nil
}
