package memos

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// item gives out a memory of a cube.
func (r *reader) item(at foreign.Place, o foreign.Object) error {
	m, why := r.memory(at, o)
	if why != "" {
		r.to.Skip(at, "%s", why)
		return nil
	}
	r.seen[m.Key[0]] = true
	return r.to.Memory(m)
}

func (r *reader) memory(at foreign.Place, o foreign.Object) (m foreign.Memory, why string) {
	id, meta := o.Text("id"), o.Sub("metadata")
	m = foreign.Memory{
		Place: at, Key: foreign.Key{id}, Title: meta.Text("key"), Content: strings.TrimSpace(o.Text("memory")), Tags: meta.Texts("tags"),
		Identities: amber.Identities{UserID: r.o.User, ProjectID: r.o.Project}, Metadata: map[string]string{},
	}
	status := meta.Text("status")
	switch {
	case id == "":
		return m, "memory has no id"
	case r.seen[id]:
		return m, "id " + id + " is there before"
	case status == "archived" || status == "deleted":
		return m, "memory is " + status
	case m.Content == "":
		return m, "memory is empty"
	}
	if m.UserID == "" {
		m.UserID = meta.Text("user_id")
	}
	if session := meta.Text("session_id"); session != "" {
		m.SessionID = foreign.SessionID("memos", session)
	}
	if meta.Text("memory_type") == "UserMemory" {
		m.Kind = amber.UserFact
	}
	for _, name := range []string{"type", "memory_type"} {
		if text := meta.Text(name); text != "" {
			m.Metadata[name] = text
		}
	}
	m.Keep(rest(o, meta))
	if err := m.TakeTimes(meta.Text("created_at"), meta.Text("updated_at")); err != nil {
		return m, err.Error()
	}
	return m, ""
}

// rest is what of an item has no place in Amber. Vectors are another model's.
func rest(o, meta foreign.Object) foreign.Object {
	out := o.Without("id", "memory", "metadata", "vector", "embedding")
	meta = meta.Without("key", "tags", "type", "memory_type", "created_at", "updated_at", "user_id", "session_id", "vector", "embedding")
	return out.With("metadata", meta)
}

// edge gives out a relation of two memories.
func (r *reader) edge(at foreign.Place, o foreign.Object) error {
	from, to, kind := o.Text("source"), o.Text("target"), o.Text("type")
	if from == "" || to == "" || kind == "" {
		r.to.Skip(at, "want an edge with source, target and type")
		return nil
	}
	return r.to.Relation(foreign.Relation{Place: at, From: foreign.Key{from}, To: foreign.Key{to}, Type: strings.ToLower(kind)})
}
