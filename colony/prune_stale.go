package colony

import "time"

// stale reports whether nobody can still be at work on parts that belong to no
// snapshot.
func (v *Vault) stale(g *group) bool { return v.idle(g) >= v.o.Grace }

// idle is for how long nobody can have been at work on parts that belong to no
// snapshot: since the latest of the times in their id and of the parts. An id in
// the future was made by a clock that was wrong: then the vault must tell when it
// got each of them, else it is 0.
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
