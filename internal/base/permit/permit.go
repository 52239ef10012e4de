// Package permit is the right to change what several programs share, as a value. The code that takes a lock or a lease makes a
// permit and passes it on as an argument; the code right before an irreversible step asks it. A call that forgets the permit does
// not compile, and a permit that was never given refuses.
package permit

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/amber-memory/amber"
)

// Permit allows changes until its lock or lease is given back. The zero Permit refuses. Safe for concurrent use.
type Permit struct{ grants []*grant }

// grant is one lock or lease.
type grant struct {
	check func(context.Context) error
	over  atomic.Bool
}

// New returns a permit for a lock or a lease that the caller has just taken, and the function that ends the permit, which the
// caller calls before it gives the lock or the lease back. Check asks whether the caller still has it; nil for a kernel lock, which a
// process keeps until it gives the lock back.
func New(check func(context.Context) error) (p Permit, end func()) {
	g := &grant{check: check}
	return Permit{[]*grant{g}}, func() { g.over.Store(true) }
}

// And returns a permit that asks p and then others.
func (p Permit) And(others ...Permit) Permit {
	grants := slices.Clone(p.grants)
	for _, o := range others {
		if len(o.grants) == 0 || len(grants) == 0 {
			return Permit{}
		}
		grants = append(grants, o.grants...)
	}
	return Permit{grants}
}

// Ask returns nil while the holder may go on. The caller asks right before each step that others see. Errors: internal for a permit
// that was never given or has ended; those of the checks.
func (p Permit) Ask(ctx context.Context) error {
	if len(p.grants) == 0 {
		return amber.Errorf(amber.KindInternal, "ask permit", "", "no lock and no lease was taken for this step")
	}
	for _, g := range p.grants {
		if g.over.Load() {
			return amber.Errorf(amber.KindInternal, "ask permit", "", "the lock or lease for this step was given back")
		}
		if g.check == nil {
			continue
		}
		if err := g.check(ctx); err != nil {
			return err
		}
	}
	return nil
}
