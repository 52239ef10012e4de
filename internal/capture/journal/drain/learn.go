package drain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Bounds of what one event can teach.
const (
	maxLearnings     = 20
	maxLearningBytes = 2000
	minLearningRunes = 12
)

// learnings returns what an assistant said it learned, and what it or the
// user said must be remembered. Rules find these, so no person has vouched for
// them.
func learnings(ev journal.HostEvent) []amber.WriteRequest {
	found := append(sections(ev.Answer), reminders(ev.Answer)...)
	found = append(found, reminders(ev.Prompt)...)
	var out []amber.WriteRequest
	seen := map[string]bool{}
	for _, l := range found {
		l = clip.Bytes(plain(strings.TrimSpace(l)), maxLearningBytes)
		if seen[l] || utf8.RuneCountInString(l) < minLearningRunes || len(out) == maxLearnings {
			continue
		}
		seen[l] = true
		out = append(out, amber.WriteRequest{
			Kind: amber.WorkflowInsight, Scope: scopeOf(ev.Project), Identities: amber.Identities{SessionID: ev.SessionID, ProjectID: ev.Project},
			Content: l, Tags: []string{"learning"}, Trust: amber.TrustDerived, Reason: amber.WriteObservation,
			SourceRefs: []amber.SourceRef{{Kind: "session", Value: string(ev.SessionID)}, {Kind: "event", Value: ev.EventID}},
		})
	}
	return out
}

// scopeOf returns where something learned in a project is visible; without a project,
// in its session alone, since nothing says who else may see it.
func scopeOf(project string) amber.Scope {
	if project == "" {
		return amber.ScopeSession
	}
	return amber.ScopeProject
}

// teaching are the headings under which assistants write what they learned,
// in lower case.
var teaching = map[string]bool{
	"key learnings": true, "key learning": true, "learnings": true, "lessons learned": true, "lessons": true,
	"key takeaways": true, "takeaways": true, "key insights": true, "insights": true, "what i learned": true, "what we learned": true,
	"things to remember": true, "to remember": true, "remember": true, "notes for next time": true, "for next time": true,
	"key decisions": true, "decisions": true, "gotchas": true, "aprendizajes clave": true, "aprendizajes": true,
}

// sections returns the items below teaching headings: each item of a list, or
// each paragraph where there is no list. Code is no text.
func sections(s string) []string {
	var out []string
	var item strings.Builder
	inside := false
	end := func() {
		if item.Len() > 0 {
			out = append(out, item.String())
			item.Reset()
		}
	}
	for line := range prose(s) {
		title, isHeading := heading(line)
		body, isItem := listItem(line)
		switch {
		case isHeading:
			end()
			inside = teaching[title]
		case !inside:
		case strings.TrimSpace(line) == "":
			end()
		case isItem:
			end()
			item.WriteString(body)
		default:
			if item.Len() > 0 {
				item.WriteString(" ")
			}
			item.WriteString(strings.TrimSpace(line))
		}
	}
	end()
	return out
}

// heading returns the words of a heading in lower case: a line that begins
// with number signs, or that is bold as a whole, or "Key Learnings:" alone.
func heading(line string) (title string, ok bool) {
	line = strings.TrimSpace(line)
	bare := strings.TrimLeft(line, "#")
	ok = len(bare) < len(line) && strings.HasPrefix(bare, " ") ||
		strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimRight(line, ": "), "**") ||
		strings.HasSuffix(line, ":**")
	title = strings.ToLower(strings.TrimSpace(strings.TrimFunc(bare, func(r rune) bool {
		return unicode.IsSpace(r) || r == ':' || r == '*' || r == '_' || unicode.IsSymbol(r)
	})))
	if strings.HasSuffix(line, ":") && teaching[title] {
		ok = true
	}
	return title, ok
}

// listItem returns the text of a list item.
func listItem(line string) (string, bool) {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	digits := strings.TrimLeft(line, "0123456789")
	if len(digits) < len(line) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
		return strings.TrimSpace(digits[2:]), true
	}
	return "", false
}

// reminding are the words a sentence to remember begins with, in lower case.
var reminding = []string{
	"remember that ", "please remember that ", "remember: ", "please remember: ", "note for next time: ", "for next time: ",
	"for future reference: ", "for future reference, ", "keep in mind that ", "always remember that ", "important to remember: ",
}

// reminders returns what sentences at the beginning of a line, or of a list
// item, say must be remembered.
func reminders(s string) []string {
	var out []string
	for line := range prose(s) {
		body, ok := listItem(line)
		if !ok {
			body = line
		}
		body = strings.TrimLeft(strings.TrimSpace(body), "*_>` ")
		for _, words := range reminding {
			if len(body) > len(words) && strings.EqualFold(body[:len(words)], words) {
				out = append(out, sentence(strings.TrimRight(body[len(words):], "*_` ")))
				break
			}
		}
	}
	return out
}

// sentence returns the first sentence of s: up to a full stop that a space and
// a capital letter follow.
func sentence(s string) string {
	for i, r := range s {
		if r != '.' && r != '!' && r != '?' || i+2 >= len(s) || s[i+1] != ' ' {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(s[i+2:]); unicode.IsUpper(next) {
			return s[:i+1]
		}
	}
	return s
}

// prose returns the lines of s that are not code.
func prose(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		fence := ""
		for line := range strings.Lines(s) {
			line = strings.TrimRight(line, "\r\n")
			trimmed := strings.TrimSpace(line)
			switch {
			case fence != "":
				if strings.HasPrefix(trimmed, fence) {
					fence = ""
				}
				continue
			case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
				fence = trimmed[:3]
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}
