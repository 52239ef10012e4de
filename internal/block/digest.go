package block

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// digestOf are the items of one session by what they are, in the order they were said.
func digestOf(found []amber.Memory) digest {
	d := digest{}
	for _, m := range slices.Backward(found) {
		name, ok := itemName(amber.Hit{Layer: amber.LayerMemory, Title: m.Title})
		if ok && len(d[name]) < maxItems {
			d[name] = append(d[name], m.Content)
		}
	}
	return d
}

// clause is what an account says under one name.
type clause struct {
	name  string
	texts []string
}

// digest are texts by what they are.
type digest map[string][]string

// clauses returns what is told of a session with a digest. Constraints and preferences
// stand elsewhere.
func (d digest) clauses(summary digest) []clause {
	pick := func(name string) []string {
		if len(d[name]) > 0 {
			return d[name]
		}
		return summary[name]
	}
	out := []clause{{"asked", summary["task"]}, {"outcome", summary["outcome"]}}
	for _, name := range []string{itemUnfinished, itemDecision, itemCause, itemCommand} {
		out = append(out, clause{name, pick(name)})
	}
	if other := summary[""]; len(other) > 0 {
		out = append(out, clause{"summary", other})
	}
	return out
}

// summaryClauses takes the summary that a digest gave a session apart. What has no name
// is under "".
func summaryClauses(s string) digest {
	out := digest{}
	for part := range strings.SplitSeq(s, " | ") {
		name, text, found := strings.Cut(part, ": ")
		name = strings.ToLower(name)
		switch {
		case found && slices.Contains([]string{"task", "outcome", itemUnfinished}, name):
			out[name] = strings.Split(text, " / ")
		case strings.TrimSpace(part) != "" && name != "files changed":
			out[""] = append(out[""], part)
		}
	}
	return out
}
