package main

import (
	"context"

	"github.com/amber-memory/amber/colony"
)

// lateWitness remembers what was seen only when it is told to: a snapshot that
// was looked at and not taken is no memory of this home.
type lateWitness struct {
	colony.Witness
	changes []func(colony.Sighting) colony.Sighting
}

// Update implements [colony.Witness].
func (w *lateWitness) Update(_ context.Context, change func(colony.Sighting) colony.Sighting) error {
	w.changes = append(w.changes, change)
	return nil
}

// keep remembers it.
func (w *lateWitness) keep(ctx context.Context) error {
	if len(w.changes) == 0 {
		return nil
	}
	return w.Witness.Update(ctx, func(s colony.Sighting) colony.Sighting {
		for _, change := range w.changes {
			s = change(s)
		}
		return s
	})
}
