package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// RestoreMemory makes m, as an earlier state of this agent held it, the newest revision of its id,
// also where the memory was forgotten or is not there. The revision that is the newest now goes to
// the history. If the newest revision already says the same, RestoreMemory returns it as it is.
// Errors: refused for an id that was erased; conflict when it would be a duplicate of another live
// memory.
func (s *Contracts) RestoreMemory(ctx context.Context, m amber.Memory) (amber.Memory, error) {
	const op = "restore memory"
	if _, err := amber.ParseMemoryID(string(m.ID)); err != nil {
		return amber.Memory{}, err
	}
	return update(ctx, s.memory, op, string(m.ID), func(t *Tx) (amber.Memory, error) {
		if err := t.mayRestore(m.ID); err != nil {
			return amber.Memory{}, err
		}
		twin, found, err := t.DuplicateOf(m)
		if err != nil {
			return amber.Memory{}, err
		}
		if found {
			return amber.Memory{}, amber.Errorf(amber.KindConflict, op, string(m.ID), "memory %s has the same content", string(twin))
		}
		return t.restore(m)
	})
}

// MayRestore says whether [Store.RestoreMemory] would take a memory of that id
// at all. Errors: refused for an id that was erased.
func (s *Contracts) MayRestore(ctx context.Context, id amber.MemoryID) error {
	return s.memory.View(ctx, "restore memory", string(id), func(t *Tx) error { return t.mayRestore(id) })
}

func (t *Tx) mayRestore(id amber.MemoryID) error {
	var erased bool
	if err := t.Row(sqlrows.IsErased, id).Scan(&erased); err != nil {
		return err
	}
	if erased {
		return amber.Errorf(amber.KindRefused, "restore memory", string(id), "the memory was erased; erased memories cannot be restored")
	}
	return nil
}

// restore stores m as the newest revision of its id. It has seen the version
// that m is of.
func (t *Tx) restore(m amber.Memory) (amber.Memory, error) {
	m.DeletedAt = amber.Time{}
	prev, found, err := t.Load(m.ID)
	if err != nil {
		return m, err
	}
	if !found {
		was := m.Origin
		m.Revision++
		m.Origin = t.Origin(was.Counter + 1)
		m.UpdatedAt = t.Now
		if err := t.NoteVersion(m.ID, m.Origin, []amber.Origin{was}); err != nil {
			return m, err
		}
		return m, t.Insert(m)
	}
	m.CreatedAt, m.DuplicateCount = prev.CreatedAt, prev.DuplicateCount
	return t.Revise(amber.OpUpdate, prev, m, m.Origin)
}
