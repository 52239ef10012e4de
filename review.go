package amber

import "slices"

// Review says which records wait for the owner: records that hold for every project, and standing constraints. A record that
// waits is stored and found by those who ask, and put before no agent that did not ask, until the owner keeps it by an edit with
// Keep. Nothing else is stored about it, so it is the same in every store.
type Review string

// The rules of review. The zero value is ReviewAgents.
const (
	ReviewAgents  Review = "agents"  // those of agents wait
	ReviewImports Review = "imports" // those of agents and those that came from elsewhere wait
	ReviewNone    Review = "none"    // none waits
)

// Reviews lists every rule in the order above.
func Reviews() []Review { return []Review{ReviewAgents, ReviewImports, ReviewNone} }

// Trusts lists the degrees of trust whose records may wait.
func (r Review) Trusts() []Trust {
	switch orDefault(r, ReviewAgents) {
	case ReviewImports:
		return []Trust{TrustAgent, TrustImported}
	case ReviewNone:
		return nil
	}
	return []Trust{TrustAgent}
}

// Waits reports whether a record of some trust, scope and kind waits for the owner.
func (r Review) Waits(t Trust, s Scope, k MemoryKind) bool {
	return (s == ScopeGlobal || k == Constraint) && slices.Contains(r.Trusts(), t)
}
