package digest

import (
	"fmt"
	"strings"
)

// Bounds of what is written.
const (
	maxTitle   = 120 // bytes
	maxSummary = 1600
	maxClause  = 220 // of a summary
	maxOpen    = 700 // of what is unfinished in a summary
	minClause  = 40  // a shorter piece says nothing
)

// labels say what an item is, before its title.
var labels = map[Kind]string{
	Task: "Task", Outcome: "Outcome", Constraint: "Constraint", Preference: "Preference", Decision: "Decision",
	Cause: "Cause", Command: "Command that works", Unfinished: "Unfinished",
}

// sections are the headings of a digest.
var sections = map[Kind]string{
	Task: "Asked", Outcome: "Outcome", Constraint: "Constraints", Preference: "Preferences", Decision: "Decisions",
	Cause: "Causes and fixes", Command: "Commands that work", Unfinished: "Unfinished",
}

// Title names an item in one line.
func (it Item) Title() string { return labels[it.Kind] + ": " + brief(it.Text, maxTitle) }

// brief returns the first sentence of a text, cut where it is long.
func brief(text string, n int) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "**", "")) // not "__": names of programs have it
	if all := split(text); len(all) > 1 && len(all[0]) >= 20 {
		text = all[0]
	}
	return cut(text, n)
}

// cut cuts a text where it is long, and shows that.
func cut(text string, n int) string {
	if len(text) > n {
		text = strings.TrimRight(shorten(text, n-len("…")), " ,;:") + "…"
	}
	return text
}

// Title names the session: by what was asked for first.
func (d Digest) Title() string {
	for _, it := range d.Of(Task) {
		return "Session: " + brief(it.Text, maxTitle)
	}
	return "Session " + string(d.Session)
}

// Summary is the session in a line or two: the task, the outcome, what is
// unfinished. Without anything that was said it names the files.
func (d Digest) Summary() string {
	var parts []string
	add := func(kind Kind, most, clause, room int) {
		var texts []string
		for _, it := range d.Of(kind) {
			if len(texts) < most && room > minClause {
				texts = append(texts, cut(it.Text, min(clause, room)))
				room -= len(it.Text)
			}
		}
		if len(texts) > 0 {
			parts = append(parts, labels[kind]+": "+strings.Join(texts, " / "))
		}
	}
	add(Task, 2, maxClause, 2*maxClause)
	add(Outcome, 1, MaxItemBytes, MaxItemBytes)
	add(Unfinished, most[Unfinished], MaxItemBytes, maxOpen)
	if len(d.Of(Unfinished)) == 0 && len(d.Tasks) > 0 {
		parts = append(parts, "Unfinished: "+brief(strings.Join(d.Tasks, " / "), maxClause))
	}
	if len(d.Files) > 0 && len(parts) < 2 {
		parts = append(parts, filesChanged+": "+strings.Join(d.Files[:min(len(d.Files), 3)], ", "))
	}
	return shorten(strings.Join(parts, " | "), maxSummary)
}

// IsSummary reports whether a text begins as one that [Digest.Summary] wrote; a person or a
// program may have written it nevertheless. Such a summary quotes what was typed to an agent.
func IsSummary(s string) bool {
	for _, k := range []Kind{Task, Outcome, Unfinished} {
		if strings.HasPrefix(s, labels[k]+": ") {
			return true
		}
	}
	return strings.HasPrefix(s, filesChanged+": ")
}

// filesChanged heads the list of files.
const filesChanged = "Files changed"

// Content is the digest as a text: one section for each kind, one line for each item.
func (d Digest) Content() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s with %s", collapse(string(d.Session)), collapse(d.Host))
	if d.Project != "" {
		fmt.Fprintf(&b, " in %s", collapse(d.Project))
	}
	b.WriteString(".\n")
	for _, k := range Kinds() {
		var lines []string
		for _, it := range d.Of(k) {
			lines = append(lines, it.Text)
		}
		if k == Unfinished {
			lines = append(lines, d.Tasks...)
		}
		list(&b, sections[k], lines)
	}
	list(&b, filesChanged, d.Files)
	list(&b, "Lost", d.Lost)
	return b.String()
}

// list writes lines below a heading. Each is one line whatever it holds, so none of
// them can pass for a heading.
func list(b *strings.Builder, heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", heading)
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", collapse(l))
	}
}
