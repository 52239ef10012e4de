package engram

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
)

// relationMember is the version of a relation but for its id and its ends, which the payload has: the id follows from the
// key, and the ends from the names of their rows.
type relationMember struct {
	Type      string       `json:"type"`
	Strength  float64      `json:"strength"`
	Origin    amber.Origin `json:"origin"`
	CreatedAt amber.Time   `json:"created_at"`
	DeletedAt amber.Time   `json:"deleted_at,omitzero"`
}

// RelationEnds are the names that a folder knows a relation and its memories by.
type RelationEnds struct {
	Key            string // of the relation; "" means its id
	Source, Target string // sync_id of the two rows
	Project        string
	// Before is what the folder has under the key. The reason of a verdict that is still the same stays.
	Before *FolderRelation
}

// FolderRelation is what a folder says about two memories.
type FolderRelation struct {
	ID     string // of the relation, as RelationID says
	Key    string
	Origin amber.Origin

	payload relation
}

// ReadFolderRelation reads from a mutation the relation that the folder has. It reports false for a mutation that is
// not about a relation.
func ReadFolderRelation(m Mutation) (FolderRelation, bool) {
	if m.Entity != "relation" {
		return FolderRelation{}, false
	}
	p, err := readRelation(m)
	if err != nil {
		return FolderRelation{}, false
	}
	f := FolderRelation{ID: RelationID(m.EntityKey), Key: strings.TrimSpace(m.EntityKey), Origin: originOf(m, p), payload: p}
	if a, ok := p.member(); ok {
		f.Origin = a.Origin
	}
	return f, true
}

// Relation returns the mutation that tells later versions of a relation; version 1.7.0 passes over it. A relation
// that was undone becomes orphaned: Engram keeps it but does not show it, and has no other way to take a relation
// back. A type that is no verdict of Engram's is written as "related", and the member has what it is. Seq is the
// caller's to set.
func Relation(r amber.Relation, ends RelationEnds) Mutation {
	p := relation{
		SyncID: ends.Key, Source: ends.Source, Target: ends.Target, Relation: r.Type, Confidence: &r.Strength, Status: statusJudged,
		Actor: new("amber"), ActorKind: new("system"), Project: ends.Project,
		CreatedAt: formatTime(r.CreatedAt), UpdatedAt: formatTime(r.Origin.Clock.Time()),
	}
	p.SyncID = cmp.Or(p.SyncID, r.ID)
	if !verdicts[p.Relation] {
		p.Relation = anyVerdict
	}
	if r.Type == statusPending {
		p.Status, p.Confidence, p.Actor, p.ActorKind = statusPending, nil, nil, nil
	}
	if b := ends.Before; b != nil && b.payload.Relation == p.Relation {
		p.Reason, p.Evidence = b.payload.Reason, b.payload.Evidence
	}
	if !r.DeletedAt.IsZero() {
		p.Status = statusOrphaned
	}
	p.extra = withMember("", relationMember{r.Type, r.Strength, r.Origin, r.CreatedAt, r.DeletedAt})
	return Mutation{
		TargetKey: "local", Entity: "relation", EntityKey: p.SyncID, Op: "upsert", Payload: string(withExtra(marshal(p), p.extra)),
		Source: "local", Project: p.Project, OccurredAt: p.UpdatedAt,
	}
}

// member returns what the payload says the relation is in Amber.
func (p relation) member() (a relationMember, ok bool) {
	_, raw, ok := cutMember(p.extra)
	if !ok || json.Unmarshal(raw, &a) != nil || a.Origin.Counter > amber.MaxCounterJump {
		return a, false
	}
	return a, true
}

// relationOf returns the version that the payload says it is. It is believed when Amber would write this very payload for it.
func (p relation) relationOf(seen amber.Relation) (amber.Relation, bool) {
	a, ok := p.member()
	if !ok {
		return seen, false
	}
	r := amber.Relation{
		ID: seen.ID, From: seen.From, To: seen.To, Type: a.Type, Strength: a.Strength, Origin: a.Origin, CreatedAt: a.CreatedAt, DeletedAt: a.DeletedAt,
	}
	if (amber.SyncRecord{Relation: &r}).Check() != nil {
		return seen, false
	}
	again := Relation(r, RelationEnds{
		Key: p.SyncID, Source: p.Source, Target: p.Target, Project: p.Project, Before: &FolderRelation{payload: p},
	})
	return r, again.Payload == string(withExtra(marshal(p), p.extra))
}

// Names returns the memories that the rows of a chunk name by a sync_id, without their text.
func Names(c Chunk, o ReadOptions) map[string]amber.Memory {
	r := newReader(c, o)
	r.read()
	out := make(map[string]amber.Memory, len(r.ofSync))
	for sync := range r.ofSync {
		if m, ok := r.named(sync); ok {
			out[sync] = amber.Memory{ID: m.ID, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, CreatedAt: m.CreatedAt}
		}
	}
	return out
}

// Removed returns the names of rows that a chunk asks every replica to remove for good.
func Removed(c Chunk) (names []string) {
	for _, m := range c.Mutations {
		var hard bool
		if m.Entity != "observation" || m.Op != "delete" {
			continue
		}
		if _, err := payload(m, field{"hard_delete", &hard}); err == nil && hard {
			names = append(names, strings.TrimSpace(m.EntityKey))
		}
	}
	return names
}

// CountMutations counts what a chunk says about two memories, and what it tells to be gone.
func CountMutations(c Chunk) (relations, gone int) {
	for _, m := range c.Mutations {
		p, err := readRelation(m)
		switch {
		case m.Op == "delete", m.Entity == "relation" && err == nil && p.void(m):
			gone++
		case m.Entity == "relation":
			relations++
		}
	}
	return relations, gone
}

// PlainName reports whether a sync_id alone identifies the memory.
func PlainName(sync string, id amber.MemoryID) bool {
	return memoryOfSync(strings.TrimSpace(sync)) == id
}
