package sqlcore

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// docs/decisions/0012 says which records a folder has a say over. The store notes which versions
// are in a folder, and nothing else gives the folder a say in them.

const (
	isHeld  = `SELECT EXISTS (SELECT 1 FROM sync_held WHERE scope = ? AND record = ? AND version = ? AND place = ?)`
	putHeld = `INSERT OR IGNORE INTO sync_held (scope, record, version, place) VALUES (?, ?, ?, ?)`
	holders = `SELECT DISTINCT place FROM sync_held WHERE scope = ? AND record = ?`

	selectRemoved = `SELECT device, counter, clock FROM sync_removed WHERE scope = ? AND record = ? AND place = ?`
	putRemoved    = `INSERT OR REPLACE INTO sync_removed (scope, record, place, device, counter, clock) VALUES (?, ?, ?, ?, ?, ?)`

	putSpared    = `INSERT OR IGNORE INTO sync_spared (place, scope, record, chunk) VALUES (?, ?, ?, ?)`
	reopenChunks = `UPDATE sync_chunks SET again = 1 WHERE place = ?1
 AND chunk IN (SELECT chunk FROM sync_spared WHERE place = ?1 AND scope = ?2 AND record = ?3)`
	deleteSpared = `DELETE FROM sync_spared WHERE place = ? AND scope = ? AND record = ? RETURNING chunk`
	// reopenPacks lets packs be opened again; no device made them.
	reopenPacks = `UPDATE sync_chunks SET again = 1 WHERE place = ? AND device = ''`
)

// markVersion names the version of a mark as sync_held does.
func markVersion(m amber.SyncMark) string {
	if m.Origin == (amber.Origin{}) {
		return ""
	}
	return sqlrows.VersionOf(m.Origin)
}

func memoryMark(m amber.Memory) amber.SyncMark {
	return amber.SyncMark{Ref: memoryRef(m.ID), Origin: m.Origin}
}

func memoryRef(id amber.MemoryID) amber.SyncRef {
	return amber.SyncRef{Scope: amber.ChangeMemory, ID: string(id)}
}

func turnRef(id string) amber.SyncRef { return amber.SyncRef{Scope: amber.ChangeTurn, ID: id} }

func sessionRef(id amber.SessionID) amber.SyncRef {
	return amber.SyncRef{Scope: amber.ChangeSession, ID: string(id)}
}

// holds reports whether a place has a say in a version.
func (t *Tx) holds(place string, m amber.SyncMark) (held bool, err error) {
	err = t.Row(isHeld, m.Ref.Scope, m.Ref.ID, markVersion(m), place).Scan(&held)
	return held, err
}

// hold gives a place a say in a version. It returns the chunks of the place that
// have more to bring now.
func (t *Tx) hold(place string, m amber.SyncMark) (reopened []string, err error) {
	n, err := t.Exec(putHeld, m.Ref.Scope, m.Ref.ID, markVersion(m), place)
	if err != nil || n == 0 {
		return nil, err
	}
	return t.reopen(place, m.Ref)
}

// reopen lets the chunks that waited for a record be applied once more.
func (t *Tx) reopen(place string, ref amber.SyncRef) ([]string, error) {
	if err := t.Do(reopenChunks, place, ref.Scope, ref.ID); err != nil {
		return nil, fmt.Errorf("reopen chunks: %w", err)
	}
	chunks, err := sqlrows.All(t.Tx, sqlrows.ScanText, deleteSpared, place, ref.Scope, ref.ID)
	if err != nil || len(chunks) == 0 {
		return nil, err
	}
	err = t.Do(reopenPacks, place)
	return chunks, err
}

// removedBy says who removed a record: here is true for this agent itself, at
// for the place.
func (t *Tx) removedBy(place string, ref amber.SyncRef) (here, at bool, err error) {
	var any bool
	if err := t.Row(sqlrows.IsRemovedByAny, ref.Scope, ref.ID).Scan(&any); err != nil || !any {
		return true, false, err
	}
	_, at, err = sqlrows.Optional(sqlrows.ScanOrigin(t.Row(selectRemoved, ref.Scope, ref.ID, place)))
	return false, at, err
}

// noteRemoved notes at a place that a record was removed there, and at the other
// places that had it, which are to be told.
func (t *Tx) noteRemoved(place string, ref amber.SyncRef, o amber.Origin) error {
	places, err := sqlrows.All(t.Tx, sqlrows.ScanText, holders, ref.Scope, ref.ID)
	if err != nil {
		return err
	}
	for _, p := range append(places, place) {
		if err := t.Do(putRemoved, ref.Scope, ref.ID, p, o.Device, int64(o.Counter), o.Clock); err != nil {
			return fmt.Errorf("note removal: %w", err)
		}
	}
	return nil
}

// isOwn reports whether a version was made here.
func (t *Tx) isOwn(m amber.Memory) bool {
	switch m.Trust {
	case amber.TrustOwn:
		return true
	case amber.TrustAgent, amber.TrustDerived:
		return m.Origin.Device == t.Current.Device
	}
	return false
}

// Held implements [amber.SyncLinks].
func (s *Contracts) Held(ctx context.Context, place string, marks []amber.SyncMark) ([]bool, error) {
	out := make([]bool, len(marks))
	err := s.memory.View(ctx, "read state of sync", place, func(t *Tx) (err error) {
		for i, m := range marks {
			if out[i], err = t.holds(place, m); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// RemovedAt implements [amber.SyncLinks].
func (s *Contracts) RemovedAt(ctx context.Context, place string, refs []amber.SyncRef) ([]bool, error) {
	out := make([]bool, len(refs))
	err := s.memory.View(ctx, "read state of sync", place, func(t *Tx) error {
		for i, ref := range refs {
			here, at, err := t.removedBy(place, ref)
			if err != nil {
				return err
			}
			if at && ref.Scope == amber.ChangeMemory {
				out[i] = true // whatever is left of it was never there
				continue
			}
			r, err := t.syncRecord(ref)
			if err != nil {
				return err
			}
			out[i] = (here || at) && (r.Erased != nil || r.Gone != nil)
		}
		return nil
	})
	return out, err
}
