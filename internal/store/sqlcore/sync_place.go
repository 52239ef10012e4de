package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectPlace = `SELECT position, chunk FROM sync_places WHERE place = ? AND project = ?`
	upsertPlace = `INSERT INTO sync_places (place, project, position, chunk) VALUES (?, ?, ?, ?)
ON CONFLICT (place, project) DO UPDATE SET position = excluded.position, chunk = CASE excluded.chunk WHEN '' THEN sync_places.chunk ELSE excluded.chunk END`
	insertChunk = `INSERT INTO sync_chunks (chunk, place, device, created_by, created_at, applied_at, drift, again) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (chunk, place) DO UPDATE SET again = excluded.again`
	isApplied     = `SELECT coalesce(max(CASE again WHEN 0 THEN 1 ELSE 0 END), 0), count(*) > 0 FROM sync_chunks WHERE chunk = ? AND place = ?`
	selectApplied = `SELECT DISTINCT chunk FROM sync_chunks WHERE chunk IN (SELECT value FROM json_each(?1)) AND (?2 = '' OR place = ?2 AND again = 0)`
)

// ChunkBatch is how many chunks one question asks for.
const ChunkBatch = 500

// SyncPlace implements [amber.SyncExporter].
func (s *Contracts) SyncPlace(ctx context.Context, place, project string) (amber.SyncPlace, error) {
	return view(ctx, s.memory, "read state of sync", place, func(t *Tx) (amber.SyncPlace, error) { return t.syncPlace(place, project) })
}

func (t *Tx) syncPlace(place, project string) (p amber.SyncPlace, err error) {
	err = t.Row(selectPlace, place, project).Scan(&p.Position, &p.Chunk)
	if sqlrows.Absent(err) {
		return amber.SyncPlace{}, nil
	}
	return p, err
}

// Exported implements [amber.SyncExporter]. It writes nothing to the change
// log: an export that is exported would never end.
func (s *Contracts) Exported(ctx context.Context, n amber.ExportNote) error {
	const op = "note export"
	if n.Place == "" {
		return amber.Errorf(amber.KindInvalid, op, "", "the place is empty")
	}
	if n.Chunk == "" && len(n.Links) == 0 && len(n.Marks) == 0 {
		p, err := s.SyncPlace(ctx, n.Place, n.Project)
		if err != nil || p.Position == n.Position {
			return err
		}
	}
	return s.memory.UpdateAlone(ctx, op, n.Place, func(t *Tx) error {
		if err := t.Do(upsertPlace, n.Place, n.Project, n.Position, n.Chunk); err != nil {
			return err
		}
		if n.Chunk != "" {
			if err := t.Do(insertChunk, n.Chunk, n.Place, t.Current.Device, n.CreatedBy, t.Now.UnixMilli(), t.Now.UnixMilli(), 0, 0); err != nil {
				return err
			}
		}
		for _, m := range n.Marks {
			if _, err := t.hold(n.Place, m); err != nil {
				return err
			}
		}
		return t.putLinks(n.Chunk, n.Links)
	})
}

// AppliedChunks implements [amber.SyncImporter].
func (s *Contracts) AppliedChunks(ctx context.Context, place string, chunks []string) (map[string]bool, error) {
	applied := map[string]bool{}
	err := s.memory.View(ctx, "read state of sync", place, func(t *Tx) error {
		for rest := chunks; len(rest) > 0; {
			n := min(len(rest), ChunkBatch)
			names, err := sqlrows.Marshal(rest[:n])
			if err != nil {
				return err
			}
			rest = rest[n:]
			known, err := sqlrows.All(t.Tx, sqlrows.ScanText, selectApplied, names, place)
			if err != nil {
				return err
			}
			for _, chunk := range known {
				applied[chunk] = true
			}
		}
		return nil
	})
	return applied, err
}
