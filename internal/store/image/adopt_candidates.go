package image

import "github.com/amber-memory/amber/internal/store/sqlrows"

const (
	makeCandidates     = `CREATE TEMP TABLE differing_memories (id TEXT PRIMARY KEY) WITHOUT ROWID`
	makeRelations      = `CREATE TEMP TABLE differing_relations (id TEXT PRIMARY KEY) WITHOUT ROWID`
	makeSessions       = `CREATE TEMP TABLE differing_sessions (id TEXT PRIMARY KEY) WITHOUT ROWID`
	makeTurns          = `CREATE TEMP TABLE differing_turns (id TEXT PRIMARY KEY) WITHOUT ROWID`
	candidateMemories  = `SELECT id FROM differing_memories WHERE id > ? ORDER BY id LIMIT ?`
	candidateRelations = `SELECT id FROM differing_relations WHERE id > ? ORDER BY id LIMIT ?`
	candidateSessions  = `SELECT id FROM differing_sessions WHERE id > ? ORDER BY id LIMIT ?`
	candidateTurns     = `SELECT id FROM differing_turns WHERE id > ? ORDER BY id LIMIT ?`

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
	loggedSessions = `INSERT INTO differing_sessions
SELECT key FROM main.changes WHERE seq > ?1 AND scope = 'session' UNION SELECT key FROM live.changes WHERE seq > ?1 AND scope = 'session'`
	loggedTurns = `INSERT INTO differing_turns
SELECT key FROM main.changes WHERE seq > ?1 AND scope = 'turn' UNION SELECT key FROM live.changes WHERE seq > ?1 AND scope = 'turn'`
	// loggedTogether are turns that were deleted together: the log names their
	// session.
	loggedTogether = `INSERT OR IGNORE INTO differing_turns
SELECT t.id FROM differing_turns d CROSS JOIN live.turns t ON t.session_id = d.id
UNION SELECT t.id FROM differing_turns d CROSS JOIN live.departed t ON t.session_id = d.id AND t.session_id <> ''`

	// allMemories are found by a look at every one.
	allMemories = `INSERT INTO differing_memories
SELECT l.id FROM live.memories l LEFT JOIN main.memories m ON m.id = l.id
WHERE m.id IS NULL OR l.counter <> m.counter OR l.clock <> m.clock OR l.device <> m.device OR l.revision <> m.revision
 OR l.content_digest <> m.content_digest OR (l.deleted_at IS NULL) <> (m.deleted_at IS NULL)`
	allRelations = `INSERT INTO differing_relations SELECT id FROM live.relations`
	allSessions  = `INSERT INTO differing_sessions SELECT id FROM live.sessions UNION SELECT id FROM live.departed WHERE scope = 'session'`
	allTurns     = `INSERT INTO differing_turns SELECT id FROM live.turns WHERE role = 'user' UNION SELECT id FROM live.departed WHERE scope = 'turn'`
)

// findCandidates notes every record that may differ from the live one. Both files have grown from one as a rule: then it is what their logs
// name since they parted, and nothing else is looked at.
func (a *adoption) findCandidates() error {
	if err := a.ExecAll(makeCandidates, makeRelations, makeSessions, makeTurns); err != nil {
		return err
	}
	seq, parted, err := a.parting()
	if err != nil {
		return err
	}
	if !parted {
		return a.ExecAll(allMemories, allRelations, allSessions, allTurns)
	}
	for _, q := range []string{loggedMemories, loggedSessions, loggedTurns} {
		if _, err := a.Exec(q, seq); err != nil {
			return err
		}
	}
	return a.ExecAll(loggedRelations, loggedTogether)
}

// parting returns the last entry both logs have, if they have one. Its stamp
// is the proof: a copy of an agent may have lived on under the same
// incarnation.
func (a *adoption) parting() (seq int64, ok bool, err error) {
	err = a.Row(selectParting).Scan(&seq)
	if sqlrows.Absent(err) {
		return 0, false, nil
	}
	if err == nil {
		err = a.Row(sameEntry, seq).Scan(&ok)
	}
	return seq, ok, err
}
