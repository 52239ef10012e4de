package contextblock

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// digestOf are the items of one session by what they are: the last ones of each, in the order
// they were stored, which is the order they were said. A session that went on after a
// digest has more than are told.
func digestOf(found []amber.Memory) digest {
	// Those of one digest were stored at one time, and their ids are in no order.
	found = slices.SortedStableFunc(slices.Values(found), func(a, b amber.Memory) int { return cmp.Compare(b.Origin.Clock, a.Origin.Clock) })
	d := digest{}
	for _, m := range found {
		name, ok := itemName(amber.Hit{Layer: amber.LayerMemory, Title: m.Title})
		if ok && len(d[name]) < maxItems {
			d[name] = append(d[name], m.Content)
		}
	}
	for _, texts := range d {
		slices.Reverse(texts)
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

// clauses returns the clauses for a session with a digest. Constraints and preferences are in
// another section.
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

// summaryClauses splits the summary that a digest gave a session into its clauses. Text without a
// name is under "". A bar inside a text, such as that of a pipe, splits nothing.
func summaryClauses(s string) digest {
	out := digest{}
	name, text := "", ""
	end := func() {
		switch {
		case strings.TrimSpace(text) == "" || name == "files changed":
		case name == "":
			out[""] = []string{text}
		default:
			out[name] = strings.Split(text, " / ")
		}
	}
	for i, part := range strings.Split(s, " | ") {
		label, rest, found := strings.Cut(part, ": ")
		label = strings.ToLower(label)
		switch {
		case found && slices.Contains([]string{"task", "outcome", itemUnfinished, "files changed"}, label):
			end()
			name, text = label, rest
		case i > 0:
			text += " | " + part
		default:
			text = part
		}
	}
	end()
	return out
}
