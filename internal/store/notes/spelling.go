package notes

import (
	"context"

	"github.com/amber-memory/amber/internal/base/names"
)

// Twins returns the notes whose names differ only in spelling, each group by
// name. They were written before such names were one. Errors: those of
// [Dir.ListNotes].
func (d *Dir) Twins(ctx context.Context) ([][]string, error) {
	all, err := d.ListNotes(ctx)
	if err != nil {
		return nil, err
	}
	groups := map[string][]string{}
	var order []string
	for _, n := range all {
		key := names.Canonical(n.Name)
		if len(groups[key]) == 1 {
			order = append(order, key)
		}
		groups[key] = append(groups[key], n.Name)
	}
	var twins [][]string
	for _, key := range order {
		twins = append(twins, groups[key])
	}
	return twins, nil
}
