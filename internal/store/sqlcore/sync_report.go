package sqlcore

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	deleteQuarantine = `DELETE FROM sync_quarantine WHERE place = ?`
	putQuarantine    = `INSERT OR REPLACE INTO sync_quarantine (place, chunk, reason, kind) VALUES (?, ?, ?, ?)`
	selectQuarantine = `SELECT chunk, reason, kind FROM sync_quarantine WHERE place = ? ORDER BY chunk`
	everyQuarantine  = `SELECT chunk, reason, kind FROM sync_quarantine ORDER BY place, chunk`
	selectSources    = `SELECT device, created_by, created_at, applied_at, drift FROM sync_chunks WHERE place = ? AND device <> ''`
	// selectDisputed must use versions_heads, which has the heads of memories
	// with several versions and nothing else.
	selectDisputed = `SELECT memory_id FROM versions INDEXED BY versions_heads WHERE head = 1 GROUP BY memory_id HAVING count(*) > 1`
)

// SetQuarantine implements [amber.SyncImporter].
func (s *Contracts) SetQuarantine(ctx context.Context, place string, chunks []amber.QuarantinedChunk) error {
	return s.memory.Update(ctx, "note quarantine", place, func(t *Tx) error {
		if err := t.Do(deleteQuarantine, place); err != nil {
			return err
		}
		for _, c := range chunks {
			if err := t.Do(putQuarantine, place, c.ID, c.Reason, c.Kind); err != nil {
				return err
			}
		}
		return nil
	})
}

// SyncReport implements [amber.SyncImporter].
func (s *Contracts) SyncReport(ctx context.Context, place string) (amber.SyncReport, error) {
	r := amber.SyncReport{Devices: []amber.SyncDevice{}, Conflicts: []amber.SyncConflict{}}
	err := s.memory.View(ctx, "read state of sync", place, func(t *Tx) (err error) {
		if err := t.reportDevices(place, &r); err != nil {
			return err
		}
		if err := t.reportConflicts(&r); err != nil {
			return err
		}
		if place == "" {
			r.Quarantined, err = sqlrows.All(t.Tx, sqlrows.ScanQuarantined, everyQuarantine)
			return err
		}
		r.Quarantined, err = sqlrows.All(t.Tx, sqlrows.ScanQuarantined, selectQuarantine, place)
		return err
	})
	return r, err
}

// reportDevices adds up the chunks of a place by the device that made them. An entry without a
// device is a pack that was noted.
func (t *Tx) reportDevices(place string, r *amber.SyncReport) error {
	devices := map[string]int{}
	return t.Each(selectSources, []any{place}, func(s scanner) error {
		var c amber.SyncDevice
		var createdAt, appliedAt int64
		if err := s.Scan(&c.Device, &c.CreatedBy, &createdAt, &appliedAt, &c.DriftMS); err != nil {
			return err
		}
		c.LastAt, c.LastSync = amber.UnixMilli(createdAt), amber.UnixMilli(appliedAt)
		r.Chunks++
		i, known := devices[c.Device]
		if !known {
			i, devices[c.Device] = len(r.Devices), len(r.Devices)
			r.Devices = append(r.Devices, c)
		}
		d := &r.Devices[i]
		chunks, drift := d.Chunks+1, max(d.DriftMS, c.DriftMS)
		if d.LastAt.Before(c.LastAt) {
			*d = c
		}
		d.Chunks, d.DriftMS = chunks, drift
		return nil
	})
}

// reportConflicts counts the memories with several heads that say different
// things, and spells the first ones out.
func (t *Tx) reportConflicts(r *amber.SyncReport) error {
	ids, err := sqlrows.All(t.Tx, sqlrows.ScanText, selectDisputed)
	if err != nil {
		return err
	}
	for _, id := range ids {
		c, err := t.conflict(amber.MemoryID(id))
		switch {
		case t.SetAside("memories", err):
			continue
		case err != nil:
			return err
		case len(c.Others) == 0:
			continue
		}
		r.ConflictCount++
		if len(r.Conflicts) < amber.MaxConflicts {
			r.Conflicts = append(r.Conflicts, c)
		}
	}
	return nil
}

// conflict returns the heads of a memory that say something else than the one
// that is kept.
func (t *Tx) conflict(id amber.MemoryID) (c amber.SyncConflict, err error) {
	m, found, err := t.Load(id)
	if err != nil || !found {
		return c, err
	}
	heads, err := t.Heads(m)
	if err != nil {
		return c, err
	}
	c.ID, c.Kept = id, syncVersion(m)
	err = t.Each(sqlrows.SelectRevisions, []any{id}, func(s scanner) error {
		v, err := sqlrows.ScanRevision(s)
		if err == nil && slices.Contains(heads, v.Origin) && !saysAlike(m, v) {
			c.Others = append(c.Others, syncVersion(v))
		}
		return err
	})
	slices.SortFunc(c.Others, func(a, b amber.SyncVersion) int { return sqlrows.LatestFirst(a.Origin, b.Origin) })
	return c, err
}

// syncVersion is one side of a conflict. The text of what was deleted is not
// one.
func syncVersion(m amber.Memory) amber.SyncVersion {
	v := amber.SyncVersion{Origin: m.Origin, Title: m.Title, Content: m.Content, UpdatedAt: m.UpdatedAt}
	if !m.DeletedAt.IsZero() {
		v.Title, v.Content, v.Deleted = "", "", true
	}
	return v
}
