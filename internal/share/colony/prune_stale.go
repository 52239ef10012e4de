package colony

import "time"

// stale reports whether the parts that belong to no snapshot are so old that no writer can still be at work on them.
func (v *Vault) stale(g *group) bool { return v.idle(g) >= v.o.Grace }

// idle returns for how long no writer can have been at work on parts that belong to no snapshot: the time since the
// latest of the times in their id and of the parts. An id in the future was made by a clock that was wrong. Then idle
// relies on the times at which the vault got each part, and returns 0 when the vault does not give them.
func (v *Vault) idle(g *group) time.Duration {
	now := v.now()
	if !g.id.Time().After(now) {
		return now.Sub(g.newestTime())
	}
	var last time.Time
	for _, f := range g.parts {
		at := f.UpdatedAt.Time()
		if f.UpdatedAt.IsZero() {
			return 0
		}
		if at.After(last) {
			last = at
		}
	}
	return now.Sub(last)
}
