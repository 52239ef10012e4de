package amber

import "slices"

// Trust says how far a record may be believed. The order of [Trusts] is the one
// order of trust: a record of lower trust never replaces, hides or changes one of
// higher trust.
type Trust string

// The degrees of trust.
const (
	TrustOwn      Trust = "own"      // written here by the owner
	TrustSigned   Trust = "signed"   // signed by a trusted key
	TrustAgent    Trust = "agent"    // written here by an agent, or by a tool
	TrustDerived  Trust = "derived"  // found by rule in assistant text
	TrustImported Trust = "imported" // came from elsewhere
)

// Trusts lists every degree, the highest first.
func Trusts() []Trust {
	return []Trust{TrustOwn, TrustSigned, TrustAgent, TrustDerived, TrustImported}
}

// Outranks reports whether t is more than u. The empty trust is that of the owner;
// an unknown one is below all others.
func (t Trust) Outranks(u Trust) bool { return t.place() < u.place() }

// AtMost returns the lower one of t and limit.
func (t Trust) AtMost(limit Trust) Trust {
	if t.Outranks(limit) {
		return limit
	}
	return t
}

// OrMore lists t and every degree above it.
func (t Trust) OrMore() []Trust {
	return slices.DeleteFunc(Trusts(), func(u Trust) bool { return t.Outranks(u) })
}

// place is the place of t in the order of [Trusts].
func (t Trust) place() int {
	if at := slices.Index(Trusts(), orDefault(t, TrustOwn)); at >= 0 {
		return at
	}
	return len(Trusts())
}

func checkTrust(t Trust) error { return CheckOneOf("trust", t, Trusts()...) }

// MayChange checks that a caller of trust by may change a record of trust t: its
// own, and what is trusted less. Backends call it inside of the change. The error
// is of kind refused.
func (t Trust) MayChange(by Trust, op, id string) error {
	if !t.Outranks(by) {
		return nil
	}
	return Errorf(KindRefused, op, id, "the record has trust %s and the caller has trust %s, which changes records of its own trust or less",
		orDefault(t, TrustOwn), by).WithHint("ask the owner to change it, or write a record beside it")
}
