package sqlrows

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/amber-memory/amber/internal/recall/search"
)

const (
	countPending = `SELECT count(*) FROM (SELECT 1 FROM passages p WHERE row > ?1
 AND NOT EXISTS (SELECT 1 FROM index_vectors v WHERE v.model = ?2 AND v.row = p.row) ORDER BY row LIMIT ?3) AS few`
	selectPending = `SELECT row, source, owner, part, EXISTS (SELECT 1 FROM index_vectors v WHERE v.model = ?2 AND v.row = p.row)
FROM passages p WHERE row > ?1 ORDER BY row LIMIT ?3`
	isPassage     = `SELECT EXISTS (SELECT 1 FROM passages WHERE row = ?)`
	countPassages = `SELECT count(*) FROM passages`
	countAllTail  = `SELECT count(*) FROM index_tail`
	countSegments = `SELECT count(*) FROM index_segments WHERE level >= 0`
	anySigns      = `SELECT EXISTS (SELECT 1 FROM index_signs WHERE model = ?)`
	countVectors  = `SELECT count(*) FROM index_vectors WHERE model = ?`

	allPassages = `SELECT row, source, owner, part, digest FROM passages WHERE row > ? ORDER BY row LIMIT ?`
)

// emptyIndex takes everything out of the index, and marks everything to come in again.
var emptyIndex = []string{
	`DELETE FROM passages`, `DELETE FROM index_tail`, `DELETE FROM index_segments`, `DELETE FROM index_lists`, `DELETE FROM index_dead`,
	`DELETE FROM index_vectors`, `DELETE FROM index_signs`, `DELETE FROM index_state WHERE key = 'job' OR key LIKE 'through%'`,
	dirtyEverything,
}

// EmptyIndex takes everything out of the index, and marks all rows to come in again.
func (t *Tx) EmptyIndex() error {
	if _, err := t.nextNumber(stateSigns); err != nil {
		return err
	}
	return t.ExecAll(emptyIndex...)
}

// Waiting counts what is not in the index yet, and the passages that the model with most of them
// has no vectors of yet. It counts to most.
func (t *Tx) Waiting(models []string, most int64) (rows, passages int64, err error) {
	if err := t.Row(countDirty, most).Scan(&rows); err != nil {
		return rows, 0, err
	}
	for _, model := range models {
		through, _, err := t.state(stateThrough + model)
		if err != nil {
			return rows, 0, err
		}
		var of int64
		if err := t.Row(countPending, through, model, most).Scan(&of); err != nil {
			return rows, 0, err
		}
		passages = max(passages, of)
	}
	return rows, passages, nil
}

// Pending is a passage whose vector is to be made.
type Pending struct {
	Row  int64
	Text string
}

// Pending looks at n passages behind those that a model is through with, and returns those
// without a vector, and the row that the model is through with then. Both rows are the same
// where nothing is left.
func (t *Tx) Pending(model string, n int) (pending []Pending, before, through int64, err error) {
	if before, _, err = t.state(stateThrough + model); err != nil {
		return nil, 0, 0, err
	}
	through = before
	type row struct {
		row           int64
		source, owner string
		part          int
		has           bool
	}
	rows, err := All(t, func(s scanner) (r row, err error) {
		err = s.Scan(&r.row, &r.source, &r.owner, &r.part, &r.has)
		return r, err
	}, selectPending, before, model, n)
	if err != nil {
		return nil, 0, 0, err
	}
	owners := texts{tx: t}
	for _, r := range rows {
		if through = r.row; r.has {
			continue
		}
		texts, err := owners.of(r.source, r.owner)
		if _, bad := AsBadRow(err); bad || err == nil && r.part >= len(texts) {
			continue // it is dirty, or was until now
		}
		if err != nil {
			return nil, 0, 0, err
		}
		pending = append(pending, Pending{r.row, texts[r.part].Meant})
	}
	return pending, before, through, nil
}

// PutPending stores vectors of passages that are still there, and how far the model has
// come.
func (t *Tx) PutPending(model string, vectors map[int64]search.Vector, through int64) error {
	for row := range vectors {
		var there bool
		if err := t.Row(isPassage, row).Scan(&there); err != nil {
			return err
		}
		if !there {
			delete(vectors, row)
		}
	}
	if err := (IndexRows{t}).PutVectors(model, vectors); err != nil {
		return err
	}
	before, _, err := t.state(stateThrough + model)
	if err != nil || before >= through {
		return err
	}
	return t.putState(stateThrough+model, through, nil)
}

// DropOtherModels removes the vectors of every model but some.
func (t *Tx) DropOtherModels(models []string) (int, error) {
	others, err := All(t, ScanText, selectModels)
	if err != nil {
		return 0, err
	}
	others = slices.DeleteFunc(others, func(m string) bool { return slices.Contains(models, m) })
	for _, m := range others {
		if _, err := t.nextNumber(stateSigns); err != nil {
			return 0, err
		}
		for _, q := range []string{dropVectors, dropSigns} {
			if err := t.exec(q, m); err != nil {
				return 0, err
			}
		}
		if err := t.exec(deleteState, stateThrough+m); err != nil {
			return 0, err
		}
	}
	return len(others), nil
}

// HasVectors reports whether a model has vectors of any passage.
func (t *Tx) HasVectors(model string) (has bool, err error) {
	err = t.Row(anySigns, model).Scan(&has)
	return has, err
}

// IndexCounts says what the index holds.
type IndexCounts struct {
	Passages, Segments, Tail, Vectors int64
	Waiting, Pending                  int64
}

// CountBacklog says how many passages there are, and what is not in the index yet: what can
// be told without reading all of it.
func (t *Tx) CountBacklog(models []string) (c IndexCounts, err error) {
	if c.Waiting, c.Pending, err = t.Waiting(models, math.MaxInt64); err != nil {
		return c, err
	}
	return c, t.Row(countPassages).Scan(&c.Passages)
}

// CountIndex says what the index holds, and what is not in it yet.
func (t *Tx) CountIndex(models []string) (c IndexCounts, err error) {
	if c, err = t.CountBacklog(models); err != nil {
		return c, err
	}
	for _, q := range []struct {
		query string
		into  *int64
		args  []any
	}{
		{countSegments, &c.Segments, nil}, {countAllTail, &c.Tail, nil},
	} {
		if err := t.Row(q.query, q.args...).Scan(q.into); err != nil {
			return c, err
		}
	}
	for _, model := range models {
		var of int64
		if err := t.Row(countVectors, model).Scan(&of); err != nil {
			return c, err
		}
		c.Vectors += of
	}
	return c, nil
}

// CheckIndex compares the documents of the index with the passages, and the passages with the rows
// that they were made of. It compares their words only if deep is true. It ignores rows that still
// wait to be indexed.
func (t *Tx) CheckIndex(deep bool) error {
	docs, err := search.Check(IndexRows{t})
	if err != nil {
		return Damaged("check index", "", err)
	}
	var wrong, missing int64
	seen, owners := map[[2]string]bool{}, texts{tx: t}
	for after := int64(0); ; {
		type row struct {
			row           int64
			source, owner string
			part          int
			digest        []byte
		}
		rows, err := All(t, func(s scanner) (r row, err error) {
			err = s.Scan(&r.row, &r.source, &r.owner, &r.part, &r.digest)
			return r, err
		}, allPassages, after, 500)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			after = r.row
			if !docs[r.row] {
				missing++
			}
			delete(docs, r.row)
			if seen[[2]string{r.source, r.owner}] = true; !deep {
				continue
			}
			texts, err := owners.of(r.source, r.owner)
			if _, bad := AsBadRow(err); bad {
				continue // another check reports it
			}
			if err != nil {
				return err
			}
			if r.part < len(texts) && bytes.Equal(texts[r.part].Digest(texts[r.part].Document(0)), r.digest) {
				continue
			}
			if dirty, err := t.isDirty(r.source, r.owner); err != nil {
				return err
			} else if !dirty {
				wrong++
			}
		}
	}
	absent, err := t.notIndexed(seen)
	if err != nil {
		return err
	}
	if wrong+missing+absent+int64(len(docs)) > 0 {
		return Damaged("check index", "", fmt.Errorf("%d records are missing in the index, %d passages say something else than their records, %d have no words, %d documents have no passage",
			absent, wrong, missing, len(docs)))
	}
	return nil
}

const (
	selectIsDirty = `SELECT EXISTS (SELECT 1 FROM index_dirty WHERE source = ? AND owner = ?)`
	selectNotes   = ` UNION ALL SELECT 'note', name FROM notes`
	selectOwners  = `SELECT 'memory', id FROM memories WHERE deleted_at IS NULL
 UNION ALL SELECT 'turn', id FROM turns UNION ALL SELECT 'compaction', id FROM compactions
 UNION ALL SELECT 'session', id FROM sessions UNION ALL SELECT 'activity', CAST(seq AS TEXT) FROM activity WHERE failed > 0`
)

func (t *Tx) isDirty(source, owner string) (dirty bool, err error) {
	err = t.Row(selectIsDirty, source, owner).Scan(&dirty)
	return dirty, err
}

// notIndexed counts the owners that have something to say and no passage.
func (t *Tx) notIndexed(seen map[[2]string]bool) (n int64, err error) {
	var unseen [][2]string
	owners := selectOwners
	if !t.isBefore(NotesSince) {
		owners += selectNotes
	}
	err = t.Each(owners, nil, func(s scanner) error {
		var o [2]string
		if err := s.Scan(&o[0], &o[1]); err != nil {
			return err
		}
		if !seen[o] {
			unseen = append(unseen, o)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, o := range unseen {
		texts, err := t.texts(o[0], o[1])
		if _, bad := AsBadRow(err); bad || err == nil && len(texts) == 0 {
			continue
		}
		if err != nil {
			return n, err
		}
		if dirty, err := t.isDirty(o[0], o[1]); err != nil {
			return n, err
		} else if !dirty {
			n++
		}
	}
	return n, nil
}

// texts reads the passages of owners. The parts of one follow each other, and it is read once
// for all of them.
type texts struct {
	tx    *Tx
	owner [2]string
	found []search.Text
	err   error
}

func (x *texts) of(source, owner string) ([]search.Text, error) {
	if o := [2]string{source, owner}; x.owner != o {
		x.owner = o
		x.found, x.err = x.tx.texts(source, owner)
	}
	return x.found, x.err
}
