package markdown

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// isExported reports whether a head is that of a memory which an export wrote.
func isExported(front foreign.Front) bool {
	return front.Text("amber_id") != "" && front.Text("amber_kind") != ""
}

// exportedNote returns the name of the note that an export wrote with a head.
func exportedNote(front foreign.Front) string {
	if name := front.Text("amber_note"); name != "" {
		return name
	}
	return front.Text("amber_front")
}

// fillExported takes a memory from what an export wrote about it, and returns its text and its relations as documents.
func (p *page) fillExported(m *foreign.Memory) []document {
	text, relations := p.exportedParts()
	m.Content, m.Topic, m.SourceRefs, m.Metadata = unescape(text), p.front.Text("amber_topic"), nil, nil
	m.Summary, m.Kind = p.front.Text("amber_summary"), amber.MemoryKind(p.front.Text("amber_kind"))
	if amber.CheckOneOf("kind", m.Kind, amber.MemoryKinds()...) != nil {
		m.Kind = amber.WorkspaceFact
	}
	if p.front.Text("amber_untitled") != "" {
		m.Title = ""
	}
	m.Tags = p.front.Texts("tags")
	if m.ProjectID == "" {
		m.ProjectID = p.front.Text("amber_project")
	}
	m.UserID, m.WorkspaceID = p.front.Text("amber_user"), p.front.Text("amber_workspace")
	m.SessionID = amber.SessionID(p.front.Text("amber_session"))
	if s := amber.Scope(p.front.Text("amber_scope")); s == amber.ScopeGlobal || m.For(s) != "" {
		m.Scope = s
	}
	return []document{parse(text), parse(relations)}
}

// exportedParts returns the text of an exported memory as it stands in the file, and what follows it.
func (p *page) exportedParts() (text, relations string) {
	text = p.body
	if raw, ok := afterHead(p.text); ok {
		text = raw
	}
	text = strings.TrimPrefix(text, "\n")
	if list, after, ok := strings.Cut(text, "\n"+textHeading+"\n\n"); ok && strings.HasPrefix(list, relationsHeading+"\n") {
		return strings.TrimSuffix(after, "\n"), list
	}
	if before, after, ok := strings.Cut("\n"+text, "\n"+relationsHeading+"\n"); ok {
		return strings.TrimSuffix(strings.TrimPrefix(before, "\n"), "\n"), after
	}
	return strings.TrimSuffix(text, "\n"), ""
}

// afterHead returns what follows the head of a file, to the byte, where the head is written as an export writes it.
func afterHead(text string) (string, bool) {
	if !strings.HasPrefix(text, "---\n") {
		return "", false
	}
	_, after, ok := strings.Cut(text, "\n---\n")
	return after, ok
}

// unwrapNote takes off what an export added to a note.
func (p *page) unwrapNote() {
	text, ok := "", false
	name := exportedNote(p.front)
	if p.front.Text("amber_note") != "" {
		text, ok = afterHead(p.text)
	} else if name != "" {
		text, ok = withoutMarks(p.text)
	}
	if !ok {
		return
	}
	if _, err := amber.CheckNoteName(name); err == nil {
		p.note = name
	}
	p.text, p.known = text, amber.ContentDigest(text) == p.front.Text("amber_digest")
}

// added are the lines that an export can put into a head that a note has, before the two that are always there.
var added = []string{"title: ", "type: ", "permalink: "}

// withoutMarks takes the lines off that an export puts into a head that a note has.
func withoutMarks(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	for _, mark := range added {
		if strings.HasPrefix(rest, mark) {
			_, rest, _ = strings.Cut(rest, "\n")
		}
	}
	for _, mark := range []string{"amber_front: ", "amber_digest: "} {
		ok = ok && strings.HasPrefix(rest, mark)
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return "---\n" + rest, ok
}

// strengthOf reads what an export wrote behind a relation that is not of full strength.
func strengthOf(context string, exported bool) (strength float64, rest string) {
	if !exported {
		return 0, context
	}
	if n, err := fmt.Sscanf(context, "strength %g", &strength); n == 1 && err == nil && strength >= 0 && strength <= 1 {
		return strength, ""
	}
	return 0, context
}
