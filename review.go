package amber

// Waits reports whether a record of some trust, scope and kind waits for the owner: what an agent says for every project,
// and what it says always holds. It is stored and found, and put before no agent that did not ask, until the owner keeps it
// by an edit with Keep. Nothing else is stored about it, so it is the same in every store.
func Waits(t Trust, s Scope, k MemoryKind) bool {
	return t == TrustAgent && (s == ScopeGlobal || k == Constraint)
}

// Waits reports whether the memory waits for the owner: see [Waits].
func (m *Memory) Waits() bool { return Waits(m.Trust, m.Scope, m.Kind) }
