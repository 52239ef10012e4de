package amber

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of a neighbourhood.
const (
	MaxNeighbours     = 200
	MaxNeighbourDepth = 2

	neighbourSnippet  = 200  // bytes of the content
	maxNeighbourLooks = 600  // memories that are read for it
	maxNeighbourWays  = 2000 // relations after which no more are read
	maxWaysOfOne      = 500  // relations of one memory
)

// NeighbourQuery asks what is near a memory by relations.
type NeighbourQuery struct {
	ID    MemoryID
	Depth int      // steps: 1 or 2; 0: 2
	Types []string // only by relations of these types; empty: by all
	Limit int      // memories, with the one that is asked for; 0: MaxNeighbours, the most
	// Identities say whose memories are seen beside global ones and those of the
	// scope and identity of the memory that is asked for; All: everybody's.
	Identities
	All bool
}

// Normalize checks the query and fills in defaults. The error is of kind invalid.
func (q NeighbourQuery) Normalize() (NeighbourQuery, error) {
	const op = "check neighbourhood"
	if _, err := ParseMemoryID(string(q.ID)); err != nil {
		return q, err
	}
	if q.Depth < 0 || q.Depth > MaxNeighbourDepth {
		return q, Errorf(KindInvalid, op, string(q.ID), "depth is %d, want 1 to %d", q.Depth, MaxNeighbourDepth)
	}
	if q.Limit < 0 {
		return q, Errorf(KindInvalid, op, string(q.ID), "limit is %d, want 1 to %d", q.Limit, MaxNeighbours)
	}
	for _, t := range q.Types {
		if err := CheckID("relation type", t); err != nil {
			return q, err
		}
	}
	q.Depth = cmp.Or(q.Depth, MaxNeighbourDepth)
	q.Limit = min(cmp.Or(q.Limit, MaxNeighbours), MaxNeighbours)
	return q, nil
}

// Neighbour is a memory of a neighbourhood, in short.
type Neighbour struct {
	ID        MemoryID   `json:"id"`
	Distance  int        `json:"distance"` // in steps; 0 for the memory that is asked for
	Kind      MemoryKind `json:"kind"`
	Scope     Scope      `json:"scope"`
	Title     string     `json:"title"`
	Snippet   string     `json:"snippet"` // the summary, or the beginning of the content
	Trust     Trust      `json:"trust"`
	UpdatedAt Time       `json:"updated_at"`
}

// Neighbourhood is a memory and what is near it by relations.
type Neighbourhood struct {
	Memories  []Neighbour `json:"memories"`  // nearest first, then by the strength of the relation that leads there
	Relations []Relation  `json:"relations"` // between these memories, on ways from the first one within the depth
	More      bool        `json:"more"`      // there are more memories as near, or more relations, than are listed
}

// CollectNeighbours goes from memory to memory, for stores: get returns one live memory,
// related at most limit live relations from or to a memory, of some types or, without
// any, of all. It asks for a bounded number of both. Errors: those of
// [Relations.Neighbours].
func CollectNeighbours(q NeighbourQuery, get func(MemoryID) (Memory, error), related func(id MemoryID, types []string, limit int) ([]Relation, error)) (Neighbourhood, error) {
	q, err := q.Normalize()
	if err != nil {
		return Neighbourhood{}, err
	}
	first, err := get(q.ID)
	if err != nil {
		return Neighbourhood{}, err
	}
	w := walk{q: q, get: get, related: related, first: first, near: map[MemoryID]bool{}, ways: map[string]bool{}}
	w.out.Relations = []Relation{}
	w.add(first, 0)
	ring := []MemoryID{q.ID}
	for step := 1; step <= q.Depth && len(ring) > 0; step++ {
		if ring, err = w.step(ring, step); err != nil {
			return Neighbourhood{}, err
		}
	}
	return w.out, nil
}

// walk collects a neighbourhood, ring by ring.
type walk struct {
	q       NeighbourQuery
	get     func(MemoryID) (Memory, error)
	related func(id MemoryID, types []string, limit int) ([]Relation, error)
	first   Memory
	out     Neighbourhood
	near    map[MemoryID]bool // what was looked at, and whether it is listed
	ways    map[string]bool   // relations that are in out
	looked  int
	read    int
}

func (w *walk) add(m Memory, distance int) {
	w.near[m.ID] = true
	snippet := cmp.Or(m.Summary, m.Content)
	snippet = strings.ToValidUTF8(snippet[:min(len(snippet), neighbourSnippet)], "")
	w.out.Memories = append(w.out.Memories, Neighbour{
		ID: m.ID, Distance: distance, Kind: m.Kind, Scope: m.Scope, Title: m.Title, Snippet: snippet, Trust: m.Trust, UpdatedAt: m.UpdatedAt,
	})
}

// step goes one step on from a ring and returns the next ring.
func (w *walk) step(ring []MemoryID, distance int) (next []MemoryID, err error) {
	inside := map[MemoryID]bool{}
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
func (w *walk) leading(ring []MemoryID) (ways []Relation, err error) {
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
	slices.SortStableFunc(ways, func(a, b Relation) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
	})
	return ways, nil
}

// look lists a memory if it is live, is seen and has room.
func (w *walk) look(id MemoryID, distance int) error {
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
	case KindOf(err) == KindNotFound:
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

func (w *walk) sees(m Memory) bool {
	return w.q.All || w.q.Sees(m.Scope, m.Identities) || m.Scope == w.first.Scope && m.Identity() == w.first.Identity()
}
