package mcpservice

import (
	"cmp"
	"math"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// supersedes relates a memory to the one that took its place.
func (r *reader) supersedes(at foreign.Place, x foreign.Row) error {
	by := x.Text("superseded_by")
	if by == "" || x.Text("content_hash") == "" {
		return nil
	}
	return r.relate(at, by, x.Text("content_hash"), foreign.Relation{Type: "supersedes", Strength: 1})
}

// leastStrength is the strength for a similarity of zero: a strength of 0 would become the default.
const leastStrength = 0.001

// graph relates memories that the program found to belong together.
func (r *reader) graph(at foreign.Place, x foreign.Row) error {
	relation := foreign.Relation{Type: cmp.Or(x.Text("relationship_type"), "related"), Strength: 1}
	if s, ok := x.Number("similarity"); ok && !math.IsNaN(s) {
		relation.Strength = min(max(s, leastStrength), 1)
	}
	created, err := timeOf(x, "created_at")
	if err != nil {
		r.to.Skip(at, "created_at: %v", err)
		return nil
	}
	relation.CreatedAt = created
	return r.relate(at, x.Text("source_hash"), x.Text("target_hash"), relation)
}

// relate gives out a relation whose ends are there, once.
func (r *reader) relate(at foreign.Place, from, to string, x foreign.Relation) error {
	ends := [2]foreign.Key{}
	for i, hash := range []string{from, to} {
		store, ok := r.stores[digest(hash)]
		if !ok {
			r.to.Skip(at, "relation %.60q from %.64q to %.64q: there is no memory %.64q", x.Type, from, to, hash)
			return nil
		}
		ends[i] = foreign.Key{store, hash}
	}
	if r.linked.Add(foreign.Key{from, to, x.Type}) != foreign.First {
		return nil
	}
	x.Place, x.From, x.To = at, ends[0], ends[1]
	return r.to.Relation(x)
}
