package inmem

import (
	"cmp"
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Activities = (*Store)(nil)

// ListActivity implements [amber.Activities].
func (s *Store) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
	if kind != "" {
		if err := amber.CheckActivityKind(kind); err != nil {
			return nil, err
		}
	}
	return run(ctx, s, "list activity", func() ([]amber.Activity, error) {
		found := where(slices.Values(s.activity[id]), func(a amber.Activity) bool { return kind == "" || a.Kind == kind })
		slices.SortStableFunc(found, func(a, b amber.Activity) int {
			return cmp.Compare(a.FirstAt.UnixMilli(), b.FirstAt.UnixMilli())
		})
		return found, nil
	})
}

// ActivityNamed implements [amber.Activities].
func (s *Store) ActivityNamed(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error) {
	if err := amber.CheckActivityKind(kind); err != nil {
		return nil, err
	}
	return run(ctx, s, "list activity", func() ([]amber.Activity, error) {
		found := []amber.Activity{}
		for _, done := range s.activity {
			found = append(found, where(slices.Values(done), func(a amber.Activity) bool { return a.Kind == kind && a.Name == name })...)
		}
		slices.SortFunc(found, func(a, b amber.Activity) int {
			return cmp.Or(cmp.Compare(b.LastAt.UnixMilli(), a.LastAt.UnixMilli()), cmp.Compare(a.SessionID, b.SessionID))
		})
		return found[:min(len(found), amber.MaxPageSize)], nil
	})
}

// do notes that something was done. Where that makes too many of its kind,
// the one done longest ago goes.
func (s *Store) do(at amber.Time, a amber.Activity) {
	a.FirstAt, a.LastAt = cmp.Or(a.FirstAt, at), cmp.Or(a.LastAt, at)
	if s.textErased(a) {
		a.Detail = ""
	}
	done := slices.Clone(s.activity[a.SessionID])
	if i := slices.IndexFunc(done, func(d amber.Activity) bool { return d.Kind == a.Kind && d.Name == a.Name }); i >= 0 {
		done[i] = done[i].Again(a)
	} else {
		done = bounded(append(done, a), a.Kind)
	}
	s.activity[a.SessionID] = done
}

// textErased reports whether the detail of an activity is a digest of a text that was erased
// before the journal was drained: of an erased memory, or of a turn that is gone.
func (s *Store) textErased(a amber.Activity) bool {
	switch layer, owner := a.Shown(); layer {
	case amber.LayerMemory:
		_, gone := s.erased[amber.MemoryID(owner)]
		return gone
	case amber.LayerExchange:
		return !slices.ContainsFunc(s.turns, func(t amber.Turn) bool { return string(t.ID) == owner })
	}
	return false
}

// bounded drops the activity of a kind that was done longest ago, if there is
// one too many.
func bounded(done []amber.Activity, kind amber.ActivityKind) []amber.Activity {
	count, oldest := 0, -1
	for i, a := range done {
		if a.Kind != kind {
			continue
		}
		count++
		if oldest < 0 || a.LastAt.Before(done[oldest].LastAt) {
			oldest = i
		}
	}
	if count <= amber.MaxActivity {
		return done
	}
	return slices.Delete(done, oldest, oldest+1)
}
