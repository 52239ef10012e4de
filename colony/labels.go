package colony

import (
	"context"
	"maps"
	"slices"
)

// Labels returns the labels that the vault holds anything of, as names of files
// have them, sorted.
func (v *Vault) Labels(ctx context.Context) ([]string, error) {
	files, err := v.b.List(ctx, namePrefix)
	if err != nil {
		return nil, v.wrap("list labels", err)
	}
	found := map[string]bool{}
	for _, f := range files {
		if n, ok := parseName(f.Name); ok {
			found[n.Label] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Of returns another label of the same vault, as names of files have it, and what
// remembers what was seen of that one; w may be nil.
func (v *Vault) Of(label string, w Witness) *Vault {
	other := *v
	other.label, other.raw, other.o.Witness = label, label, w
	return &other
}
