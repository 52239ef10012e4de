package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
)

const (
	// countMemories reads an index in its order, so nothing has to be sorted.
	countMemories = `SELECT kind, scope, count(*) FILTER (WHERE deleted_at IS NOT NULL), count(*) FILTER (WHERE deleted_at IS NULL AND trust = 'own'),
 count(*) FILTER (WHERE deleted_at IS NULL AND trust = 'signed'), count(*) FILTER (WHERE deleted_at IS NULL AND trust = 'agent'), count(*) FILTER (WHERE deleted_at IS NULL AND trust = 'derived'), count(*) FILTER (WHERE deleted_at IS NULL AND trust = 'imported')
FROM memories GROUP BY scope, identity, kind`

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
)

var _ amber.StatsReader = (*Contracts)(nil)

// Stats implements [amber.StatsReader]. Everything but the size of the control plane
// is counted in one view.
func (s *Contracts) Stats(ctx context.Context) (amber.Stats, error) {
	n := amber.Stats{
		ByKind:  map[amber.MemoryKind]int64{},
		ByScope: map[amber.Scope]int64{},
		ByTrust: map[amber.Trust]int64{},
	}
	var memory, control int64
	err := s.memory.View(ctx, "count", "", func(t *Tx) error {
		if err := t.countMemories(&n); err != nil {
			return err
		}
		err := t.Row(countTotals).Scan(&n.Revisions, &n.Relations, &n.Embeddings, &n.Sessions,
			&n.Turns, &n.Loops, &n.Compactions, &n.Changes)
		if err != nil {
			return err
		}
		memory, err = s.memory.Bytes(t)
		return err
	})
	if err != nil {
		return amber.Stats{}, err
	}
	err = s.control.View(ctx, "count", "", func(t *Tx) (err error) {
		control, err = s.control.Bytes(t)
		return err
	})
	n.Bytes = memory + control
	return n, err
}

// countMemories counts live memories by each of their traits, and tombstones.
func (t *Tx) countMemories(n *amber.Stats) error {
	trusts := amber.Trusts()
	return t.Each(countMemories, nil, func(s scanner) error {
		var (
			kind    amber.MemoryKind
			scope   amber.Scope
			deleted int64
			live    [5]int64
		)
		if err := s.Scan(&kind, &scope, &deleted, &live[0], &live[1], &live[2], &live[3], &live[4]); err != nil {
			return err
		}
		n.Deleted += deleted
		for i, count := range live {
			if count == 0 {
				continue
			}
			n.Memories += count
			n.ByKind[kind] += count
			n.ByScope[scope] += count
			n.ByTrust[trusts[i]] += count
		}
		return nil
	})
}
