package sqlfile

import (
	"fmt"

	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// CheckIntegrity reads every page of every table and index.
func CheckIntegrity(t *sqlrows.Tx) error {
	lines, err := sqlrows.All(t, sqlrows.ScanText, "PRAGMA integrity_check(20)")
	if err != nil {
		return err
	}
	if len(lines) == 1 && lines[0] == "ok" {
		return nil
	}
	return sqlrows.Damaged("check integrity", "", fmt.Errorf("%d problems, the first: %s", len(lines), lines[0]))
}

// CheckForeignKeys looks for rows without a parent.
func CheckForeignKeys(t *sqlrows.Tx) error {
	tables, err := sqlrows.All(t, sqlrows.ScanText, `SELECT "table" FROM pragma_foreign_key_check LIMIT 20`)
	if err != nil {
		return err
	}
	if len(tables) > 0 {
		return sqlrows.Damaged("check foreign keys", "", fmt.Errorf("%d rows have no parent, the first in table %s", len(tables), tables[0]))
	}
	return nil
}

// CheckFullText compares the rows each index knows with the live memories. It
// does not compare their text: see DeepCheck.
func CheckFullText(t *sqlrows.Tx) error {
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
			return sqlrows.Damaged("check full text", index, fmt.Errorf("%d memories are missing in the index, %d rows of the index have no memory", missing, extra))
		}
	}
	return nil
}

// CompareIndexes compares the full-text tables of an old file with its memories.
func CompareIndexes(t *sqlrows.Tx) error {
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
