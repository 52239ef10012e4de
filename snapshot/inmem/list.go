package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// ListSnapshots implements [amber.SnapshotReader].
func (s *Snapshotter) ListSnapshots(ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
	const op = "list snapshots"
	page := amber.Page[amber.SnapshotMeta]{Items: []amber.SnapshotMeta{}}
	if err := checkNames(q.Tenant, q.Agent); err != nil {
		return page, err
	}
	if q.Limit < 0 {
		return page, amber.Errorf(amber.KindInvalid, op, "", "the limit is negative")
	}
	limit := min(cmp.Or(q.Limit, amber.DefaultPageSize), amber.MaxPageSize)
	after, err := parsePlace(q.Cursor)
	if err != nil {
		return page, err
	}
	err = s.run(ctx, op, func() error {
		list := s.vault(q.Tenant).shelf(q.Agent).newestFirst()
		if q.Cursor != "" {
			list = slices.DeleteFunc(list, func(x *snapshot) bool { return placeOf(x).compare(after) >= 0 })
		}
		for _, x := range list[:min(limit, len(list))] {
			page.Items = append(page.Items, x.told())
		}
		if len(list) > limit {
			page.Next = placeOf(list[limit-1]).cursor()
		}
		return nil
	})
	return page, err
}

// place is where a snapshot stands in a listing: by time, then by id, both
// falling.
type place struct {
	ms int64
	id amber.SnapshotID
}

func placeOf(x *snapshot) place { return place{x.meta.CreatedAt.UnixMilli(), x.meta.ID} }

func (p place) compare(q place) int { return cmp.Or(cmp.Compare(p.ms, q.ms), cmp.Compare(p.id, q.id)) }

func (p place) cursor() amber.Cursor { return amber.Cursor(fmt.Sprintf("%d.%s", p.ms, p.id)) }

// parsePlace reads a cursor; "" gives the zero place.
func parsePlace(c amber.Cursor) (place, error) {
	var p place
	if c == "" {
		return p, nil
	}
	_, err := fmt.Sscanf(string(c), "%d.%s", &p.ms, &p.id)
	if _, idErr := amber.ParseSnapshotID(string(p.id)); err != nil || idErr != nil || p.cursor() != c {
		return p, amber.Errorf(amber.KindInvalid, "list snapshots", "", "the cursor is not one of this listing")
	}
	return p, nil
}

// ShowSnapshot implements [amber.SnapshotReader].
func (s *Snapshotter) ShowSnapshot(ctx context.Context, ref amber.SnapshotRef) (amber.SnapshotDetail, error) {
	var d amber.SnapshotDetail
	if err := checkRef(ref); err != nil {
		return d, err
	}
	err := s.run(ctx, "show snapshot", func() error {
		x, err := s.find(ref)
		if err != nil {
			return err
		}
		d = amber.SnapshotDetail{
			SnapshotMeta: x.told(), Parts: slices.Clone(x.parts),
			Sources: []amber.SourceReport{}, Checks: []amber.Check{},
		}
		return nil
	})
	return d, err
}
