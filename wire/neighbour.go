package wire

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Bounds of the work for a neighbourhood.
const (
	neighbourSnippet  = 200  // of the content of a memory
	maxNeighbourLooks = 600  // memories that are read for it
	maxNeighbourWays  = 2000 // relations after which no more are read
	maxWaysOfOne      = 500  // relations of one memory
)

// CollectNeighbours goes from memory to memory, for stores: get returns one live memory,
// related at most limit live relations from or to a memory, of some types or, without
// any, of all. It asks for a bounded number of both. Errors: those of
// [amber.Relations]' Neighbours.
func CollectNeighbours(q amber.NeighbourQuery, get func(amber.MemoryID) (amber.Memory, error), related func(id amber.MemoryID, types []string, limit int) ([]amber.Relation, error)) (amber.Neighbourhood, error) {
	q, err := q.Normalize()
	if err != nil {
		return amber.Neighbourhood{}, err
	}
	first, err := get(q.ID)
	if err != nil {
		return amber.Neighbourhood{}, err
	}
	w := neighbourWalk{q: q, get: get, related: related, first: first, near: map[amber.MemoryID]bool{}, ways: map[string]bool{}}
	w.out.Relations = []amber.Relation{}
	w.add(first, 0)
	ring := []amber.MemoryID{q.ID}
	for step := 1; step <= q.Depth && len(ring) > 0; step++ {
		if ring, err = w.step(ring, step); err != nil {
			return amber.Neighbourhood{}, err
		}
	}
	return w.out, nil
}

// neighbourWalk collects a neighbourhood, ring by ring.
type neighbourWalk struct {
	q       amber.NeighbourQuery
	get     func(amber.MemoryID) (amber.Memory, error)
	related func(id amber.MemoryID, types []string, limit int) ([]amber.Relation, error)
	first   amber.Memory
	out     amber.Neighbourhood
	near    map[amber.MemoryID]bool // what was looked at, and whether it is listed
	ways    map[string]bool         // relations that are in out
	looked  int
	read    int
}

func (w *neighbourWalk) add(m amber.Memory, distance int) {
	w.near[m.ID] = true
	snippet := cmp.Or(m.Summary, m.Content)
	snippet = strings.ToValidUTF8(snippet[:min(len(snippet), neighbourSnippet)], "")
	w.out.Memories = append(w.out.Memories, amber.Neighbour{
		ID: m.ID, Distance: distance, Kind: m.Kind, Scope: m.Scope, Title: m.Title, Snippet: snippet, Trust: m.Trust, UpdatedAt: m.UpdatedAt,
	})
}

// step goes one step on from a ring and returns the next ring.
func (w *neighbourWalk) step(ring []amber.MemoryID, distance int) (next []amber.MemoryID, err error) {
	inside := map[amber.MemoryID]bool{}
	for _, id := range ring {
		inside[id] = true
	}
	ways, err := w.leading(ring)
	if err != nil {
		return nil, err
	}
	for _, r := range ways {
		id := r.To
		if !inside[r.From] {
			id = r.From
		}
		if _, known := w.near[id]; !known {
			if err := w.look(id, distance); err != nil {
				return nil, err
			}
			if w.near[id] {
				next = append(next, id)
			}
		}
		if w.near[r.From] && w.near[r.To] && !w.ways[r.ID] {
			w.ways[r.ID] = true
			w.out.Relations = append(w.out.Relations, r)
		}
	}
	return next, nil
}

// leading returns the relations of a ring, the strongest first.
func (w *neighbourWalk) leading(ring []amber.MemoryID) (ways []amber.Relation, err error) {
	for _, id := range ring {
		most := min(maxWaysOfOne, maxNeighbourWays-w.read)
		if most <= 0 {
			w.out.More = true
			break
		}
		found, err := w.related(id, w.q.Types, most+1)
		if err != nil {
			return nil, err
		}
		if len(found) > most {
			found, w.out.More = found[:most], true
		}
		w.read += len(found)
		ways = append(ways, found...)
	}
	slices.SortStableFunc(ways, func(a, b amber.Relation) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
	})
	return ways, nil
}

// look lists a memory if it is live, is seen and has room.
func (w *neighbourWalk) look(id amber.MemoryID, distance int) error {
	w.near[id] = false
	full := len(w.out.Memories) >= w.q.Limit
	if full && w.out.More {
		return nil
	}
	if w.looked++; w.looked > maxNeighbourLooks {
		w.out.More = true
		return nil
	}
	m, err := w.get(id)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return nil
	case err != nil:
		return err
	case !w.sees(m):
	case full:
		w.out.More = true
	default:
		w.add(m, distance)
	}
	return nil
}

func (w *neighbourWalk) sees(m amber.Memory) bool {
	return w.q.All || w.q.Sees(m.Scope, m.Identities) || m.Scope == w.first.Scope && m.Identity() == w.first.Identity()
}
