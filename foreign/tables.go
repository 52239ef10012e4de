package foreign

import (
	"maps"
	"slices"
)

// Tables returns the names of the ordinary tables, in order.
func (d *Database) Tables() []string { return slices.Sorted(maps.Keys(d.tables)) }
