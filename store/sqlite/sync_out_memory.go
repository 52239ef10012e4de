package sqlite

import (
	"slices"

	"github.com/amber-memory/amber"
)

const (
	selectVersions      = `SELECT version, saw, head FROM versions WHERE memory_id = ? AND stored = 1`
	selectRelationsFrom = `SELECT ` + relationColumns + ` FROM relations WHERE from_id = ? ORDER BY to_id, type`
	selectReach         = `SELECT scope, project_id FROM memories WHERE id = ?`
)

// memory exports the versions of a memory that are new to the place, then its
// relations.
func (e *export) memory(id amber.MemoryID, passed bool) error {
	m, found, err := e.load(id)
	if err != nil {
		return err
	}
	if !found {
		return e.erased(id)
	}
	if !e.leaves(m.Scope, m.ProjectID) {
		return nil
	}
	known, err := e.versions(id)
	if err != nil {
		return err
	}
	versions, err := e.freshVersions(m, known, passed)
	if err != nil {
		return err
	}
	for _, v := range versions {
		r := amber.SyncMemory{Memory: v, Saw: known[v.Origin].saw}
		if e.ask.Latest || !v.DeletedAt.IsZero() {
			r.Saw = known.closure(v.Origin, func(o amber.Origin) bool { return e.fresh(o, passed) })
		}
		r.DuplicateCount = 0
		e.bytes += len(r.Content) + len(r.Summary)
		e.rest = append(e.rest, amber.SyncRecord{Memory: &r})
		if err := e.bring(v.SessionID); err != nil {
			return err
		}
	}
	return e.relationsOf(id, passed)
}

// freshVersions returns the versions to export, earliest first. The text of a
// memory that was deleted stays here, but for versions that the deletion did
// not know of.
func (e *export) freshVersions(m amber.Memory, known versions, passed bool) (out []amber.Memory, err error) {
	if !e.ask.Latest && m.Revision > 1 {
		earlier, err := all(e.tx, scanRevision, selectRevisions, m.ID)
		if err != nil {
			return nil, err
		}
		for _, v := range earlier {
			hidden := v.Scope == amber.ScopeUser || !m.DeletedAt.IsZero() && !known[v.Origin].head
			if !hidden && e.fresh(v.Origin, passed) {
				out = append(out, v)
			}
		}
	}
	if e.fresh(m.Origin, passed) {
		out = append(out, m)
	}
	for i, v := range out {
		if !v.DeletedAt.IsZero() {
			out[i] = tombstone(v)
		}
	}
	slices.SortStableFunc(out, func(a, b amber.Memory) int { return latestFirst(b.Origin, a.Origin) })
	return out, nil
}

// tombstone is what leaves of a version that deletes.
func tombstone(m amber.Memory) amber.Memory {
	m.UserID = ""
	return amber.Memory{
		ID: m.ID, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Trust: m.Trust, Origin: m.Origin,
		Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, DeletedAt: m.DeletedAt,
	}
}

// leaves reports whether a memory is one of those that are asked for.
func (e *export) leaves(s amber.Scope, project string) bool {
	return s != amber.ScopeUser && e.wants(project)
}

// erased exports that a memory was erased, which everybody is told.
func (e *export) erased(id amber.MemoryID) error {
	o, err := scanOrigin(e.row(selectErased, id))
	if absent(err) {
		return nil
	}
	e.rest = append(e.rest, amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: o}})
	return err
}

// relationsOf exports the relations that begin at a memory, where both ends
// may leave.
func (e *export) relationsOf(id amber.MemoryID, passed bool) error {
	relations, err := all(e.tx, scanRelation, selectRelationsFrom, id)
	if err != nil {
		return err
	}
	for _, r := range relations {
		if !e.fresh(r.Origin, passed) {
			continue
		}
		var scope amber.Scope
		var project string
		if err := e.row(selectReach, r.To).Scan(&scope, &project); err != nil {
			return err
		}
		if e.leaves(scope, project) {
			e.relations = append(e.relations, amber.SyncRecord{Relation: &r})
		}
	}
	return nil
}

// versions are the versions of a memory whose text is here; one that has no
// other need not be among them.
type versions map[amber.Origin]struct {
	saw  []amber.Origin
	head bool
}

func (t *tx) versions(id amber.MemoryID) (versions, error) {
	out := versions{}
	err := t.each(selectVersions, []any{id}, func(s scanner) error {
		var name, names string
		var head bool
		if err := s.Scan(&name, &names, &head); err != nil {
			return err
		}
		o, err := parseVersion(name)
		if err != nil {
			return err
		}
		v := out[o]
		v.head = head
		v.saw, err = splitVersions(names)
		out[o] = v
		return err
	})
	return out, err
}

// closure returns what a version has seen, and what those had that nobody
// else gets: without them, whoever has only what they replaced would take it
// for a conflict. It goes no further back than to versions that were exported.
func (vs versions) closure(v amber.Origin, hidden func(amber.Origin) bool) []amber.Origin {
	out := slices.Clone(vs[v].saw)
	seen := map[amber.Origin]bool{v: true}
	for _, o := range out {
		seen[o] = true
	}
	for i := 0; i < len(out) && len(out) < maxSaw; i++ {
		if !hidden(out[i]) {
			continue
		}
		for _, o := range vs[out[i]].saw {
			if !seen[o] && len(out) < maxSaw {
				seen[o] = true
				out = append(out, o)
			}
		}
	}
	return out
}
