package amber

import (
	"cmp"
	"context"
	"math"
)

// Relation links two memories.
type Relation struct {
	ID        string   `json:"id" redact:"-"`
	From      MemoryID `json:"from" redact:"-"`
	To        MemoryID `json:"to" redact:"-"`
	Type      string   `json:"type" redact:"id,relation type"` // supersedes, conflicts_with, related, ...
	Strength  float64  `json:"strength"`                       // 0 to 1
	Trust     Trust    `json:"trust,omitempty" redact:"-"`     // of its author; default own
	Author    Author   `json:"author,omitzero"`
	Origin    Origin   `json:"origin" redact:"-"`
	CreatedAt Time     `json:"created_at"`
	DeletedAt Time     `json:"deleted_at,omitzero"`
}

// Supersedes is the type of the relation from a memory to the one whose place it
// takes: see [Relation.Silences].
const Supersedes = "supersedes"

// Silences reports whether r keeps the memory to from being shown as what holds now, because from took its
// place. A memory that is trusted less, was forgotten, or is seen by fewer readers takes the place of nothing.
func (r Relation) Silences(from, to Memory) bool {
	return r.Type == Supersedes && r.From == from.ID && r.To == to.ID && r.DeletedAt.IsZero() && from.DeletedAt.IsZero() &&
		!to.Trust.Outranks(r.Trust) && !to.Trust.Outranks(from.Trust) && from.reaches(to)
}

// reaches reports whether every reader of other sees m.
func (m *Memory) reaches(other Memory) bool {
	return m.Scope == ScopeGlobal || m.Scope == other.Scope && m.Identity() == other.Identity()
}

// Normalize checks what the caller sets: from, to, type, strength and trust. The
// error is of kind invalid.
func (r Relation) Normalize() (Relation, error) {
	r.Trust = orDefault(r.Trust, TrustOwn)
	if r.From == r.To {
		return r, Errorf(KindInvalid, "check relation", string(r.From), "relation leads from the memory to itself, want two memories")
	}
	if math.IsNaN(r.Strength) || r.Strength < 0 || r.Strength > 1 {
		return r, Errorf(KindInvalid, "check relation", "", "strength %v is not between 0 and 1", r.Strength)
	}
	_, ferr := ParseMemoryID(string(r.From))
	_, terr := ParseMemoryID(string(r.To))
	return r, cmp.Or(ferr, terr, CheckID("relation type", r.Type), checkTrust(r.Trust), r.Author.Check())
}

// Relations links memories. Safe for concurrent use.
type Relations interface {
	// Relate stores a relation between two live memories; one of the same
	// from, to and type is replaced, unless it is trusted more: that is refused.
	// Errors: invalid, not_found, refused.
	Relate(ctx context.Context, r Relation) (Relation, error)
	// Relation returns one live relation. Errors: not_found.
	Relation(ctx context.Context, id string) (Relation, error)
	// Unrelate leaves a tombstone of a relation. Errors: not_found.
	Unrelate(ctx context.Context, id string) error
	// Related returns the live relations from or to a memory. Errors:
	// not_found.
	Related(ctx context.Context, id MemoryID) ([]Relation, error)
	// Neighbours returns a live memory and what is near it. Deleted memories are left
	// out, and so are the ways through them. Errors: invalid, not_found.
	Neighbours(ctx context.Context, q NeighbourQuery) (Neighbourhood, error)
}

// MaxDimension bounds an embedding.
const MaxDimension = 16384

// Embedding is the vector a model gave a memory. Bundles of other systems bring
// vectors and take them along; no contract reads or writes them.
type Embedding struct {
	MemoryID MemoryID  `json:"memory_id"`
	Model    string    `json:"model"`
	Vector   []float32 `json:"vector"`
}

// Check checks the embedding. The error is of kind invalid.
func (e Embedding) Check() error {
	if n := len(e.Vector); n == 0 || n > MaxDimension {
		return Errorf(KindInvalid, "check embedding", "", "vector has %d dimensions, want 1 to %d", n, MaxDimension)
	}
	for _, v := range e.Vector {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return Errorf(KindInvalid, "check embedding", "", "vector holds a value that is not a finite number")
		}
	}
	_, err := ParseMemoryID(string(e.MemoryID))
	return cmp.Or(err, CheckID("embedding model", e.Model))
}

// Concepts keeps concept tags beside memories; recall finds a memory by the words
// of its concepts. Safe for concurrent use.
type Concepts interface {
	// SetConcepts replaces the concept tags of a live memory. Errors:
	// invalid, not_found.
	SetConcepts(ctx context.Context, id MemoryID, concepts []string) error
	// Concepts returns the concept tags of a memory, sorted. Errors:
	// not_found.
	Concepts(ctx context.Context, id MemoryID) ([]string, error)
	// CountConcepts returns the concepts of live memories with how many have
	// each, the commonest first, at most [MaxPageSize].
	CountConcepts(ctx context.Context) ([]ConceptCount, error)
}

// ConceptCount says how many memories have a concept.
type ConceptCount struct {
	Concept  string `json:"concept"`
	Memories int64  `json:"memories"`
}

// NormalizeConcepts trims, sorts and checks concept tags by the rule of tags.
// The error is of kind invalid.
func NormalizeConcepts(concepts []string) ([]string, error) { return normalizeTags(concepts) }

// Compaction is the summary an agent host made of turns it dropped from its
// context.
type Compaction struct {
	ID        string    `json:"id" redact:"id,compaction id"`
	SessionID SessionID `json:"session_id" redact:"id,session id"`
	Summary   string    `json:"summary" redact:"text"`
	Turns     int       `json:"turns"` // how many turns it summarizes
	CreatedAt Time      `json:"created_at"`
}

// Normalize checks the compaction. The error is of kind invalid.
func (c Compaction) Normalize() (Compaction, error) {
	if c.Turns < 0 {
		return c, Errorf(KindInvalid, "check compaction", "", "count of turns is negative")
	}
	return c, cmp.Or(
		CheckOptionalID("compaction id", c.ID),
		CheckID("session id", string(c.SessionID)),
		CheckText("summary", c.Summary, MaxContentBytes, Required|Lenient),
	)
}

// Compactions keeps the compaction summaries of sessions. Safe for concurrent
// use.
type Compactions interface {
	// AddCompaction stores a summary; an id that is stored already is
	// returned as it was stored. Errors: invalid; conflict when the id belongs
	// to another session.
	AddCompaction(ctx context.Context, c Compaction) (Compaction, error)
	// Compactions returns a page of the summaries of a session, oldest first; an
	// unknown session gives none. Errors: invalid.
	Compactions(ctx context.Context, id SessionID, p Paging) (Page[Compaction], error)
}

// Stats counts what an agent's store holds.
type Stats struct {
	Memories    int64                `json:"memories"` // live
	Deleted     int64                `json:"deleted"`  // tombstones
	ByKind      map[MemoryKind]int64 `json:"by_kind"`
	ByScope     map[Scope]int64      `json:"by_scope"`
	ByTrust     map[Trust]int64      `json:"by_trust"`
	Revisions   int64                `json:"revisions"`
	Relations   int64                `json:"relations"`
	Embeddings  int64                `json:"embeddings"`
	Sessions    int64                `json:"sessions"`
	Turns       int64                `json:"turns"`
	Loops       int64                `json:"loops"`
	Compactions int64                `json:"compactions"`
	Changes     int64                `json:"changes"`
	Bytes       int64                `json:"bytes"` // on disk, 0 where there is none
}

// StatsReader counts.
type StatsReader interface {
	// Stats counts everything in one consistent view.
	Stats(ctx context.Context) (Stats, error)
}
