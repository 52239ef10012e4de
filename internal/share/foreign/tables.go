package foreign

import (
	"maps"
	"slices"
)

// Tables returns the names of the ordinary tables, in order.
func (d *Database) Tables() []string { return slices.Sorted(maps.Keys(d.tables)) }

// Has reports whether all of these are tables.
func (d *Database) Has(tables ...string) bool {
	for _, t := range tables {
		if _, ok := d.tables[t]; !ok {
			return false
		}
	}
	return true
}

// Columns returns the columns of a table.
func (d *Database) Columns(table string) []string {
	if t, ok := d.tables[table]; ok {
		return t.columns
	}
	return nil
}

// HasColumns reports whether there is a table with all of these columns.
func (d *Database) HasColumns(table string, columns ...string) bool {
	t, ok := d.tables[table]
	return ok && !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(t.columns, c) })
}
