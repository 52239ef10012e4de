package sqlite

import (
	"context"

	"github.com/amber-memory/amber"
)

const (
	countMemories = `SELECT kind, scope, trust, deleted_at IS NOT NULL, count(*) FROM memories GROUP BY 1, 2, 3, 4`

	// countTotals reads the number of changes from the last sequence: nothing
	// is ever deleted from the log.
	countTotals = `SELECT
 (SELECT count(*) FROM memories) + (SELECT count(*) FROM revisions),
 (SELECT count(*) FROM relations WHERE deleted_at IS NULL),
 (SELECT count(*) FROM embeddings),
 (SELECT count(*) FROM sessions),
 (SELECT count(*) FROM turns),
 (SELECT count(*) FROM loops),
 (SELECT count(*) FROM compactions),
 (SELECT coalesce(max(seq), 0) FROM changes)`

	countBytes = `SELECT c.page_count * s.page_size FROM pragma_page_count c, pragma_page_size s`
)

var _ amber.StatsReader = (*Store)(nil)

// Stats implements [amber.StatsReader]. Everything but the size of control.db
// is counted in one view.
func (s *Store) Stats(ctx context.Context) (amber.Stats, error) {
	n := amber.Stats{
		ByKind:  map[amber.MemoryKind]int64{},
		ByScope: map[amber.Scope]int64{},
		ByTrust: map[amber.Trust]int64{},
	}
	var memory, control int64
	err := s.memory.view(ctx, "count", "", func(t *tx) error {
		if err := t.countMemories(&n); err != nil {
			return err
		}
		err := t.Row(countTotals).Scan(&n.Revisions, &n.Relations, &n.Embeddings, &n.Sessions,
			&n.Turns, &n.Loops, &n.Compactions, &n.Changes)
		if err != nil {
			return err
		}
		return t.Row(countBytes).Scan(&memory)
	})
	if err != nil {
		return amber.Stats{}, err
	}
	err = s.control.view(ctx, "count", "", func(t *tx) error { return t.Row(countBytes).Scan(&control) })
	n.Bytes = memory + control
	return n, err
}

// countMemories counts live memories by each of their traits, and tombstones.
func (t *tx) countMemories(n *amber.Stats) error {
	return t.Each(countMemories, nil, func(s scanner) error {
		var (
			kind    amber.MemoryKind
			scope   amber.Scope
			trust   amber.Trust
			deleted bool
			count   int64
		)
		if err := s.Scan(&kind, &scope, &trust, &deleted, &count); err != nil {
			return err
		}
		if deleted {
			n.Deleted += count
			return nil
		}
		n.Memories += count
		n.ByKind[kind] += count
		n.ByScope[scope] += count
		n.ByTrust[trust] += count
		return nil
	})
}
