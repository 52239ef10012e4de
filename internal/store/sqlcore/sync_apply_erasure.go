package sqlcore

import (
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// eraseThere removes the versions of a memory that are at the place, and notes that nothing of it
// goes there or comes from there again. A record that quotes the memory belongs to its own author
// and stays. The device that erased the memory removed prompts with it; those go by records of
// their own.
func (n *intent) eraseThere(m amber.Memory, o amber.Origin) error {
	parts, err := n.PartsAt(n.chunk.Place, m)
	if err != nil {
		return err
	}
	if err := n.noteErased(m.ID, o, parts); err != nil || len(parts.Held) == 0 {
		return err
	}
	n.result.Memories++
	n.cleared = true
	if len(parts.Rest) > 0 {
		return n.ErasePart(m, parts)
	}
	if err := n.EraseRow(m); err != nil {
		return err
	}
	return n.Do(sqlrows.PutErased, m.ID, o.Device, int64(o.Counter), o.Clock)
}

const isHeldAnywhere = `SELECT EXISTS (SELECT 1 FROM sync_held WHERE scope = ? AND record = ? AND version = ?)`

// eraseBrought is for a version that the place brings of a memory it has erased.
// Where this home has the version, and nothing says any more where it came from, as after
// a loss of what is known of folders, the erasure meant that one too. A version that another
// place is known to have came from there, and stays.
func (n *intent) eraseBrought(now amber.Memory, found bool, o amber.Origin) error {
	if !found {
		return nil
	}
	history, err := sqlrows.All(n.Tx.Tx, sqlrows.ScanRevision, sqlrows.SelectRevisions, now.ID)
	if err != nil {
		return err
	}
	versions := append(history, now)
	at := slices.IndexFunc(versions, func(v amber.Memory) bool { return v.Origin == o })
	if at < 0 || n.isOwn(versions[at]) {
		return nil
	}
	var held bool
	if err := n.Row(isHeldAnywhere, amber.ChangeMemory, now.ID, sqlrows.VersionOf(o)).Scan(&held); err != nil || held {
		return err
	}
	if err := n.hold(memoryMark(versions[at])); err != nil {
		return err
	}
	erased, err := sqlrows.ScanOrigin(n.Row(selectRemoved, amber.ChangeMemory, now.ID, n.chunk.Place))
	if err != nil {
		return err
	}
	return n.eraseThere(now, erased)
}

// noteErased notes where a memory is erased: at the place, and where all of it
// goes at the other places that had it, which are to be told.
func (n *intent) noteErased(id amber.MemoryID, o amber.Origin, parts sqlrows.MemoryParts) error {
	if len(parts.Rest) == 0 {
		return n.noteRemoved(n.chunk.Place, memoryRef(id), o)
	}
	return n.Do(putRemoved, amber.ChangeMemory, id, n.chunk.Place, o.Device, int64(o.Counter), o.Clock)
}
