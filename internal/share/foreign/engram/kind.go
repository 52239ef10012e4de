package engram

import "github.com/amber-memory/amber"

// kinds says what the types that Engram proposes are about. Types are free text: any other is a fact of the workspace. The
// names of Amber's own kinds are types too, so that none is lost on the way through Engram.
var kinds = map[string]amber.MemoryKind{
	"architecture":    amber.ProjectFact,
	"bugfix":          amber.HistoricalCase,
	"config":          amber.ProjectFact,
	"decision":        amber.ProjectFact,
	"discovery":       amber.ProjectFact,
	"learning":        amber.WorkflowInsight,
	"manual":          amber.WorkspaceFact,
	"passive":         amber.WorkflowInsight,
	"pattern":         amber.WorkflowInsight,
	"policy":          amber.Constraint,
	"preference":      amber.UserPreference,
	"session_summary": amber.SessionSummary,
}

// types is the way back: a type that means this kind.
var types = map[amber.MemoryKind]string{
	amber.UserPreference:  "preference",
	amber.UserFact:        "user_fact",
	amber.ProjectFact:     "discovery",
	amber.WorkspaceFact:   "manual",
	amber.HistoricalCase:  "bugfix",
	amber.Constraint:      "policy",
	amber.WorkflowInsight: "pattern",
	amber.SessionSummary:  "session_summary",
}

func kindOf(typ string) amber.MemoryKind {
	if k, ok := kinds[typ]; ok {
		return k
	}
	if _, ok := types[amber.MemoryKind(typ)]; ok {
		return amber.MemoryKind(typ)
	}
	return amber.WorkspaceFact
}

// scopeOf says who sees a memory. A scope that Engram does not know is the project's, as Engram has it, and a project
// without a name is everybody's.
func scopeOf(scope, project string) amber.Scope {
	switch {
	case scope == "personal":
		return amber.ScopeUser
	case scope == "global", project == "":
		return amber.ScopeGlobal
	}
	return amber.ScopeProject
}
