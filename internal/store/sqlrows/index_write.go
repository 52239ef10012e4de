package sqlrows

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
)

// LastPlace reads the last place in a conversation. The second condition is what the index
// asks for.
const LastPlace = `SELECT coalesce(max(place), 0) FROM passages WHERE session_id = ? AND session_id <> ''`

const (
	selectDirty = `SELECT d.source, d.owner FROM index_dirty d LEFT JOIN turns t ON d.source = 'turn' AND t.id = d.owner
ORDER BY d.source, t.seq, d.owner LIMIT ?`
	countDirty  = `SELECT count(*) FROM (SELECT 1 FROM index_dirty ORDER BY source, owner LIMIT ?) AS few`
	deleteDirty = `DELETE FROM index_dirty WHERE source = ? AND owner = ?`
	emptyDirty  = `DELETE FROM index_dirty`

	// Without the signs SQLite plans these anew for every value, because of ORDER BY.
	ownPassages = `SELECT row, part, digest, place FROM passages WHERE source = +? AND owner = +? ORDER BY part`
	conceptsOf  = `SELECT concept FROM concepts WHERE memory_id = +? ORDER BY concept`

	ownDead       = `SELECT row FROM index_dead WHERE source = ? AND owner = ?`
	insertPassage = `INSERT INTO passages (row, source, owner, part, digest, session_id, place, speaker, asks, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	movePassage   = `UPDATE passages SET at = ?2, session_id = ?3 WHERE row = ?1 AND (at <> ?2 OR session_id <> ?3)`
	deletePassage = `DELETE FROM passages WHERE row = ?`
	lastPassage   = `SELECT coalesce(max(row), 0) FROM passages`
	lastOfAll     = `SELECT max(last) FROM (SELECT coalesce(max(last_row), 0) AS last FROM index_segments UNION ALL SELECT coalesce(max(row), 0) FROM index_tail) AS ends`
	forgetDead    = `UPDATE index_dead SET source = '', owner = '' WHERE source = ? AND owner = ?` // nothing is left of them
	turnBefore    = `SELECT content FROM turns WHERE session_id = ?1 AND seq < (SELECT seq FROM turns WHERE id = ?2) AND role IN ('user', 'assistant') ORDER BY seq DESC LIMIT 1`
	projectOf     = `SELECT project FROM sessions WHERE id = ?`

	oneTurn         = `SELECT ` + TurnColumns + ` FROM turns WHERE id = ?`
	oneCompaction   = `SELECT ` + CompactionColumns + ` FROM compactions WHERE id = ?`
	oneSession      = `SELECT ` + SessionColumns + ` FROM sessions WHERE id = ?`
	oneActivity     = `SELECT ` + ActivityColumns + ` FROM activity WHERE seq = CAST(? AS INTEGER)`
	dirtyEverything = `INSERT OR IGNORE INTO index_dirty (source, owner)
 SELECT 'memory', id FROM memories WHERE deleted_at IS NULL
 UNION ALL SELECT 'turn', id FROM turns UNION ALL SELECT 'compaction', id FROM compactions
 UNION ALL SELECT 'session', id FROM sessions UNION ALL SELECT 'activity', CAST(seq AS TEXT) FROM activity WHERE failed > 0
 UNION ALL SELECT 'note', name FROM notes`
)

// Indexing says how rows that were changed come into the index.
type Indexing struct {
	Most int // owners at most; 0: all
	// Erase takes what is gone out to the byte, and does not leave it to merging.
	Erase bool
}

// IndexDirty brings the index in line with the rows that were changed, and merges a
// little. It returns how many owners it has seen to. Where the index is damaged, what
// cannot come in waits until the index is made anew: no write fails for that, but erasing
// does, which could not keep its word.
func (t *Tx) IndexDirty(how Indexing) (done int, err error) {
	if how.Most == 0 {
		how.Most = -1
	}
	x := indexer{IndexRows: IndexRows{t}, how: how, cache: &search.Cache{}}
	defer func() { t.ahead = nil }()
	owners, err := x.dirty()
	if err != nil || len(owners) == 0 {
		return 0, err
	}
	seen := owners[:0]
	for i, o := range owners {
		if err := x.lookAhead(owners[i:]); err != nil {
			return 0, err
		}
		err := x.owner(o.source, o.id)
		if search.IsDamaged(err) && !how.Erase {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("index %s %s: %w", o.source, printable(o.id), err)
		}
		seen = append(seen, o)
	}
	done = len(seen)
	work := x.work()
	if err := x.endRows(); err != nil {
		return 0, err
	}
	if err := t.clean(seen, done == len(owners) && done != how.Most); err != nil {
		return 0, err
	}
	if err := x.takeOut(); err != nil {
		return 0, fmt.Errorf("take passages out of the index: %w", err)
	}
	if x.added == 0 || how.Erase {
		return done, nil
	}
	wait, err := t.mayWait(x.added)
	if err != nil {
		return 0, err
	}
	_, err = search.Tidy(x.IndexRows, x.cache, work, wait)
	if search.IsDamaged(err) { // it stays as it was: a step reads before it writes
		err = nil
	}
	return done, err
}

// dirty returns who was written.
func (x *indexer) dirty() ([]owner, error) {
	if x.Far && !x.how.Erase {
		return x.lookFar(x.how.Most)
	}
	return All(x.Tx, func(s scanner) (o owner, err error) {
		err = s.Scan(&o.source, &o.id)
		return o, err
	}, selectDirty, x.how.Most)
}

// work is how many rows of merging are to be done.
func (x *indexer) work() int {
	work := search.TidyWork(x.terms)
	if x.ahead == nil || x.added == 0 {
		return work
	}
	if x.owing = x.owed() + work; x.owing < enoughOwed {
		return 0
	}
	work, x.owing = x.owing, 0
	return work
}

// owner names what was written.
type owner struct{ source, id string }

// clean notes that owners are in the index; all says that there were no others.
func (t *Tx) clean(owners []owner, all bool) error {
	if all {
		return t.exec(emptyDirty)
	}
	for _, o := range owners {
		if err := t.exec(deleteDirty, o.source, o.id); err != nil {
			return err
		}
	}
	return nil
}

// indexer brings owners into the index.
type indexer struct {
	IndexRows
	how   Indexing
	cache *search.Cache // of this transaction: what it has written may be undone
	gone  []int64       // rows that are to be taken out
	added int
	terms int              // of what was added
	row   int64            // the last one that was given away; 0 before the first
	owing int              // rows of merging that are left to a later transaction
	known map[string]known // what was read of the next memories
}

// nextRow returns the row of a new passage. They are counted in the file once, by endRows.
func (x *indexer) nextRow() (row int64, err error) {
	if x.row == 0 {
		if x.row, err = x.lastRow(); err != nil {
			return 0, err
		}
	}
	x.row++
	return x.row, nil
}

// maxRow bounds the rows of passages: more than anybody writes.
const maxRow = 1 << 60

// lastRow returns the last row that was given away. A number that cannot be it, as in a file
// that was tampered with, is found out again from the rows that are there.
func (x *indexer) lastRow() (int64, error) {
	last, _, err := x.state(stateRow)
	if err != nil {
		return 0, err
	}
	var there int64
	if x.ahead != nil {
		there = x.ahead.lastPassage
	} else if err := x.Row(lastPassage).Scan(&there); err != nil {
		return 0, err
	}
	if last >= max(there, 0) && last < maxRow {
		return last, nil
	}
	if err := x.Row(lastOfAll).Scan(&last); err != nil {
		return 0, err
	}
	if last = max(last, there, 0); last >= maxRow {
		return 0, search.Damaged("rows of passages count to %d, want less than %d", last, int64(maxRow))
	}
	return last, nil
}

func (x *indexer) endRows() error {
	if x.row == 0 {
		return nil
	}
	var owing []byte
	if x.owing > 0 {
		owing = binary.AppendUvarint(nil, uint64(x.owing))
	}
	return x.putState(stateRow, x.row, owing)
}

// owner compares what an owner says with its passages.
func (x *indexer) owner(source, id string) error {
	texts, had, err := x.now(source, id)
	if err != nil {
		return err
	}
	for i, text := range texts {
		d := text.Document(0)
		digest := text.Digest(d)
		if i < len(had) {
			if text.Place = had[i].place; bytes.Equal(had[i].digest, digest) {
				if err := x.move(had[i].row, text); err != nil {
					return err
				}
				continue
			}
			if err := x.remove(had[i].row); err != nil {
				return err
			}
		}
		if err := x.add(text, d, digest); err != nil {
			return err
		}
	}
	for _, r := range had[min(len(texts), len(had)):] {
		if err := x.remove(r.row); err != nil {
			return err
		}
	}
	if x.how.Erase {
		dead, err := All(x.Tx, scanNumber, ownDead, source, id)
		if err != nil {
			return err
		}
		x.gone = append(x.gone, dead...)
		return x.exec(forgetDead, source, id)
	}
	return nil
}

// own is a passage that an owner has in the index.
type own struct {
	row, part, place int64
	digest           []byte
}

// now returns what an owner says, and the passages it has in the index.
func (x *indexer) now(source, id string) ([]search.Text, []own, error) {
	if k, ok := x.known[id]; ok && source == search.SourceMemory {
		return k.texts, k.had, nil
	}
	texts, err := x.texts(source, id)
	if _, bad := AsBadRow(err); bad {
		texts, err = nil, nil // what cannot be read is not found
	}
	if err != nil {
		return nil, nil, err
	}
	had, err := All(x.Tx, func(s scanner) (o own, err error) {
		err = s.Scan(&o.row, &o.part, &o.digest, &o.place)
		return o, err
	}, ownPassages, source, id)
	return texts, had, err
}

// known is what was read of a memory together with others.
type known struct {
	texts []search.Text
	had   []own
}

// together is how many memories are read together.
const together = 64

const (
	nextMemories = `SELECT ` + MemoryColumns + ` FROM memories WHERE deleted_at IS NULL AND id IN (SELECT value FROM json_each(?))`
	nextConcepts = `SELECT memory_id, concept FROM concepts WHERE memory_id IN (SELECT value FROM json_each(?)) ORDER BY memory_id, concept`
	nextPassages = `SELECT owner, row, part, digest, place FROM passages WHERE source = 'memory' AND owner IN (SELECT value FROM json_each(?)) ORDER BY owner, part`
)

// lookAhead reads what is needed of the next memories, where there are several: three questions for
// all of them. The answer about one memory depends on no other.
func (x *indexer) lookAhead(next []owner) error {
	if next[0].source != search.SourceMemory {
		return nil
	}
	if _, ok := x.known[next[0].id]; ok {
		return nil
	}
	n, most := 1, together
	if x.Far {
		most = farAhead
	}
	for n < min(len(next), most) && next[n].source == search.SourceMemory {
		n++
	}
	if n == 1 {
		return nil
	}
	ids := make([]string, n)
	x.known = make(map[string]known, n)
	for i := range ids {
		ids[i] = next[i].id
		x.known[ids[i]] = known{}
	}
	list, err := marshalList(ids)
	if err != nil {
		return err
	}
	concepts := map[string][]string{}
	scans := []func(scanner) error{scanConcept(concepts), x.scanKnown(concepts), x.scanOwn}
	return x.several([]string{nextConcepts, nextMemories, nextPassages}, [][]any{{list}, {list}, {list}}, func(n int, r Row) error {
		return scans[n](strictRow{r})
	})
}

// scanConcept reads the concepts of memories.
func scanConcept(into map[string][]string) func(scanner) error {
	return func(s scanner) error {
		var id, concept string
		err := s.Scan(&id, &concept)
		into[id] = append(into[id], concept)
		return err
	}
}

// scanKnown reads what a memory says that has concepts.
func (x *indexer) scanKnown(concepts map[string][]string) func(scanner) error {
	return func(s scanner) error {
		m, err := ScanMemory(s)
		if _, bad := AsBadRow(err); bad {
			return nil // what cannot be read is not found
		}
		if err == nil && !m.DeletedAt.IsZero() {
			return nil
		}
		x.known[string(m.ID)] = known{texts: search.OfMemory(m, concepts[string(m.ID)])}
		return err
	}
}

// scanOwn reads a passage of a memory.
func (x *indexer) scanOwn(s scanner) error {
	var id string
	var o own
	err := s.Scan(&id, &o.row, &o.part, &o.digest, &o.place)
	k := x.known[id]
	k.had = append(k.had, o)
	x.known[id] = k
	return err
}

// move says where and when a passage was said that stays as it is.
func (x *indexer) move(row int64, text search.Text) error {
	moved, err := x.Exec(movePassage, row, text.At, text.Session)
	if err == nil && moved > 0 {
		_, err = x.nextNumber(stateMoves)
	}
	return err
}

// remove takes a passage away. Where it is not to be erased, whose it was is noted with
// the dead.
func (x *indexer) remove(row int64) error {
	x.gone = append(x.gone, row)
	if !x.how.Erase {
		if err := search.Remove(x.IndexRows, x.cache, row); err != nil {
			return err
		}
	}
	return x.exec(deletePassage, row)
}

// takeOut removes what is left of passages that are gone.
func (x *indexer) takeOut() error {
	if len(x.gone) == 0 {
		return nil
	}
	if err := x.dropVectorsOf(x.gone); err != nil || !x.how.Erase {
		return err
	}
	return search.Erase(x.IndexRows, x.cache, x.gone...)
}

// add puts a passage into the index.
func (x *indexer) add(text search.Text, d search.Document, digest []byte) (err error) {
	if d.Row, err = x.nextRow(); err != nil {
		return err
	}
	if text.Session != "" && text.Place == 0 {
		if err := x.Row(LastPlace, text.Session).Scan(&text.Place); err != nil {
			return err
		}
		text.Place++
	}
	err = x.exec(insertPassage, d.Row, text.Source, text.Owner, text.Part, digest, text.Session, text.Place, text.Speaker, text.Asks, text.At)
	if err != nil {
		return err
	}
	x.added, x.terms = x.added+1, x.terms+len(d.Terms)
	return x.PutTail(d)
}

// texts returns the passages that an owner has now; none where it is gone.
func (t *Tx) texts(source, id string) ([]search.Text, error) {
	switch source {
	case search.SourceMemory:
		m, found, err := t.Load(amber.MemoryID(id))
		if err != nil || !found || !m.DeletedAt.IsZero() {
			return nil, err
		}
		concepts, err := All(t, ScanText, conceptsOf, id)
		return search.OfMemory(m, concepts), err
	case search.SourceTurn:
		turn, found, err := Optional(ScanTurn(t.Row(oneTurn, id)))
		if err != nil || !found {
			return nil, err
		}
		before, _, err := Optional(ScanText(t.Row(turnBefore, turn.SessionID, id)))
		if err != nil {
			return nil, err
		}
		project, err := t.projectOf(turn.SessionID)
		return search.OfTurn(turn, project, before), err
	case search.SourceCompaction:
		c, found, err := Optional(ScanCompaction(t.Row(oneCompaction, id)))
		if err != nil || !found {
			return nil, err
		}
		project, err := t.projectOf(c.SessionID)
		return search.OfCompaction(c, project), err
	case search.SourceSession:
		s, found, err := Optional(ScanSession(t.Row(oneSession, id)))
		if err != nil || !found {
			return nil, err
		}
		return search.OfSession(s), nil
	case search.SourceActivity:
		a, found, err := Optional(ScanActivity(t.Row(oneActivity, id)))
		if err != nil || !found {
			return nil, err
		}
		project, err := t.projectOf(a.SessionID)
		return search.OfActivity(id, a, project), err
	case search.SourceNote:
		n, found, err := Optional(ScanNote(t.Row(SelectNote, id)))
		if err != nil || !found {
			return nil, err
		}
		return search.OfNote(n), nil
	}
	return nil, nil
}

func (t *Tx) projectOf(id amber.SessionID) (string, error) {
	project, _, err := Optional(ScanText(t.Row(projectOf, id)))
	return project, err
}
