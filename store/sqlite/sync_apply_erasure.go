package sqlite

import (
	"github.com/amber-memory/amber"
)

const (
	deleteEmbeddings = `DELETE FROM embeddings WHERE memory_id = ?`
	// forgetVersion is for a version whose text is erased.
	forgetVersion = `UPDATE versions SET head = 0, stored = 0 WHERE memory_id = ? AND version = ?`
)

// eraseThere removes the versions of a memory that are at the place, and notes
// that nothing of it goes there or comes from there again. What quotes it is
// somebody's own. The prompts that whoever erased it removed are gone by records
// of their own.
func (n *intent) eraseThere(m amber.Memory, o amber.Origin) error {
	parts, err := n.partsAt(n.chunk.Place, m)
	if err != nil {
		return err
	}
	if err := n.noteErased(m.ID, o, parts); err != nil || len(parts.held) == 0 {
		return err
	}
	n.result.Memories++
	n.cleared = true
	if len(parts.rest) > 0 {
		return n.erasePart(m, parts)
	}
	if err := n.eraseRow(m); err != nil {
		return err
	}
	_, err = n.exec(putErased, m.ID, o.Device, int64(o.Counter), o.Clock)
	return err
}

// noteErased notes where a memory is erased: at the place, and where all of it
// goes at the other places that had it, which are to be told.
func (n *intent) noteErased(id amber.MemoryID, o amber.Origin, parts memoryParts) error {
	if len(parts.rest) == 0 {
		return n.noteRemoved(n.chunk.Place, memoryRef(id), o)
	}
	_, err := n.exec(putRemoved, amber.ChangeMemory, id, n.chunk.Place, o.Device, int64(o.Counter), o.Clock)
	return err
}

// memoryParts are the versions of a memory, parted by whether a place has a say in
// them.
type memoryParts struct{ held, rest []amber.Memory }

// partsAt parts the versions of a memory.
func (t *tx) partsAt(place string, m amber.Memory) (p memoryParts, err error) {
	history, err := all(t, scanRevision, selectRevisions, m.ID)
	if err != nil {
		return p, err
	}
	names, err := all(t, scanText, heldVersions, amber.ChangeMemory, m.ID, place)
	held := map[string]bool{}
	for _, name := range names {
		held[name] = true
	}
	for _, v := range append(history, m) {
		if held[versionOf(v.Origin)] {
			p.held = append(p.held, v)
		} else {
			p.rest = append(p.rest, v)
		}
	}
	return p, err
}

// erasePart removes some versions of a memory. Where the newest is among them,
// what is left is in the history of a memory that is deleted: nobody chose to show
// it.
func (t *tx) erasePart(m amber.Memory, parts memoryParts) error {
	for _, q := range []string{deleteAnswers, blankChanges} {
		if _, err := t.exec(q, m.ID); err != nil {
			return err
		}
	}
	if _, err := t.exec(deleteLinks, m.ID, amber.ChangeMemory); err != nil {
		return err
	}
	op := amber.OpUpdate
	for _, v := range parts.held {
		if v.Origin == m.Origin && v.Revision == m.Revision {
			op = amber.OpDelete
			if err := t.bareRow(m); err != nil {
				return err
			}
			continue
		}
		if _, err := t.exec(deleteRevision, v.ID, v.Revision); err != nil {
			return err
		}
		if _, err := t.exec(forgetVersion, v.ID, versionOf(v.Origin)); err != nil {
			return err
		}
	}
	return t.log(change{op, amber.ChangeMemory, string(m.ID), "", ""})
}

// bareRow leaves of a memory that it was deleted.
func (t *tx) bareRow(m amber.Memory) error {
	for _, q := range []string{deleteEmbeddings, deleteConcepts} {
		if _, err := t.exec(q, m.ID); err != nil {
			return err
		}
	}
	if m.DeletedAt.IsZero() {
		m.DeletedAt = t.now
	}
	user := m.UserID
	m = tombstone(m)
	m.UserID, m.Tags = user, []string{}
	args, err := memoryArgs(m)
	if err != nil {
		return err
	}
	t.indexed = true
	_, err = t.exec(updateMemory, args...)
	return err
}
