package amber

import "cmp"

// Bounds of a neighbourhood.
const (
	MaxNeighbours     = 200
	MaxNeighbourDepth = 2
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
