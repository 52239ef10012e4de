package foreign

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// TakeTimes sets when a memory was made and changed, from two texts of which either may be empty. The error says which is not to
// be believed.
func (m *Memory) TakeTimes(created, updated string) error {
	for _, t := range []struct {
		name, text string
		into       *amber.Time
	}{{"time of creation", created, &m.CreatedAt}, {"time of change", updated, &m.UpdatedAt}} {
		if t.text == "" {
			continue
		}
		at, err := Text(t.text)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		*t.into = at
	}
	return nil
}

// TakeMetadata sets the metadata, but for the title and the id of a memory that an export of Amber wrote into it.
func (m *Memory) TakeMetadata(texts map[string]string) {
	if _, err := amber.ParseMemoryID(texts["amber_id"]); err == nil {
		m.AmberID = texts["amber_id"]
		delete(texts, "amber_id")
	}
	m.Title, m.Metadata = texts["title"], texts
	delete(texts, "title")
}

// CutID parts the id of a memory, which an export of Amber wrote behind a mark, from other texts.
func CutID(texts []string, mark string) (rest []string, id string) {
	for _, s := range texts {
		own, ok := strings.CutPrefix(s, mark)
		if _, err := amber.ParseMemoryID(own); ok && err == nil && id == "" {
			id = own
			continue
		}
		rest = append(rest, s)
	}
	return rest, id
}

// TakeOwn sets what an export of Amber wrote about a memory, beside its text. Project wins over that of the export, and a kind or a scope
// that does not hold is left out.
func (m *Memory) TakeOwn(own Object, project string) {
	if k := amber.MemoryKind(own.Text("kind")); amber.CheckOneOf("kind", k, amber.MemoryKinds()...) == nil {
		m.Kind = k
	}
	m.Title, m.Summary, m.Topic = own.Text("title"), own.Text("summary"), own.Text("topic")
	m.ProjectID, m.UserID = cmp.Or(project, own.Text("project_id")), cmp.Or(own.Text("user_id"), m.UserID)
	m.WorkspaceID, m.SessionID = own.Text("workspace_id"), amber.SessionID(own.Text("session_id"))
	if s := amber.Scope(own.Text("scope")); s == amber.ScopeGlobal || m.For(s) != "" {
		m.Scope = s
	}
}

// FillLists puts empty lists in the place of those that a memory lacks, as a store keeps them.
func FillLists(m *amber.Memory) {
	if m.Tags == nil {
		m.Tags = []string{}
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	if m.SourceRefs == nil {
		m.SourceRefs = []amber.SourceRef{}
	}
}
