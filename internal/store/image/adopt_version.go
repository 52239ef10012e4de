package image

import (
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	// takeAllVersions is for a memory whose whole history is taken from live.
	takeAllVersions = `INSERT OR IGNORE INTO versions SELECT memory_id, version, saw, head, stored FROM live.versions WHERE memory_id = ?`
	// takeSeenVersions takes over what is no head in live: others have seen it.
	// Its text stays behind. A head whose text stays behind is not taken: it
	// may arrive once more, and is as new then as it was.
	takeSeenVersions = `INSERT INTO versions SELECT memory_id, version, saw, 0, 0 FROM live.versions WHERE memory_id = ? AND head = 0
ON CONFLICT DO UPDATE SET head = 0 WHERE head = 1`
	liveStored = `SELECT version FROM live.versions WHERE memory_id = ? AND stored = 1`
	liveHeads  = `SELECT version FROM live.versions WHERE memory_id = ? AND head = 1 AND stored = 1`

	// loseVersion is for a version that has become another.
	loseVersion = `UPDATE versions SET head = 0, stored = 0 WHERE memory_id = ? AND version = ?`
	takeVersion = `INSERT INTO versions SELECT ?1, ?2, coalesce((SELECT saw FROM live.versions WHERE memory_id = ?1 AND version = ?2), ''), 1, 1
WHERE EXISTS (SELECT 1 FROM main.versions WHERE memory_id = ?1) OR EXISTS (SELECT 1 FROM live.versions WHERE memory_id = ?1)
ON CONFLICT DO UPDATE SET saw = excluded.saw, head = 1, stored = 1`
)

// supersedeBoth notes a restored version: it has seen every head of the memory
// in the file, whose text it is, and in live, which it replaces.
func (a *adoption) supersedeBoth(m, live amber.Memory, next amber.Origin) error {
	saw, err := sqlrows.All(a.Tx, sqlrows.ScanVersion, liveHeads, m.ID)
	if err != nil {
		return err
	}
	if len(saw) == 0 {
		saw = append(saw, live.Origin)
	}
	if _, err := a.Exec(sqlrows.KeepVersion, m.ID, sqlrows.VersionOf(m.Origin)); err != nil {
		return err
	}
	if _, err := a.Exec(takeSeenVersions, m.ID); err != nil {
		return err
	}
	own, err := sqlrows.All(a.Tx, sqlrows.ScanVersion, sqlrows.SelectHeads, m.ID)
	if err != nil {
		return err
	}
	saw = append(append(saw, own...), m.Origin) // also where live has gone on from it
	slices.SortFunc(saw, sqlrows.LatestFirst)
	saw = slices.Compact(saw)
	return a.NoteVersion(m.ID, next, saw[:min(len(saw), sqlrows.MaxSaw)])
}

// highestOfBoth returns the highest counter that a memory has in either file.
func (a *adoption) highestOfBoth(m, live amber.Memory) (uint64, error) {
	most, err := a.Highest(m)
	if err != nil {
		return 0, err
	}
	stored, err := sqlrows.All(a.Tx, sqlrows.ScanVersion, liveStored, live.ID)
	for _, o := range append(stored, live.Origin) {
		most = max(most, o.Counter)
	}
	return most, err
}

// takeVersion makes the version of a memory that of live, which says the same.
func (a *adoption) takeVersion(m, live amber.Memory) error {
	if _, err := a.Exec(takeSeenVersions, m.ID); err != nil {
		return err
	}
	if _, err := a.Exec(takeVersion, m.ID, sqlrows.VersionOf(live.Origin)); err != nil {
		return err
	}
	_, err := a.Exec(loseVersion, m.ID, sqlrows.VersionOf(m.Origin))
	return err
}
