package colony

import "context"

// DeferredWitness remembers what was seen only when Keep is called: a snapshot that
// was read and not restored must not make later restores refuse older ones. Not
// safe for concurrent use.
type DeferredWitness struct {
	Witness
	changes []func(Sighting) Sighting
}

// Update implements [Witness].
func (w *DeferredWitness) Update(_ context.Context, change func(Sighting) Sighting) error {
	w.changes = append(w.changes, change)
	return nil
}

// Keep remembers it. Errors: those of the witness.
func (w *DeferredWitness) Keep(ctx context.Context) error {
	if len(w.changes) == 0 {
		return nil
	}
	return w.Witness.Update(ctx, func(s Sighting) Sighting {
		for _, change := range w.changes {
			s = change(s)
		}
		return s
	})
}
