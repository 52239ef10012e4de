package amber

import "strings"

// kindNames are other words for kinds, as people, agents and other tools use them.
var kindNames = map[string]MemoryKind{
	"preference": UserPreference, "style": UserPreference, "habit": UserPreference,
	"user": UserFact, "person": UserFact, "profile": UserFact,
	"decision": ProjectFact, "architecture": ProjectFact, "design": ProjectFact, "config": ProjectFact, "configuration": ProjectFact,
	"discovery": ProjectFact, "requirement": ProjectFact, "goal": ProjectFact, "project": ProjectFact,
	"fact": WorkspaceFact, "note": WorkspaceFact, "reference": WorkspaceFact, "workspace": WorkspaceFact,
	"case": HistoricalCase, "bug": HistoricalCase, "bugfix": HistoricalCase, "fix": HistoricalCase, "incident": HistoricalCase, "error": HistoricalCase, "event": HistoricalCase,
	"rule": Constraint, "policy": Constraint, "guideline": Constraint, "limit": Constraint, "warning": Constraint,
	"insight": WorkflowInsight, "learning": WorkflowInsight, "lesson": WorkflowInsight, "pattern": WorkflowInsight, "procedure": WorkflowInsight,
	"workflow": WorkflowInsight, "practice": WorkflowInsight, "tip": WorkflowInsight,
	"summary": SessionSummary, "session": SessionSummary,
}

// Canonical returns the kind that k means: a common name such as "decision" or "Bugfix" means one of
// [MemoryKinds], in any case, with a space or a dash for an underscore, and in the plural. A name that means
// none is returned as it is, and is invalid. Every contract that takes a kind takes its names.
func (k MemoryKind) Canonical() MemoryKind {
	word := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(string(k))))
	for _, w := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es")} {
		for _, known := range MemoryKinds() {
			if MemoryKind(w) == known {
				return known
			}
		}
		if known, ok := kindNames[w]; ok {
			return known
		}
	}
	return k
}
