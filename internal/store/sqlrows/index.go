package sqlrows

import (
	"errors"
	"slices"

	"github.com/amber-memory/amber/internal/recall/search"
)

const (
	selectSegments = `SELECT id, edition, first_row, last_row, docs, words, level FROM index_segments ORDER BY first_row, id`
	selectDocs     = `SELECT documents FROM index_segments WHERE id = ?`
	selectTerms    = `SELECT terms FROM index_segments WHERE id = ?`
	insertSegment  = `INSERT INTO index_segments (id, edition, first_row, last_row, docs, words, level, documents, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateSegment  = `UPDATE index_segments SET edition = ?2, first_row = ?3, last_row = ?4, docs = ?5, words = ?6, level = ?7, documents = ?8, terms = ?9 WHERE id = ?1`
	deleteSegment  = `DELETE FROM index_segments WHERE id = ?`

	selectLists     = `SELECT term, list FROM index_lists WHERE segment = ?1 AND term IN (SELECT value FROM json_each(?2))`
	selectNextLists = `SELECT term, list FROM index_lists WHERE segment = +? AND term > +? ORDER BY term LIMIT ?` // planned once: see ownPassages
	selectListTerms = `SELECT term FROM index_lists WHERE segment = ? ORDER BY term`
	upsertList      = `INSERT OR REPLACE INTO index_lists (segment, term, list) VALUES (?, ?, ?)`
	deleteList      = `DELETE FROM index_lists WHERE segment = ? AND term = ?`
	deleteLists     = `DELETE FROM index_lists WHERE segment = +?1 AND term <= (SELECT max(term) FROM (SELECT term FROM index_lists WHERE segment = +?1 ORDER BY term LIMIT ?2) AS next)`

	selectDead = `SELECT row FROM index_dead WHERE segment = ?`
	// Whose a document was is said by its passage, or where it was dead before.
	insertDead = `INSERT OR IGNORE INTO index_dead (segment, row, source, owner)
SELECT ?1, ?2, coalesce(max(source), ''), coalesce(max(owner), '') FROM
 (SELECT source, owner FROM passages WHERE row = ?2 UNION SELECT source, owner FROM index_dead WHERE row = ?2) AS whose`
	deleteDead = `DELETE FROM index_dead WHERE segment = ?`

	selectTail = `SELECT row, document FROM index_tail WHERE row > +? ORDER BY row LIMIT ?`
	tailRows   = `SELECT row FROM index_tail ORDER BY row`
	spanTail   = `SELECT coalesce((SELECT min(row) FROM index_tail), 0), coalesce((SELECT max(row) FROM index_tail), 0)`
	countTail  = `SELECT count(*) FROM (SELECT 1 FROM index_tail ORDER BY row LIMIT ?) AS few`
	upsertTail = `INSERT OR REPLACE INTO index_tail (row, document) VALUES (?, ?)`
	deleteTail = `DELETE FROM index_tail WHERE row = ?`

	deleteTailThrough = `DELETE FROM index_tail WHERE row <= ?`

	selectState = `SELECT number, data FROM index_state WHERE key = ?`
	upsertState = `INSERT OR REPLACE INTO index_state (key, number, data) VALUES (?, ?, ?)`
	deleteState = `DELETE FROM index_state WHERE key = ?`
)

// The keys of index_state.
const (
	stateRow     = "row"     // the last row of a passage
	stateSegment = "segment" // the last segment
	stateSigns   = "signs"   // the last edition of a chunk of signs; counts up with every change of them
	stateMoves   = "moves"   // how often the time or the conversation of a passage that stays has changed
	stateJob     = "job"     // what merging has begun
	statePace    = "pace"    // since when documents were counted that came many at a time; data: how many, and how many in the time before
	stateModel   = "model"   // data: the name of the model that serves
	stateThrough = "through" // and behind it the name of a model: rows up to this one have vectors
)

// IndexRows is the index in the rows of a file. It implements [search.Writer] and
// [search.Source].
type IndexRows struct{ *Tx }

var (
	_ search.Writer = IndexRows{}
	_ search.Source = IndexRows{}
)

// state returns a value of index_state, zeros where there is none.
func (t *Tx) state(key string) (number int64, data []byte, err error) {
	if t.ahead != nil && isAhead(key) {
		v := t.ahead.state[key]
		return v.number, v.data, nil
	}
	err = t.Row(selectState, key).Scan(&number, &data)
	if Absent(err) {
		err = nil
	}
	return number, data, err
}

func (t *Tx) putState(key string, number int64, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	if t.ahead != nil && isAhead(key) {
		t.ahead.state[key] = stateValue{number, data}
	}
	return t.Do(upsertState, key, number, data)
}

// nextNumber counts a counter of index_state up.
func (t *Tx) nextNumber(key string) (int64, error) {
	n, _, err := t.state(key)
	if err != nil {
		return 0, err
	}
	return n + 1, t.putState(key, n+1, nil)
}

// Segments implements [search.Rows].
func (x IndexRows) Segments() ([]search.Segment, error) {
	if x.ahead != nil && x.ahead.hasSegments {
		return slices.Clone(x.ahead.segments), nil
	}
	return All(x.Tx, scanSegment, selectSegments)
}

func scanSegment(s scanner) (g search.Segment, err error) {
	err = s.Scan(&g.ID, &g.Edition, &g.First, &g.Last, &g.Docs, &g.Words, &g.Level)
	return g, err
}

// Docs implements [search.Rows].
func (x IndexRows) Docs(segment int64) (b []byte, err error) {
	err = x.Row(selectDocs, segment).Scan(&b)
	return b, err
}

// Terms implements [search.Rows].
func (x IndexRows) Terms(segment int64) (b []byte, err error) {
	err = x.Row(selectTerms, segment).Scan(&b)
	return b, err
}

// ListTerms implements [search.Rows].
func (x IndexRows) ListTerms(segment int64) ([]string, error) {
	return All(x.Tx, ScanText, selectListTerms, segment)
}

// Lists implements [search.Rows].
func (x IndexRows) Lists(segment int64, terms []string) (map[string][]byte, error) {
	names, err := marshalList(terms)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(terms))
	err = x.Each(selectLists, []any{segment, names}, func(s scanner) error {
		e, err := scanEntry(s)
		out[e.Term] = e.List
		return err
	})
	return out, err
}

func scanEntry(s scanner) (e search.Entry, err error) {
	err = s.Scan(&e.Term, &e.List)
	return e, err
}

// Dead implements [search.Rows].
func (x IndexRows) Dead(segment int64) ([]int64, error) {
	if x.ahead != nil && x.ahead.hasDead {
		return slices.Clone(x.ahead.dead[segment]), nil
	}
	return All(x.Tx, scanNumber, selectDead, segment)
}

func scanNumber(s scanner) (n int64, err error) {
	err = s.Scan(&n)
	return n, err
}

// Tail implements [search.Rows].
func (x IndexRows) Tail(after int64, n int) ([]search.Document, error) {
	if n == 0 {
		n = -1
	}
	return All(x.Tx, func(s scanner) (search.Document, error) {
		var row int64
		var b []byte
		if err := s.Scan(&row, &b); err != nil {
			return search.Document{}, err
		}
		return search.UnmarshalDocument(row, b)
	}, selectTail, after, n)
}

// TailRows implements [search.Rows].
func (x IndexRows) TailRows() ([]int64, error) { return All(x.Tx, scanNumber, tailRows) }

// HasTail implements [search.Rows]. Rows are counted where there may be as many: the first
// and the last say that at once.
func (x IndexRows) HasTail(n int) (bool, error) {
	first, last, err := x.spanTail()
	if err != nil || last-first+1 < int64(n) {
		return false, err
	}
	var count int
	err = x.Row(countTail, n).Scan(&count)
	return count >= n, err
}

// spanTail returns the first and the last row of the tail, 0 where there is none.
func (x IndexRows) spanTail() (first, last int64, err error) {
	if x.ahead != nil && x.ahead.first >= 0 {
		return x.ahead.first, x.ahead.last, nil
	}
	err = x.Row(spanTail).Scan(&first, &last)
	return first, last, err
}

// PutTail implements [search.Writer].
func (x IndexRows) PutTail(d search.Document) error {
	if a := x.ahead; a != nil && a.first >= 0 {
		if a.first == 0 {
			a.first = d.Row
		}
		a.first, a.last = min(a.first, d.Row), max(a.last, d.Row)
	}
	return x.exec(upsertTail, d.Row, d.Marshal())
}

// DropTail implements [search.Writer].
func (x IndexRows) DropTail(row int64) error {
	if x.ahead != nil {
		x.ahead.first = -1
	}
	return x.exec(deleteTail, row)
}

// DropTailThrough implements [search.Writer].
func (x IndexRows) DropTailThrough(row int64) error {
	if x.ahead != nil {
		x.ahead.first = -1
	}
	return x.exec(deleteTailThrough, row)
}

// exec runs a statement.
func (t *Tx) exec(query string, args ...any) error { return t.Do(query, args...) }

// PutSegment implements [search.Writer].
func (x IndexRows) PutSegment(s search.Segment, c search.Content) (int64, error) {
	id, err := x.nextNumber(stateSegment)
	if err != nil {
		return 0, err
	}
	x.otherSegments()
	return id, x.exec(insertSegment, id, s.Edition, s.First, s.Last, s.Docs, s.Words, s.Level, c.Docs, c.Terms)
}

// ReplaceSegment implements [search.Writer].
func (x IndexRows) ReplaceSegment(s search.Segment, c search.Content) error {
	x.otherSegments()
	return x.exec(updateSegment, s.ID, s.Edition, s.First, s.Last, s.Docs, s.Words, s.Level, c.Docs, c.Terms)
}

// DropSegment implements [search.Writer].
func (x IndexRows) DropSegment(segment int64) error {
	x.otherSegments()
	x.otherDead()
	return errors.Join(x.exec(deleteSegment, segment), x.exec(deleteDead, segment))
}

// PutList implements [search.Writer].
func (x IndexRows) PutList(segment int64, term string, list []byte) error {
	return x.exec(upsertList, segment, term, list)
}

// DropList implements [search.Writer].
func (x IndexRows) DropList(segment int64, term string) error {
	return x.exec(deleteList, segment, term)
}

// DropLists implements [search.Writer].
func (x IndexRows) DropLists(segment int64, n int) (left bool, err error) {
	done, err := x.Exec(deleteLists, segment, n)
	return done >= int64(n), err
}

// maxPage bounds the bytes of lists that are read at a time.
const maxPage = 1 << 18

var errPage = errors.New("enough was read")

// NextLists implements [search.Writer].
func (x IndexRows) NextLists(segment int64, after string, n int) (out []search.Entry, err error) {
	size := 0
	err = x.Each(selectNextLists, []any{segment, after, n}, func(s scanner) error {
		e, err := scanEntry(s)
		if err != nil {
			return err
		}
		out = append(out, e)
		if size += len(e.List); size > maxPage {
			return errPage
		}
		return nil
	})
	if errors.Is(err, errPage) {
		err = nil
	}
	return out, err
}

// PutDead implements [search.Writer].
func (x IndexRows) PutDead(segment, row int64) error {
	x.otherDead()
	return x.exec(insertDead, segment, row)
}

// otherSegments forgets what was read of the segments, otherDead what was read of the dead.
func (x IndexRows) otherSegments() {
	if x.ahead != nil {
		x.ahead.hasSegments = false
	}
}

func (x IndexRows) otherDead() {
	if x.ahead != nil {
		x.ahead.hasDead = false
	}
}

// Job implements [search.Writer].
func (x IndexRows) Job() ([]byte, error) {
	_, data, err := x.state(stateJob)
	return data, err
}

// PutJob implements [search.Writer].
func (x IndexRows) PutJob(job []byte) error {
	if len(job) == 0 {
		if x.ahead != nil {
			delete(x.ahead.state, stateJob)
		}
		return x.exec(deleteState, stateJob)
	}
	return x.putState(stateJob, 0, job)
}

const (
	selectIDs      = `SELECT id FROM index_segments ORDER BY id`
	selectAllTerms = `SELECT term FROM index_lists`
)

// EachTerm calls fn with every term that is anywhere in the index, some more than once,
// and with the speakers of passages.
func (t *Tx) EachTerm(fn func(term string) error) error {
	for _, q := range []string{selectAllTerms, selectSpeakers} {
		err := t.Each(q, nil, func(s scanner) error {
			term, err := ScanText(s)
			if err != nil {
				return err
			}
			return fn(search.Word(term))
		})
		if err != nil {
			return err
		}
	}
	segments, err := All(t, scanNumber, selectIDs)
	if err != nil {
		return err
	}
	x := IndexRows{t}
	for _, id := range segments {
		b, err := x.Terms(id)
		if err != nil {
			return err
		}
		if err := search.EachTerm(b, fn); err != nil {
			return err
		}
	}
	tail, err := x.Tail(0, 0)
	if err != nil {
		return err
	}
	for _, d := range tail {
		for _, term := range d.Terms {
			if err := fn(search.Word(term.Text)); err != nil {
				return err
			}
		}
	}
	return nil
}

const selectSpeakers = `SELECT DISTINCT speaker FROM passages WHERE speaker <> ''`
