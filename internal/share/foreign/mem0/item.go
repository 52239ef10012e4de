package mem0

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// textNames are the members that can hold the text, the first that does.
var textNames = []string{"memory", "text", "data", "content"}

// placed are the members of an item that have a place in a memory, or that are of no use to Amber.
var placed = append([]string{"categories", "metadata", "expiration_date", "payload", "score", "vector", "embedding"}, textNames...)

// item returns the memory of an item. The error says why there is none.
func item(x foreign.Fields, o foreign.Options) (m foreign.Memory, err error) {
	if p := x.Sub("payload"); p != nil && x.Text(textNames...) == "" {
		p["id"] = x["id"]
		x = p
	}
	m = foreign.Memory{Content: x.Text(textNames...), Tags: x.Texts("categories")}
	if strings.TrimSpace(m.Content) == "" {
		return m, fmt.Errorf("item has no text")
	}
	if m.CreatedAt, err = timeOf(x, "created_at"); err != nil {
		return m, err
	}
	if m.UpdatedAt, err = timeOf(x, "updated_at"); err != nil {
		return m, err
	}
	m.Key = keyOf(x.Text("id"), m.Content)
	more := meta(&m, x)
	bind(&m, x, o)
	m.Kind = kindOf(m)
	delete(m.Metadata, kindMark)
	fields := rest(x)
	if len(more) > 0 {
		fields["metadata"] = foreign.Raw(more)
	}
	if len(fields) > 0 {
		m.Foreign = fields
	}
	return m, nil
}

// keyOf names an item. One without an id is named by its text.
func keyOf(id, text string) foreign.Key {
	if id == "" {
		sum := foreign.Digest(text)
		return foreign.Key{name, "", foreign.Hex(sum)}
	}
	return foreign.Key{name, id}
}

func timeOf(x foreign.Fields, member string) (amber.Time, error) {
	if x.Null(member) || x.Text(member) == "" {
		return amber.Time{}, nil
	}
	at, err := foreign.Text(x.Text(member))
	if err != nil {
		return at, fmt.Errorf("%s: %w", member, err)
	}
	return at, nil
}

// meta takes the metadata over and returns the part that is no text.
func meta(m *foreign.Memory, x foreign.Fields) (more foreign.Fields) {
	texts, more := x.Sub("metadata").Split()
	m.TakeMetadata(texts)
	if date := x.Text("expiration_date"); date != "" {
		texts["expiration_date"] = date
	}
	return more
}

// bind says whose memory it is: of a user, else of a run, else of an app.
func bind(m *foreign.Memory, x foreign.Fields, o foreign.Options) {
	m.UserID, m.ProjectID = x.Text("user_id"), x.Text("app_id")
	if run := x.Text("run_id", "session_id"); run != "" {
		m.SessionID = foreign.SessionID(name, run)
		if m.AmberID != "" && amber.CheckID("session id", run) == nil {
			m.SessionID = amber.SessionID(run)
		}
	}
	if o.User != "" {
		m.UserID = o.User
	}
	if o.Project != "" {
		m.ProjectID = o.Project
	}
	m.Scope = scopeOf(m.Identities)
}

func scopeOf(i amber.Identities) amber.Scope {
	switch {
	case i.UserID != "":
		return amber.ScopeUser
	case i.SessionID != "":
		return amber.ScopeSession
	case i.ProjectID != "":
		return amber.ScopeProject
	}
	return amber.ScopeGlobal
}

// kindMark is the metadata in which an export keeps the kind.
const kindMark = "amber_kind"

func kindOf(m foreign.Memory) amber.MemoryKind {
	if k := amber.MemoryKind(m.Metadata[kindMark]); slices.Contains(amber.MemoryKinds(), k) {
		return k
	}
	for _, typ := range []string{m.Metadata["type"], m.Metadata["memory_type"]} {
		if strings.HasPrefix(strings.ToLower(typ), "procedural") {
			return amber.WorkflowInsight
		}
	}
	if slices.ContainsFunc(append([]string{m.Metadata["type"]}, m.Tags...), isPreference) {
		return amber.UserPreference
	}
	return amber.UserFact
}

func isPreference(word string) bool {
	return strings.HasSuffix(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(word)), "s"), "preference")
}

// rest returns what has no place in a memory, as it was, also how times were written.
func rest(x foreign.Fields) foreign.Fields {
	out := foreign.Fields{}
	for member, raw := range x {
		if !slices.Contains(placed, member) && string(raw) != "null" && string(raw) != `""` {
			out[member] = raw
		}
	}
	return out
}
