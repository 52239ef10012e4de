package chatgpt

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// entry is one memory of a list.
type entry struct{ day, text string }

var (
	dated  = pattern.Of(`(?m)^[ \t]*\d{1,6}\.[ \t]+\[([^\]\n]{0,40})\]\.?[ \t]*`)
	number = pattern.Of(`^\d{1,6}\.[ \t]+`)
	isDate = pattern.Of(`^\d{4}-\d{2}-\d{2}$`)
)

// entries splits a list: "1. [2026-01-02]. Text", with an empty line between two. A text may have several lines.
func entries(list string) (out []entry) {
	starts := dated().FindAllStringSubmatchIndex(list, -1)
	for i, at := range starts {
		end := len(list)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		out = add(out, list[at[2]:at[3]], list[at[1]:end])
	}
	if len(starts) > 0 {
		return out
	}
	for block := range strings.SplitSeq(strings.ReplaceAll(list, "\r\n", "\n"), "\n\n") {
		block = strings.TrimSpace(block)
		out = add(out, "", block[len(number().FindString(block)):])
	}
	return out
}

func add(list []entry, day, text string) []entry {
	if text = strings.TrimSpace(text); text == "" {
		return list
	}
	return append(list, entry{strings.TrimSpace(day), text})
}

// time returns when a memory was saved. One without a date is as old as its list.
func (e entry) time(list amber.Time) (amber.Time, error) {
	if !isDate().MatchString(e.day) {
		return list, nil
	}
	return foreign.Text(e.day)
}
