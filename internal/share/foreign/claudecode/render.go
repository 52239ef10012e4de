package claudecode

import (
	"cmp"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// types are the types of memories that kinds become. Claude Code knows four.
var types = map[amber.MemoryKind]string{
	amber.UserFact: "user", amber.UserPreference: "feedback", amber.Constraint: "feedback", amber.WorkflowInsight: "feedback",
	amber.ProjectFact: "project", amber.HistoricalCase: "project", amber.SessionSummary: "project", amber.WorkspaceFact: "reference",
}

// render returns the file of a memory. Every value is quoted: without quotes, what follows a "#" was once cut off.
func render(m amber.Memory, stem string) string {
	var b strings.Builder
	line := func(field, value string) { b.WriteString(field + ": " + quote(value) + "\n") }
	b.WriteString("---\n")
	line("name", cmp.Or(m.Title, stem))
	line("description", hook(m, 500))
	b.WriteString("metadata:\n  node_type: memory\n")
	line("  type", cmp.Or(types[m.Kind], "reference"))
	if m.SessionID != "" {
		line("  originSessionId", string(m.SessionID))
	}
	line("  modified", m.UpdatedAt.String())
	line("  amber_id", string(m.ID))
	head := b.String()
	rest := "---\n\n" + m.Content + "\n"
	return head + "  amber_digest: " + quote(digestOf(head+rest)) + "\n" + rest
}

func quote(s string) string { return string(foreign.JSON(s)) }

func digestOf(text string) string { return foreign.Hex(foreign.Digest("claude-code memory 1", text)) }

var digestLine = pattern.Of(`(?m)^  amber_digest: "([0-9a-f]{32})"\n`)

// state says whose file is where a memory would be written.
type state int

const (
	absent    state = iota // there is none
	untouched              // of this memory, as an export wrote it
	changed                // of this memory but edited since, or written by another program with its text
	another                // of something else
)

// compare looks at a file that is there.
func compare(b []byte, m amber.Memory) state {
	if b == nil {
		return absent
	}
	front, body, err := foreign.SplitFront(b)
	if err != nil {
		return another
	}
	h := headOf(front)
	if h.amberID != string(m.ID) {
		if strings.TrimSpace(body) == strings.TrimSpace(m.Content) {
			return changed
		}
		return another
	}
	text := string(b)
	at := digestLine().FindStringSubmatchIndex(text)
	if at != nil && digestOf(text[:at[0]]+text[at[1]:]) == text[at[2]:at[3]] {
		return untouched
	}
	return changed
}

// ownBody returns the text of a file that an export wrote, to the byte.
func ownBody(b []byte, body string) string {
	if text, ok := strings.CutPrefix(string(b), "---\n"); ok {
		if _, rest, ok := strings.Cut(text, "\n---\n"); ok {
			body = rest
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(body, "\n"), "\n")
}

// hook returns what a memory is about in at most max bytes and one line.
func hook(m amber.Memory, max int) string {
	s := clip.Line(m.Summary)
	if s == "" {
		s = clip.Line(firstWords(m.Content))
	}
	return strings.TrimSpace(clip.Bytes(s, max))
}
