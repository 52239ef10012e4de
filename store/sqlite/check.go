package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// Finding is what one check of the databases found.
type Finding struct {
	Check string // stable: "integrity", "foreign_keys", "full_text", "counters", "rows"
	File  string
	Scope string // what was looked at
	Err   error  // nil when all is well
}

// check is one look at one file. It runs in a read transaction and changes
// nothing.
type check struct {
	name  string
	scope string
	run   func(*tx) error
}

// Check looks through both databases and reports one finding per check. It
// changes nothing. A check that could not be made is a finding with an error.
func (s *Store) Check(ctx context.Context) []Finding {
	integrity := check{"integrity", "every page of every table and index", (*tx).checkIntegrity}
	foreignKeys := check{"foreign_keys", "every row with a parent", (*tx).checkForeignKeys}
	fullText := check{"full_text", "the rows of both indexes", (*tx).checkFullText}
	var findings []Finding
	for _, c := range append([]check{integrity, foreignKeys, fullText}, s.memory.schema.rowChecks(s.memory.schema.version())...) {
		findings = append(findings, s.memory.check(ctx, c))
	}
	// No table there has a foreign key.
	for _, c := range append([]check{integrity}, s.control.schema.rowChecks(s.control.schema.version())...) {
		findings = append(findings, s.control.check(ctx, c))
	}
	return findings
}

// check runs on a connection of its own: FTS5 keeps the structure of an index
// in memory and does not look whether it is stale when integrity_check asks,
// so that a connection which has seen an older one reports damage that is not
// there.
func (d *database) check(ctx context.Context, c check) Finding {
	err := d.follow(func(current home.Current) (began bool, err error) {
		h, err := d.open(ctx, current)
		if err != nil {
			return false, err
		}
		err = d.run(ctx, h, h.readers, "BEGIN", d.reading(h, &began, c.run))
		return began, errors.Join(err, h.close())
	})
	return Finding{Check: c.name, File: d.schema.file, Scope: c.scope, Err: sqlconn.Wrap("check "+c.name, d.schema.file, err)}
}

func (t *tx) checkIntegrity() error {
	lines, err := all(t, scanText, "PRAGMA integrity_check(20)")
	if err != nil {
		return err
	}
	if len(lines) == 1 && lines[0] == "ok" {
		return nil
	}
	return damaged("check integrity", "", fmt.Errorf("%d problems, the first: %s", len(lines), lines[0]))
}

func (t *tx) checkForeignKeys() error {
	tables, err := all(t, scanText, `SELECT "table" FROM pragma_foreign_key_check LIMIT 20`)
	if err != nil {
		return err
	}
	if len(tables) > 0 {
		return damaged("check foreign keys", "", fmt.Errorf("%d rows without their parent, the first in %s", len(tables), tables[0]))
	}
	return nil
}

// checkFullText compares the rows each index knows with the live memories. It
// does not compare their text: see DeepCheck.
func (t *tx) checkFullText() error {
	for _, index := range []string{"memory_fts", "memory_grams"} {
		var missing, extra int64
		// Both names are constants of this package.
		err := t.row(`SELECT
 (SELECT count(*) FROM memories WHERE deleted_at IS NULL AND rowid NOT IN (SELECT id FROM `+index+`_docsize)),
 (SELECT count(*) FROM `+index+`_docsize WHERE id NOT IN (SELECT rowid FROM memories WHERE deleted_at IS NULL))`).Scan(&missing, &extra)
		if err != nil {
			return err
		}
		if missing > 0 || extra > 0 {
			return damaged("check full text", index, fmt.Errorf("%d memories are not indexed, %d indexed rows are no memories", missing, extra))
		}
	}
	return nil
}

func scanText(s scanner) (text string, err error) {
	err = s.Scan(&text)
	return text, err
}

// DeepCheck runs the full-text indexes' own comparison with the memories they
// index. It takes the writer's turn, since SQLite knows it as a write, and
// changes nothing.
func (s *Store) DeepCheck(ctx context.Context) error {
	return s.memory.update(ctx, "check full text", s.memory.schema.file, (*tx).compareIndexes)
}

func (t *tx) compareIndexes() error {
	for _, q := range []string{
		`INSERT INTO memory_fts (memory_fts, rank) VALUES ('integrity-check', 1)`,
		`INSERT INTO memory_grams (memory_grams, rank) VALUES ('integrity-check', 1)`,
	} {
		if _, err := t.exec(q); err != nil {
			return sqlconn.Wrap("check full text", "", err)
		}
	}
	return nil
}

// SchemaVersion returns the schema of the live memory.db and control.db.
func (s *Store) SchemaVersion(ctx context.Context) (memory, control int64, err error) {
	for _, v := range []struct {
		d    *database
		into *int64
	}{{s.memory, &memory}, {s.control, &control}} {
		err := v.d.view(ctx, "read schema version", v.d.schema.file, func(t *tx) error {
			return t.row("PRAGMA user_version").Scan(v.into)
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return memory, control, nil
}

// LastStamp returns the stamp of the newest change of either database: a wall
// clock far behind it was set back.
func (s *Store) LastStamp(ctx context.Context) (last amber.Stamp, err error) {
	for _, d := range []*database{s.memory, s.control} {
		err := d.view(ctx, "read clock", d.schema.file, func(t *tx) error {
			var stamp amber.Stamp
			err := t.row(selectLastStamp).Scan(&stamp)
			last = max(last, stamp)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return last, nil
}
