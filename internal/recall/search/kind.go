package search

import (
	"regexp"
	"sync"

	"github.com/amber-memory/amber"
)

const somebody = `(i|we|one|you|somebody|anybody|someone|anyone)\b`

// Some questions say what kind of memory answers them: "may I" asks for a constraint, "what
// went wrong" for a case. English only; other questions ask for any kind.
var kindsAsked = sync.OnceValue(func() []kindPattern {
	kind := func(k amber.MemoryKind, pattern string) kindPattern {
		return kindPattern{k, regexp.MustCompile(`(?i)` + pattern)}
	}
	return []kindPattern{
		kind(amber.Constraint, `(^|[,;:.?!] )(so |and |but )?(can|could|should|must|shall) `+somebody+`|\bmay (`+somebody+`|the|an?|it|they)\b`+
			`|\bdo (i|we) need\b|\b(allowed|forbidden|permitted|prohibited|permission|(all right|ok|okay) (to|if)|required|supposed to|have to|must|rules?|limit)\b`),
		kind(amber.HistoricalCase, `^why (did|was|were)|\b(went wrong|was wrong|happened|what (made|caused|broke)|ever|root cause)\b`),
		kind(amber.WorkflowInsight, `\bhow (do|can|should|does|would|to)\b|\b(procedure|steps|process)\b`),
		kind(amber.UserPreference, `\b(prefers?|likes?|wants?|favou?rite|style)\b`),
	}
})

type kindPattern struct {
	kind    amber.MemoryKind
	pattern *regexp.Regexp
}

// kindAsked returns the kind of memory that a question asks for, "" for any.
func kindAsked(question string) amber.MemoryKind {
	for _, k := range kindsAsked() {
		if k.pattern.MatchString(question) {
			return k.kind
		}
	}
	return ""
}
