package sqlcore

import (
	"context"
	"fmt"
)

// Some tables do not appear in the change log. The marks show their changes by counts and ends of
// tables to which rows are only added, and by positions.
const (
	markMemory = `SELECT coalesce((SELECT max(seq) FROM changes), 0) || '/' || (SELECT count(*) FROM incarnations)
 || '/' || (SELECT count(*) || '.' || coalesce(sum(expires_at), 0) FROM idempotency)
 || '/' || (SELECT count(*) || '.' || coalesce(sum(seq), 0) || '.' || coalesce(max(last_at), 0) FROM journal_cursors)
 || '/' || (SELECT count(*) || '.' || coalesce(group_concat(place || project || position || chunk), '') FROM sync_places)
 || '/' || (SELECT count(*) || '.' || coalesce(max(applied_at), 0) || '.' || coalesce(sum(again), 0) FROM sync_chunks)
 || '/' || (SELECT count(*) || '.' || coalesce(sum(last_seq), 0) FROM sync_imports)
 || '/' || (SELECT count(*) || '.' || coalesce(group_concat(place || chunk || kind), '') FROM sync_quarantine)
 || '/' || (SELECT count(*) FROM sync_waiting) || '/' || (SELECT count(*) FROM sync_links)
 || '/' || (SELECT count(*) FROM sync_held) || '/' || (SELECT count(*) FROM sync_removed) || '/' || (SELECT count(*) FROM sync_spared)`
	markControl = `SELECT coalesce((SELECT max(seq) FROM changes), 0) || '/' || (SELECT count(*) FROM incarnations)`
)

// Mark returns a text that is another one whenever anything in the databases is.
// It does not change when they are only opened, read or checkpointed.
func (s *Contracts) Mark(ctx context.Context) (string, error) {
	mark := ""
	for _, q := range []struct {
		name  string
		d     Database
		query string
	}{{"memory", s.memory, markMemory}, {"control", s.control, markControl}} {
		err := q.d.View(ctx, "mark databases", q.d.Name(), func(t *Tx) error {
			var text string
			err := t.Row(q.query).Scan(&text)
			mark += fmt.Sprintf("%s %s %s\n", q.name, t.Current.Incarnation, text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return mark, nil
}
