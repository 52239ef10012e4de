package image

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const tableColumns = `SELECT name FROM pragma_table_info(?)`

// tables returns the tables there are, with the columns there are.
func (d *redaction) tables() (tables []RedactedTable, err error) {
	for _, t := range RedactedTables(d.header.Schema) {
		there, err := sqlrows.All(d.Tx, sqlrows.ScanText, tableColumns, t.Name)
		if err != nil {
			return nil, err
		}
		if len(there) == 0 {
			continue
		}
		t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c redactedColumn) bool { return !slices.Contains(there, c.Name) })
		tables = append(tables, t)
	}
	return tables, nil
}

// forget empties the tables that a redacted copy has no rows of.
func (d *redaction) forget() error {
	if d.header.Schema.File != sqlfile.MemorySchema.File {
		return nil
	}
	n, err := d.empty(RedactForgotten)
	d.forgotten += n
	if err != nil {
		return err
	}
	if n, err = d.empty(RedactElsewhere); err != nil || n == 0 {
		return err
	}
	_, err = d.IndexDirty(sqlrows.Indexing{Erase: true})
	return err
}

// empty empties tables that are there, and counts their rows.
func (d *redaction) empty(tables []string) (rows int64, err error) {
	for _, name := range tables {
		there, err := sqlrows.All(d.Tx, sqlrows.ScanText, tableColumns, name)
		if err != nil {
			return rows, err
		}
		if len(there) == 0 {
			continue
		}
		n, err := d.Exec("DELETE FROM " + name) // a constant of this package
		if err != nil {
			return rows, err
		}
		rows += n
	}
	return rows, nil
}

// scanAll looks through all tables, and returns those but the change log.
func (d *redaction) scanAll() ([]RedactedTable, error) {
	tables, err := d.tables()
	if err != nil {
		return nil, err
	}
	for _, t := range slices.Concat(tables, []RedactedTable{ChangeLog}) {
		if err := d.scan(&t); err != nil {
			return nil, fmt.Errorf("scan %s: %w", t.Name, err)
		}
	}
	return tables, nil
}

// know prepares what was found for the second pass.
func (d *redaction) know() error {
	d.secrets.Seal()
	for _, rule := range d.redactor.Rules() {
		d.allow(redact.Marker(rule))
	}
	objects, err := sqlrows.All(d.Tx, sqlrows.ScanText, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL`)
	if err != nil {
		return err
	}
	for _, text := range objects {
		d.allow(text)
	}
	if d.header.Schema.File != sqlfile.MemorySchema.File {
		return nil
	}
	if err := d.moveTopics(); err != nil {
		return fmt.Errorf("move topics: %w", err)
	}
	d.secrets.Seal()
	return nil
}

// allow notes that a text stays whatever it holds.
func (d *redaction) allow(text string) { d.allowed += d.secrets.Allow(text) }

// scan looks through a table and remembers what it finds.
func (d *redaction) scan(t *RedactedTable) error {
	names := make([]string, len(t.Columns))
	values := make([]string, len(t.Columns))
	into := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		names[i], into[i] = c.Name, &values[i]
	}
	return d.Each("SELECT "+strings.Join(names, ", ")+" FROM "+t.Name, nil, func(s scanner) error {
		if err := s.Scan(into...); err != nil {
			return err
		}
		n := 0
		for i, c := range t.Columns {
			n += len(values[i])
			d.look(c.As, values[i])
		}
		d.scanned += int64(n)
		return d.checkNames()
	})
}

// look remembers the secrets of a value.
func (d *redaction) look(as treatment, value string) {
	if harmless(value) {
		return
	}
	if d.shared && !d.stained {
		d.stained = d.holds(as, value)
	}
	switch as {
	case AsJSON:
		d.redactor.JSON(value, d.remember)
	case asLines:
		for line := range strings.SplitSeq(value, "\n") {
			d.look(asText, line)
		}
	case asName:
		d.reserve(value)
		fallthrough
	default:
		for _, f := range d.redactor.Find(value) {
			d.remember(f.Rule, value[f.Start:f.End])
		}
	}
}

func (d *redaction) remember(rule, secret string) {
	d.stained = true
	d.secrets.Add(rule, secret)
}

// holds reports whether a value holds a secret of another file.
func (d *redaction) holds(as treatment, value string) bool {
	remove := d.secrets.Remove
	if as == AsJSON {
		remove = d.secrets.RemoveJSON
	}
	_, report := remove(value)
	return report.Total > 0
}

// harmless reports whether a value is too short for a secret or one word, as
// those are that a column has few of.
func harmless(value string) bool {
	const shortest = 6 // "pwd=…" and one byte
	if len(value) < shortest {
		return true
	}
	for i := range len(value) {
		if c := value[i]; (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return true
}
