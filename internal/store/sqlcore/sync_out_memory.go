package sqlcore

import (
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectVersions      = `SELECT version, saw, head FROM versions WHERE memory_id = ?`
	selectRelationsFrom = `SELECT ` + sqlrows.RelationColumns + ` FROM relations WHERE from_id = ? ORDER BY to_id, type`
	selectReach         = `SELECT scope, project_id FROM memories WHERE id = ?`
)

// memory exports the versions of a memory that are new to the place, then its
// relations.
func (e *export) memory(id amber.MemoryID, passed bool) error {
	m, found, err := e.Load(id)
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
	history := []amber.Memory{m}
	if m.Revision > 1 {
		if history, err = sqlrows.All(e.Tx.Tx, sqlrows.ScanRevision, sqlrows.SelectRevisions, id); err != nil {
			return err
		}
		history = append(history, m)
	}
	private := e.private(history)
	versions := e.freshVersions(history, private, known.deleted(history), passed)
	sent := map[amber.Origin]bool{}
	for _, v := range versions {
		sent[v.Origin] = true
	}
	_, erased, err := e.removedBy(e.ask.Place, memoryRef(id))
	if err != nil {
		return err
	}
	unsent := func(o amber.Origin) bool { return !sent[o] && (private[o] || e.fresh(o, passed)) }
	for _, v := range versions {
		r := amber.SyncMemory{Memory: v, Saw: known.closure(v.Origin, unsent)}
		r.DuplicateCount = 0
		if r.Trust == amber.TrustOwn {
			r.Author = amber.Author{}
		}
		if erased { // there, and what is here never was there
			e.refused = append(e.refused, amber.SyncRecord{Memory: &r})
			continue
		}
		e.bytes += len(r.Content) + len(r.Summary)
		e.rest = append(e.rest, amber.SyncRecord{Memory: &r})
		if err := e.bring(v.SessionID); err != nil {
			return err
		}
	}
	if erased {
		return nil
	}
	return e.relationsOf(id, passed)
}

// private returns the versions that are not among those that are asked for,
// though the newest is.
func (e *export) private(history []amber.Memory) map[amber.Origin]bool {
	out := map[amber.Origin]bool{}
	for _, v := range history {
		if !e.leaves(v.Scope, v.ProjectID) {
			out[v.Origin] = true
		}
	}
	return out
}

// freshVersions returns the versions to export, earliest first. The text of
// what was deleted stays here, also where the memory was written again.
func (e *export) freshVersions(history []amber.Memory, private, deleted map[amber.Origin]bool, passed bool) (out []amber.Memory) {
	if e.ask.Latest {
		history = history[len(history)-1:]
	}
	for _, v := range history {
		gone := !v.DeletedAt.IsZero()
		if private[v.Origin] || deleted[v.Origin] && !gone || !e.fresh(v.Origin, passed) {
			continue
		}
		if gone {
			v = sqlrows.Tombstone(v)
		}
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b amber.Memory) int { return sqlrows.LatestFirst(b.Origin, a.Origin) })
	return out
}

// leaves reports whether a memory is one of those that are asked for.
func (e *export) leaves(s amber.Scope, project string) bool {
	return s != amber.ScopeUser && e.wants(project)
}

// erased exports that a memory was erased. If it was erased here, every place gets the record;
// otherwise only the places that had the memory get it.
func (e *export) erased(id amber.MemoryID) error {
	o, err := sqlrows.ScanOrigin(e.Row(sqlrows.SelectErased, id))
	if sqlrows.Absent(err) {
		return nil
	}
	if tell, err := e.tells(memoryRef(id)); err != nil || !tell {
		return err
	}
	e.rest = append(e.rest, amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: o}})
	return err
}

// tells reports whether the place is told that a record was removed.
func (e *export) tells(ref amber.SyncRef) (bool, error) {
	here, at, err := e.removedBy(e.ask.Place, ref)
	return here || at, err
}

// relationsOf exports the relations that begin at a memory, where both ends
// may leave.
func (e *export) relationsOf(id amber.MemoryID, passed bool) error {
	relations, err := sqlrows.All(e.Tx.Tx, sqlrows.ScanRelation, selectRelationsFrom, id)
	if err != nil {
		return err
	}
	for _, r := range relations {
		if !e.fresh(r.Origin, passed) {
			continue
		}
		var scope amber.Scope
		var project string
		if err := e.Row(selectReach, r.To).Scan(&scope, &project); err != nil {
			return err
		}
		if e.leaves(scope, project) {
			if r.Trust == amber.TrustOwn { // who of a device's people wrote it stays there
				r.Trust, r.Author = "", amber.Author{}
			}
			e.relations = append(e.relations, amber.SyncRecord{Relation: &r})
		}
	}
	return nil
}

// versions are the versions of a memory that are known; one that has no other
// need not be among them.
type versions map[amber.Origin]struct {
	saw  []amber.Origin
	head bool
}

func (t *Tx) versions(id amber.MemoryID) (versions, error) {
	out := versions{}
	err := t.Each(selectVersions, []any{id}, func(s scanner) error {
		var name, names string
		var head bool
		if err := s.Scan(&name, &names, &head); err != nil {
			return err
		}
		o, err := sqlrows.ParseVersion(name)
		if err != nil {
			return err
		}
		v := out[o]
		v.head = head
		v.saw, err = sqlrows.SplitVersions(names)
		out[o] = v
		return err
	})
	return out, err
}

// deleted returns the versions that a deletion had before it: those it has seen, those that they
// had seen, and so on. Versions that a deletion did not know of are not among them.
func (vs versions) deleted(history []amber.Memory) map[amber.Origin]bool {
	out := map[amber.Origin]bool{}
	var next []amber.Origin
	for _, v := range history {
		if !v.DeletedAt.IsZero() {
			next = append(next, vs[v.Origin].saw...)
		}
	}
	for len(next) > 0 {
		o := next[len(next)-1]
		next = next[:len(next)-1]
		if !out[o] {
			out[o] = true
			next = append(next, vs[o].saw...)
		}
	}
	return out
}

// closure returns what a version has seen, and what those had that the place
// never gets: without them, a device that has only what they replaced would take it
// for a conflict. It goes no further back than to versions that the place has.
func (vs versions) closure(v amber.Origin, unsent func(amber.Origin) bool) []amber.Origin {
	out := slices.Clone(vs[v].saw)
	seen := map[amber.Origin]bool{v: true}
	for _, o := range out {
		seen[o] = true
	}
	for i := 0; i < len(out) && len(out) < sqlrows.MaxSaw; i++ {
		if !unsent(out[i]) {
			continue
		}
		for _, o := range vs[out[i]].saw {
			if !seen[o] && len(out) < sqlrows.MaxSaw {
				seen[o] = true
				out = append(out, o)
			}
		}
	}
	return out
}
