package engram

import (
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// States of a relation that later versions write: no verdict yet, a verdict, or a verdict that is void. Engram shows
// and exports everything but orphaned relations.
const (
	statusPending  = "pending"
	statusJudged   = "judged"
	statusOrphaned = "orphaned"
)

// verdicts are the relations that Engram knows. Amber writes any other type as anyVerdict.
var verdicts = map[string]bool{
	statusPending: true, "compatible": true, "scoped": true, "conflicts_with": true, "supersedes": true, "not_conflict": true, anyVerdict: true,
}

const anyVerdict = "related"

// relation is the payload of a mutation about two memories, in the order in which Engram writes it.
type relation struct {
	SyncID     string   `json:"sync_id"`
	Source     string   `json:"source_id"`
	Target     string   `json:"target_id"`
	Relation   string   `json:"relation"`
	Reason     *string  `json:"reason,omitempty"`
	Evidence   *string  `json:"evidence,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Status     string   `json:"judgment_status"`
	Actor      *string  `json:"marked_by_actor,omitempty"`
	ActorKind  *string  `json:"marked_by_kind,omitempty"`
	Model      *string  `json:"marked_by_model,omitempty"`
	SessionID  *string  `json:"session_id,omitempty"`
	Project    string   `json:"project"`
	CreatedAt  string   `json:"created_at"`
	UpdatedAt  string   `json:"updated_at"`

	extra string
}

func readRelation(m Mutation) (p relation, err error) {
	p.extra, err = payload(m, fieldsOf(&p)...)
	return p, err
}

// RelationID returns the id in Amber of a relation that a folder knows by the key. A UUID is one that Amber wrote there.
func RelationID(key string) string {
	key = strings.TrimSpace(key)
	if id, err := amber.ParseMemoryID(key); err == nil {
		return string(id)
	}
	return foreign.UUID(foreign.Digest(syncName, "relation", key))
}

// Counters of relations: Engram has none, and a verdict comes after a pending one whatever the second says.
const (
	pendingCounter = 1 + iota
	judgedCounter
	voidCounter
)

// relationChange reads a verdict of a person or an agent about two memories, or that there is none yet.
func (r *reader) relationChange(m Mutation) (Row, error) {
	p, err := readRelation(m)
	switch {
	case err != nil:
		return Row{}, err
	case strings.TrimSpace(p.Source) == "" || strings.TrimSpace(p.Target) == "" || p.Relation == "":
		return Row{}, errors.New("the relation lacks a source, a target or a type")
	}
	rel := amber.Relation{
		ID: RelationID(m.EntityKey), From: r.memoryOf(p.Source), To: r.memoryOf(p.Target), Type: p.Relation, Strength: p.strength(),
	}
	if exact, ok := p.relationOf(rel); ok {
		return Row{Record: amber.SyncRecord{Relation: &exact}, Exact: true}, nil
	}
	rel.Origin = originOf(m, p)
	rel.CreatedAt = parseTime(p.CreatedAt)
	if rel.CreatedAt.IsZero() {
		rel.CreatedAt = p.at(m)
	}
	if p.void(m) {
		rel.DeletedAt = p.at(m)
	}
	return Row{Record: amber.SyncRecord{Relation: &rel}}, nil
}

func (p relation) strength() float64 {
	switch {
	case p.Confidence != nil:
		return min(max(*p.Confidence, 0), 1)
	case p.Status == statusPending:
		return 0
	}
	return 1
}

// void reports whether the mutation says that the relation does not hold any more.
func (p relation) void(m Mutation) bool { return m.Op == "delete" || p.Status == statusOrphaned }

func (p relation) at(m Mutation) amber.Time {
	return latest(parseTime(p.UpdatedAt), parseTime(p.CreatedAt), parseTime(m.OccurredAt))
}

// originOf orders what Engram said about two memories. The low bits tell verdicts of one second apart, so they come from all
// of the payload.
func originOf(m Mutation, p relation) amber.Origin {
	o := amber.Origin{Device: tool, Counter: judgedCounter, Clock: stamp(p.at(m), fmt.Sprintf("%x", foreign.Digest(m.Payload)))}
	switch {
	case p.void(m):
		o.Counter = voidCounter
	case p.Status == statusPending:
		o.Counter = pendingCounter
	}
	return o
}

// named returns the memory whose row has the sync_id, in this chunk or in another.
func (r *reader) named(sync string) (amber.Memory, bool) {
	sync = strings.TrimSpace(sync)
	if all := r.versions[r.ofSync[sync]]; len(all) > 0 {
		return all[0].memory.Memory, true
	}
	if r.elsewhere == nil {
		return amber.Memory{}, false
	}
	return r.elsewhere(sync)
}

func (r *reader) memoryOf(sync string) amber.MemoryID {
	if m, ok := r.named(sync); ok {
		return m.ID
	}
	return memoryOfSync(strings.TrimSpace(sync))
}
