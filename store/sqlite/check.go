package sqlite

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/store/home"
)

// Finding is what one check of the databases found.
type Finding struct {
	Check string // stable: "integrity", "foreign_keys", "full_text", "counters", "rows"
	File  string
	Scope string // what was looked at
	Err   error  // nil when all is well
}

// Check looks through both databases and reports one finding per check. It
// changes nothing. A check that could not be made is a finding with an error.
func (s *Store) Check(ctx context.Context) []Finding {
	integrity := sqlrows.Check{Name: "integrity", Scope: "every page of every table and index", Run: sqlfile.CheckIntegrity}
	foreignKeys := sqlrows.Check{Name: "foreign_keys", Scope: "every row with a parent", Run: sqlfile.CheckForeignKeys}
	fullText := sqlrows.Check{Name: "full_text", Scope: "every list and every passage of the index", Run: func(t *sqlrows.Tx) error { return t.CheckIndex(false) }}
	var findings []Finding
	for _, c := range append([]sqlrows.Check{integrity, foreignKeys, fullText}, s.memory.schema.RowChecks(s.memory.schema.Version())...) {
		findings = append(findings, s.memory.check(ctx, c))
	}
	// No table there has a foreign key.
	for _, c := range append([]sqlrows.Check{integrity}, s.control.schema.RowChecks(s.control.schema.Version())...) {
		findings = append(findings, s.control.check(ctx, c))
	}
	return findings
}

// check runs on a connection of its own.
func (d *database) check(ctx context.Context, c sqlrows.Check) Finding {
	err := d.follow(func(current home.Current) (began bool, err error) {
		h, err := d.open(ctx, current)
		if err != nil {
			return false, err
		}
		err = d.run(ctx, h, h.readers, "BEGIN", d.reading(h, &began, func(t *tx) error { return c.Run(t.Tx) }))
		return began, errors.Join(err, h.close())
	})
	return Finding{Check: c.Name, File: d.schema.File, Scope: c.Scope, Err: sqlconn.Wrap("check "+c.Name, d.schema.File, err)}
}

// DeepCheck compares every passage of the index with the record it was made of. It
// changes nothing.
func (s *Store) DeepCheck(ctx context.Context) error { return s.VerifyIndex(ctx) }

// SchemaVersion returns the schema of the live memory.db and control.db.
func (s *Store) SchemaVersion(ctx context.Context) (memory, control int64, err error) {
	for _, v := range []struct {
		d    *database
		into *int64
	}{{s.memory, &memory}, {s.control, &control}} {
		err := v.d.View(ctx, "read schema version", v.d.schema.File, func(t *tx) error {
			return t.Row("PRAGMA user_version").Scan(v.into)
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return memory, control, nil
}
