package mcpmemory

import (
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// entity is something the graph knows.
type entity struct {
	place        foreign.Place
	name, typ    string
	observations []string
	known        map[string]bool // observations, of an entity that is joined
	at           amber.Time
}

type relation struct{ from, to, typ string }

func entityName(m foreign.Fields) string { return m.Text("name", "entityName") }

// entityOf returns an entity; ok is false for an object of another kind.
func entityOf(m foreign.Fields) (e entity, ok bool) {
	typ := m.Text("type")
	if typ != "entity" && (typ != "" || entityName(m) == "" || m["observations"] == nil) {
		return entity{}, false
	}
	return entity{name: entityName(m), typ: m.Text("entityType", "entity_type"), observations: observations(m["observations"])}, true
}

// relationOf returns a relation; ends and type may be missing.
func relationOf(m foreign.Fields) relation {
	return relation{m.Text("from", "from_id"), m.Text("to", "to_id"), m.Text("relationType", "relation_type")}
}

func isRelation(m foreign.Fields) bool {
	r := relationOf(m)
	return m.Text("type") == "relation" || m.Text("type") == "" && r.from != "" && r.to != ""
}

// observations returns the texts of the list as they are. It keeps any other element as JSON, but of an object with a
// content, the content.
func observations(raw json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	out := []string{}
	for _, o := range list {
		var s string
		switch {
		case len(o) == 0 || string(o) == "null":
			continue
		case json.Unmarshal(o, &s) != nil:
			s = string(o)
			if sub, ok := foreign.ParseFields(o); ok && sub.Text("content") != "" {
				s = sub.Text("content")
			}
		}
		out = append(out, s)
	}
	return out
}

// join adds what another object of the same name says and this one does not.
func (e *entity) join(o entity) (added int) {
	if e.known == nil {
		e.known = map[string]bool{}
		for _, s := range e.observations {
			e.known[s] = true
		}
	}
	if e.typ == "" {
		e.typ = o.typ
	}
	for _, s := range o.observations {
		if !e.known[s] {
			e.known[s] = true
			e.observations = append(e.observations, s)
			added += len(s)
		}
	}
	return added
}

// idMark begins the observation that holds the id of a memory.
const idMark = "amber:"

func (e entity) memory(o foreign.Options) foreign.Memory {
	said, id := foreign.CutID(e.observations, idMark)
	m := foreign.Memory{
		Place: e.place, Key: foreign.Key{name, e.name}, Kind: kindOf(e.typ), AmberID: id,
		Identities: amber.Identities{ProjectID: o.Project},
		Title:      e.name, Content: strings.Join(said, "\n"), Topic: foreign.Slug(e.name),
		Foreign: e.observations, CreatedAt: e.at, UpdatedAt: e.at,
	}
	if m.Kind == amber.UserFact || m.Kind == amber.UserPreference {
		m.UserID = o.User
	}
	if strings.TrimSpace(m.Content) == "" {
		m.Content = e.name // it may still be an end of relations
	}
	if e.typ != "" {
		m.Metadata = map[string]string{"entity_type": e.typ}
	}
	return m
}

// kinds are the types of entities that have a kind of their own. An export names other kinds as they are.
var kinds = map[string]amber.MemoryKind{
	"person": amber.UserFact, "user": amber.UserFact, "preference": amber.UserPreference, "project": amber.ProjectFact,
}

func kindOf(typ string) amber.MemoryKind {
	typ = strings.ToLower(strings.TrimSpace(typ))
	if k, ok := kinds[typ]; ok {
		return k
	}
	for _, k := range amber.MemoryKinds() {
		if typ == string(k) {
			return k
		}
	}
	return amber.WorkspaceFact
}
