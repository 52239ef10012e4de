package amber_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestKindsHaveCommonNames: a name that agents give a memory means a kind; a name that means none stays
// invalid.
func TestKindsHaveCommonNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[amber.MemoryKind]amber.MemoryKind{
		"decision": amber.ProjectFact, "Decision": amber.ProjectFact, "decisions": amber.ProjectFact, " bugfix ": amber.HistoricalCase, "bugfixes": amber.HistoricalCase,
		"user-preference": amber.UserPreference, "User Facts": amber.UserFact, "policy": amber.Constraint, "lesson": amber.WorkflowInsight, "note": amber.WorkspaceFact,
		"summary": amber.SessionSummary, "rumour": "rumour", "": "", "s": "s",
	} {
		if got := name.Canonical(); got != want {
			t.Errorf("%q stands for %q, want %q", name, got, want)
		}
	}
	for _, k := range amber.MemoryKinds() {
		if k.Canonical() != k {
			t.Errorf("%q stands for %q", k, k.Canonical())
		}
	}
	r, err := amber.WriteRequest{Kind: "decision", Content: "x"}.Normalize()
	if err != nil || r.Kind != amber.ProjectFact {
		t.Errorf("a write: %q, %v", r.Kind, err)
	}
	kinds := []amber.MemoryKind{"decision"}
	q, _, err := amber.Query{Text: "x", Filter: amber.Filter{Kinds: kinds}}.Normalize()
	if err != nil || q.Kinds[0] != amber.ProjectFact || kinds[0] != "decision" {
		t.Errorf("a query: %q, %v; the caller's is %q", q.Kinds, err, kinds)
	}
	kind := amber.MemoryKind("bug")
	m, changed, err := amber.EditRequest{Kind: &kind}.Apply(amber.Memory{Kind: amber.ProjectFact, Content: "x"})
	if err != nil || !changed || m.Kind != amber.HistoricalCase {
		t.Errorf("an edit: %q, %v", m.Kind, err)
	}
	must.Kind(t, "a rumour", must.Err((amber.WriteRequest{Kind: "rumour", Content: "x"}).Normalize()), amber.KindInvalid)
}
