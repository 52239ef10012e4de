package sqlite

import (
	"errors"
)

const (
	makeCandidates     = `CREATE TEMP TABLE differing_memories (id TEXT PRIMARY KEY) WITHOUT ROWID`
	makeRelations      = `CREATE TEMP TABLE differing_relations (id TEXT PRIMARY KEY) WITHOUT ROWID`
	candidateMemories  = `SELECT id FROM differing_memories WHERE id > ? ORDER BY id LIMIT ?`
	candidateRelations = `SELECT id FROM differing_relations WHERE id > ? ORDER BY id LIMIT ?`

	// selectParting finds where the logs of both files part: at the end of the
	// last incarnation both have lived through, in the file that left it
	// first.
	selectParting = `SELECT min(
 coalesce((SELECT min(n.first_seq) - 1 FROM main.incarnations n WHERE n.ordinal > m.ordinal), (SELECT max(seq) FROM main.changes), 0),
 coalesce((SELECT min(n.first_seq) - 1 FROM live.incarnations n WHERE n.ordinal > l.ordinal), (SELECT max(seq) FROM live.changes), 0))
FROM main.incarnations m JOIN live.incarnations l ON l.id = m.id AND l.first_seq = m.first_seq ORDER BY m.ordinal DESC LIMIT 1`
	sameEntry = `SELECT EXISTS (SELECT 1 FROM main.changes m JOIN live.changes l ON l.seq = m.seq
WHERE m.seq = ? AND l.stamp = m.stamp AND l.op = m.op AND l.scope = m.scope AND l.key = m.key)`

	// loggedMemories are those either log names after the parting.
	loggedMemories = `INSERT INTO differing_memories
SELECT key FROM main.changes WHERE seq > ?1 AND scope = 'memory' UNION SELECT key FROM live.changes WHERE seq > ?1 AND scope = 'memory'`
	// loggedRelations are logged beside the memory they begin at.
	loggedRelations = `INSERT INTO differing_relations
SELECT r.id FROM differing_memories d CROSS JOIN main.relations r ON r.from_id = d.id
UNION SELECT r.id FROM differing_memories d CROSS JOIN live.relations r ON r.from_id = d.id`

	// allMemories are found by a look at every one.
	allMemories = `INSERT INTO differing_memories
SELECT l.id FROM live.memories l LEFT JOIN main.memories m ON m.id = l.id
WHERE m.id IS NULL OR l.counter <> m.counter OR l.clock <> m.clock OR l.device <> m.device OR l.revision <> m.revision
 OR l.content_digest <> m.content_digest OR (l.deleted_at IS NULL) <> (m.deleted_at IS NULL)`
	allRelations = `INSERT INTO differing_relations SELECT id FROM live.relations`
)

// findCandidates notes every memory and relation that may differ from the live
// one. Both files have grown from one as a rule: then it is what their logs
// name since they parted, and nothing else is looked at.
func (a *adoption) findCandidates() error {
	for _, q := range []string{"PRAGMA temp_store=MEMORY", makeCandidates, makeRelations} {
		if _, err := a.exec(q); err != nil {
			return err
		}
	}
	seq, parted, err := a.parting()
	if err != nil {
		return err
	}
	if !parted {
		_, merr := a.exec(allMemories)
		_, rerr := a.exec(allRelations)
		return errors.Join(merr, rerr)
	}
	if _, err := a.exec(loggedMemories, seq); err != nil {
		return err
	}
	_, err = a.exec(loggedRelations)
	return err
}

// parting returns the last entry both logs have, if they have one. Its stamp
// is the proof: a copy of an agent may have lived on under the same
// incarnation.
func (a *adoption) parting() (seq int64, ok bool, err error) {
	err = a.row(selectParting).Scan(&seq)
	if absent(err) {
		return 0, false, nil
	}
	if err == nil {
		err = a.row(sameEntry, seq).Scan(&ok)
	}
	return seq, ok, err
}
