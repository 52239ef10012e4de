package bundle

import (
	"context"

	"github.com/amber-memory/amber/wire"
)

// Verify looks at everything that can be looked at with the identities at hand and sorts it: Checked holds, Damaged
// does not, NotChecked was not looked at and says why. Nothing inside an encrypted bundle is in Checked unless it was
// opened. A signature that is bad or was stripped is damage; Standing is left to the caller.
//
// Errors: too_new; quota when the bundle needs more than the limits allow; the end of the context; internal.
func (b *Bundle) Verify(ctx context.Context) (wire.BundleReport, error) {
	x, err := b.examine(ctx, nowhere{}, false)
	if err != nil {
		return wire.BundleReport{BundleInfo: b.Info()}, err
	}
	r := wire.BundleReport{
		BundleInfo: x.facts, Checked: append([]string{}, x.passed...), NotChecked: append([]string{}, x.skipped...),
		Damaged: x.damage(x.facts.ID), Signature: x.sig,
	}
	if x.found != nil {
		r.Redactions, r.Parts = x.found.contents.Redactions, publicEntries(x.found.entries)
	}
	return r, nil
}
