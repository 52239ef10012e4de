package sqlcore

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	linkColumns = `tool, chunk, ordinal, scope, record, version, local_id, fingerprint, extra`

	putLink      = `INSERT OR REPLACE INTO sync_links (` + linkColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	linksOfChunk = `SELECT ` + linkColumns + ` FROM sync_links WHERE tool = ? AND chunk = ? ORDER BY chunk, ordinal`
	// Left alone, SQLite would rather read every link of the tool than sort
	// the few that match.
	linksOfFingerprint = `SELECT ` + linkColumns + ` FROM sync_links INDEXED BY sync_links_fingerprint
WHERE tool = ? AND fingerprint = ? ORDER BY chunk, ordinal`
	linksOfRecord = `SELECT ` + linkColumns + ` FROM sync_links INDEXED BY sync_links_record
WHERE tool = ? AND record = ? AND scope = ? ORDER BY chunk, ordinal`
	selectLastLocalID = `SELECT coalesce(max(local_id), 0) FROM sync_links WHERE tool = ? AND scope = ?`
)

// Links implements [amber.SyncLinks].
func (s *Contracts) Links(ctx context.Context, q amber.LinkQuery) (links []amber.SyncLink, err error) {
	const op = "read links"
	query, args, asked := "", []any{q.Tool}, 0
	if q.Chunk != "" {
		query, args, asked = linksOfChunk, append(args, q.Chunk), asked+1
	}
	if q.Ref != (amber.SyncRef{}) {
		query, args, asked = linksOfRecord, append(args, q.Ref.ID, q.Ref.Scope), asked+1
	}
	if q.Fingerprint != "" {
		query, args, asked = linksOfFingerprint, append(args, q.Fingerprint), asked+1
	}
	if q.Tool == "" || asked != 1 {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the query names %d fields, want the tool and exactly one more", asked)
	}
	return view(ctx, s.memory, op, "", func(t *Tx) ([]amber.SyncLink, error) {
		return sqlrows.ReadRows(t.Tx, "sync_links", sqlrows.ScanLink, query, args...)
	})
}

// LastLocalID implements [amber.SyncLinks].
func (s *Contracts) LastLocalID(ctx context.Context, tool string, scope amber.ChangeScope) (last int64, err error) {
	err = s.memory.View(ctx, "read links", "", func(t *Tx) error {
		return t.Row(selectLastLocalID, tool, scope).Scan(&last)
	})
	return last, err
}

// putLinks stores links; those that name no chunk are of this one.
func (t *Tx) putLinks(chunk string, links []amber.SyncLink) error {
	for _, l := range links {
		version := ""
		if l.Version != (amber.Origin{}) {
			version = sqlrows.VersionOf(l.Version)
		}
		if l.Chunk == "" {
			l.Chunk = chunk
		}
		if err := t.Do(putLink, l.Tool, l.Chunk, l.Ordinal, l.Ref.Scope, l.Ref.ID, version, l.LocalID, l.Fingerprint, l.Extra); err != nil {
			return fmt.Errorf("store link: %w", err)
		}
	}
	return nil
}

// SyncRecords implements [amber.SyncLinks]. A deleted memory is a tombstone; a deleted session or
// prompt is a record that it is gone.
func (s *Contracts) SyncRecords(ctx context.Context, refs []amber.SyncRef) ([]amber.SyncRecord, error) {
	out := make([]amber.SyncRecord, len(refs))
	err := s.memory.View(ctx, "read records", "", func(t *Tx) (err error) {
		for i, ref := range refs {
			if out[i], err = t.syncRecord(ref); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// syncRecord returns a record as it is now.
func (t *Tx) syncRecord(ref amber.SyncRef) (amber.SyncRecord, error) {
	switch ref.Scope {
	case amber.ChangeMemory:
		return t.syncMemory(amber.MemoryID(ref.ID))
	case amber.ChangeSession:
		s, found, err := t.SyncSession(amber.SessionID(ref.ID))
		if found || err != nil {
			return amber.SyncRecord{Session: &s}, err
		}
	case amber.ChangeTurn:
		turn, err := sqlrows.ScanTurn(t.Row(selectTurn, ref.ID))
		switch {
		case err == nil && turn.Role == amber.RoleUser:
			return amber.SyncRecord{Prompt: &turn}, nil
		case err != nil && !sqlrows.Absent(err):
			return amber.SyncRecord{}, err
		}
	case amber.SyncRelation:
		r, found, err := sqlrows.Optional(sqlrows.ScanRelation(t.Row(sqlrows.SelectRelation, ref.ID)))
		if found {
			return amber.SyncRecord{Relation: &r}, nil
		}
		return amber.SyncRecord{}, err
	default:
		return amber.SyncRecord{}, amber.Errorf(amber.KindInvalid, "read records", ref.ID, "scope %q has no records", ref.Scope)
	}
	d, found, err := t.departed(ref.Scope, ref.ID)
	if !found {
		return amber.SyncRecord{}, err
	}
	return amber.SyncRecord{Gone: &amber.SyncGone{Scope: ref.Scope, ID: ref.ID, Origin: d.Origin}}, nil
}

// syncMemory returns the newest version of a memory, or that it was erased.
func (t *Tx) syncMemory(id amber.MemoryID) (amber.SyncRecord, error) {
	m, found, err := t.Load(id)
	if err != nil {
		return amber.SyncRecord{}, err
	}
	if !found {
		o, err := sqlrows.ScanOrigin(t.Row(sqlrows.SelectErased, id))
		if sqlrows.Absent(err) {
			return amber.SyncRecord{}, nil
		}
		return amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: o}}, err
	}
	known, err := t.versions(id)
	if err != nil {
		return amber.SyncRecord{}, err
	}
	m.DuplicateCount = 0
	if !m.DeletedAt.IsZero() {
		m = sqlrows.Tombstone(m)
	}
	return amber.SyncRecord{Memory: &amber.SyncMemory{Memory: m, Saw: known[m.Origin].saw}}, nil
}
