package graphiti

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// element takes an element in the first pass: memories are given out, episodes are counted.
func (r *reader) element(list string, n int64, raw []byte) error {
	isEpisode, isNode, isEdge := slices.Contains(episodes, list), slices.Contains(nodes, list), slices.Contains(edges, list)
	if !isEpisode && !isNode && !isEdge {
		return nil
	}
	at := r.file.Place(fmt.Sprintf("%s %d", list, n))
	o, err := foreign.ParseObject(raw)
	if err != nil {
		r.to.Skip(at, "element %v", err)
		return nil
	}
	uuid := o.Text("uuid")
	switch {
	case uuid == "":
		r.to.Skip(at, "element has no uuid")
		return nil
	case r.seen[uuid]:
		r.to.Skip(at, "uuid %s is there before", uuid)
		return nil
	}
	switch {
	case isEpisode:
		return r.count(at, o)
	case isNode:
		return r.node(at, uuid, o)
	}
	return r.edge(at, uuid, o)
}

// node gives out an entity. Its summary is what is known of it; without one there is its name.
func (r *reader) node(at foreign.Place, uuid string, o foreign.Object) error {
	m, ok := r.memory(at, uuid, o, "name", "summary", "labels")
	if !ok {
		return nil
	}
	m.Title, m.Content = o.Text("name"), strings.TrimSpace(o.Text("summary"))
	if m.Content == "" {
		m.Content = m.Title
	}
	for _, label := range o.Texts("labels") {
		if label != "Entity" {
			m.Tags = append(m.Tags, label)
		}
	}
	return r.give(m)
}

// edge gives out a fact, and that it is about both ends.
func (r *reader) edge(at foreign.Place, uuid string, o foreign.Object) error {
	m, ok := r.memory(at, uuid, o, "name", "fact", "source_node_uuid", "target_node_uuid")
	if !ok {
		return nil
	}
	m.Title, m.Content = o.Text("name"), strings.TrimSpace(o.Text("fact"))
	for _, name := range []string{"valid_at", "invalid_at", "expired_at"} {
		if text := o.Text(name); text != "" {
			m.Metadata[name] = text
			if name != "valid_at" && !slices.Contains(m.Tags, "invalid") {
				m.Tags = append(m.Tags, "invalid")
			}
		}
	}
	if m.Content == "" {
		r.to.Skip(at, "the edge has no fact")
		return nil
	}
	if err := r.give(m); err != nil {
		return err
	}
	ends := []string{o.Text("source_node_uuid"), o.Text("target_node_uuid")}
	if ends[0] == ends[1] {
		ends = ends[:1]
	}
	for _, end := range ends {
		if end == "" || end == uuid {
			continue
		}
		relation := foreign.Relation{Place: at, From: m.Key, To: foreign.Key{end}, Type: "related", CreatedAt: m.CreatedAt}
		if err := r.to.Relation(relation); err != nil {
			return err
		}
	}
	return nil
}

// memory returns what nodes and edges share; ok is false where a time is not to be believed.
func (r *reader) memory(at foreign.Place, uuid string, o foreign.Object, used ...string) (m foreign.Memory, ok bool) {
	m = foreign.Memory{
		Place: at, Key: foreign.Key{uuid}, Identities: amber.Identities{UserID: r.o.User, ProjectID: r.o.Project}, Metadata: map[string]string{},
	}
	if text := o.Text("created_at"); text != "" {
		moment, err := foreign.Text(text)
		if err != nil {
			r.to.Skip(at, "created_at: %v", err)
			return m, false
		}
		m.CreatedAt = moment
	}
	if group := o.Text("group_id"); group != "" {
		m.Metadata["group_id"] = group
	}
	used = append(used, "uuid", "created_at", "group_id", "valid_at", "invalid_at", "expired_at", "name_embedding", "fact_embedding", "summary_embedding", "embedding")
	m.Keep(o.Without(used...))
	return m, true
}

func (r *reader) give(m foreign.Memory) error {
	if strings.TrimSpace(m.Content) == "" {
		r.to.Skip(m.Place, "the node has neither summary nor name")
		return nil
	}
	r.seen[m.Key[0]] = true
	return r.to.Memory(m)
}
