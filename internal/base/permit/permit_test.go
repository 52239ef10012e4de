package permit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestAPermitAllowsUntilItsLockIsGivenBack(t *testing.T) {
	t.Parallel()
	p, end := permit.New(nil)
	must.Do(t, p.Ask(t.Context()))
	end()
	must.Kind(t, "after the end", p.Ask(t.Context()), amber.KindInternal, "given back")
}

func TestAPermitThatWasNeverGivenRefuses(t *testing.T) {
	t.Parallel()
	p, end := permit.New(nil)
	defer end()
	for name, zero := range map[string]permit.Permit{"zero": {}, "zero beside one": p.And(permit.Permit{}), "one beside zero": permit.Permit{}.And(p)} {
		must.Kind(t, name, zero.Ask(t.Context()), amber.KindInternal, "no lock and no lease")
	}
}

// Every lock and lease counts, and one more does not undo those before.
func TestPermitsAddUp(t *testing.T) {
	t.Parallel()
	lost := errors.New("another server has the work")
	asked := 0
	outer, endOuter := permit.New(func(context.Context) error {
		asked++
		return lost
	})
	defer endOuter()
	inner, endInner := permit.New(nil)
	both := inner.And(outer)
	must.Hold(t, errors.Is(both.Ask(t.Context()), lost), "the lease that is lost did not count")
	must.Equal(t, "asked", asked, 1)
	must.Do(t, inner.Ask(t.Context()))
	endInner()
	must.Kind(t, "after the end of one", both.Ask(t.Context()), amber.KindInternal)
	must.Equal(t, "asked", asked, 1)
}
