package inmem

import (
	"context"

	"github.com/amber-memory/amber"
)

var _ amber.StatsReader = (*Store)(nil)

// Stats implements [amber.StatsReader]. Bytes is 0: there is no disk.
func (s *Store) Stats(ctx context.Context) (amber.Stats, error) {
	return run(ctx, s, "count", func() (amber.Stats, error) {
		st := amber.Stats{
			ByKind: map[amber.MemoryKind]int64{}, ByScope: map[amber.Scope]int64{}, ByTrust: map[amber.Trust]int64{},
			Sessions: int64(len(s.sessions)), Turns: int64(len(s.turns)), Loops: int64(len(s.loops)),
			Compactions: int64(len(s.compactions)), Changes: int64(len(s.changes.entries)),
		}
		for _, r := range s.records {
			st.Revisions += int64(len(r.revisions))
			if !r.live() {
				st.Deleted++
				continue
			}
			m := r.present()
			st.Memories++
			st.ByKind[m.Kind]++
			st.ByScope[m.Scope]++
			st.ByTrust[m.Trust]++
		}
		for _, r := range s.relations {
			if r.DeletedAt.IsZero() {
				st.Relations++
			}
		}
		return st, nil
	})
}
