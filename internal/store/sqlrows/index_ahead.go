package sqlrows

import (
	"encoding/binary"

	"github.com/amber-memory/amber/internal/recall/search"
)

// These statements read ahead what it takes to bring a few memories into the index. The transaction
// asks them all at once where each question goes over a network. It updates the answers with its
// own writes, and drops them when it is done with the index.

const (
	dirtyMemories = `(SELECT owner FROM index_dirty WHERE source = 'memory' ORDER BY owner LIMIT ?)`
	aheadConcepts = `SELECT memory_id, concept FROM concepts WHERE memory_id IN ` + dirtyMemories + ` ORDER BY memory_id, concept`
	aheadMemories = `SELECT ` + MemoryColumns + ` FROM memories WHERE id IN ` + dirtyMemories
	aheadPassages = `SELECT owner, row, part, digest, place FROM passages WHERE source = 'memory' AND owner IN ` + dirtyMemories + ` ORDER BY owner, part`
	aheadState    = `SELECT key, number, data FROM index_state WHERE key IN ('` + stateRow + `', '` + stateSegment + `', '` + stateMoves + `', '` + stateJob + `', '` + statePace + `')`
	aheadEnds     = `SELECT coalesce((SELECT max(row) FROM passages), 0), coalesce((SELECT min(row) FROM index_tail), 0), coalesce((SELECT max(row) FROM index_tail), 0)`
	aheadDead     = `SELECT segment, row FROM index_dead ORDER BY segment, row LIMIT ?`
)

const (
	// farAhead is how many memories are read together where questions are far.
	farAhead = 256
	// fewDead is how many dead documents are asked for ahead.
	fewDead = 512
)

// ahead is what is known of the index.
type ahead struct {
	state       map[string]stateValue
	lastPassage int64
	first, last int64 // rows of the tail; 0 for none. -1: not known
	segments    []search.Segment
	hasSegments bool
	dead        map[int64][]int64
	hasDead     bool
}

type stateValue struct {
	number int64
	data   []byte
}

// isAhead reports whether a key of index_state is among those that are asked for ahead.
func isAhead(key string) bool {
	switch key {
	case stateRow, stateSegment, stateMoves, stateJob, statePace:
		return true
	}
	return false
}

// lookFar reads who was written, what is needed of the first memories among them, and where the index stands.
func (x *indexer) lookFar(most int) (owners []owner, err error) {
	a := &ahead{state: map[string]stateValue{}, hasSegments: true, segments: []search.Segment{}, dead: map[int64][]int64{}}
	x.known = map[string]known{}
	concepts := map[string][]string{}
	dead := 0
	questions := []struct {
		query string
		args  []any
		scan  func(s scanner) error
	}{
		{selectDirty, []any{most}, func(s scanner) error {
			var o owner
			err := s.Scan(&o.source, &o.id)
			owners = append(owners, o)
			return err
		}},
		{aheadConcepts, []any{farAhead}, scanConcept(concepts)},
		{aheadMemories, []any{farAhead}, x.scanKnown(concepts)},
		{aheadPassages, []any{farAhead}, x.scanOwn},
		{aheadState, nil, func(s scanner) error {
			var key string
			var v stateValue
			err := s.Scan(&key, &v.number, &v.data)
			a.state[key] = v
			return err
		}},
		{aheadEnds, nil, func(s scanner) error { return s.Scan(&a.lastPassage, &a.first, &a.last) }},
		{selectSegments, nil, func(s scanner) error {
			g, err := scanSegment(s)
			a.segments = append(a.segments, g)
			return err
		}},
		{aheadDead, []any{fewDead + 1}, func(s scanner) error {
			var segment, row int64
			err := s.Scan(&segment, &row)
			a.dead[segment] = append(a.dead[segment], row)
			dead++
			return err
		}},
	}
	queries, args := make([]string, len(questions)), make([][]any, len(questions))
	for i, q := range questions {
		queries[i], args[i] = q.query, q.args
	}
	err = x.several(queries, args, func(n int, r Row) error { return questions[n].scan(strictRow{r}) })
	if err != nil {
		return nil, err
	}
	a.hasDead = dead <= fewDead
	n := 0
	for _, o := range owners {
		if o.source != search.SourceMemory {
			continue
		}
		if n++; n > farAhead {
			break
		}
		if _, ok := x.known[o.id]; !ok { // it is gone
			x.known[o.id] = known{}
		}
	}
	x.ahead = a
	return owners, nil
}

// owed is how much merging the documents have brought that was not done, where that is done in larger
// steps: each of them reads from all segments that are merged.
func (x *indexer) owed() int {
	n, size := binary.Uvarint(x.ahead.state[stateRow].data)
	if size <= 0 || n > maxOwed {
		return 0
	}
	return int(n)
}

const (
	// enoughOwed is how many rows of merging are done at once.
	enoughOwed = 4096
	maxOwed    = 1 << 20
)
