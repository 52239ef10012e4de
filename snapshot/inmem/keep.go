package inmem

import (
	"context"

	"github.com/amber-memory/amber"
)

// DeleteSnapshot implements [amber.SnapshotKeeper].
func (s *Snapshotter) DeleteSnapshot(ctx context.Context, ref amber.SnapshotRef) error {
	const op = "delete snapshot"
	if err := checkRef(ref); err != nil {
		return err
	}
	return s.run(ctx, op, func() error {
		x, err := s.find(ref)
		if err != nil {
			return err
		}
		shelf := s.vault(ref.Tenant).shelf(ref.Agent)
		switch {
		case x.meta.Pinned:
			return amber.Errorf(amber.KindRefused, op, string(ref.ID), "it is pinned")
		case len(shelf.snapshots) == 1:
			return amber.Errorf(amber.KindRefused, op, string(ref.ID), "it is the last snapshot of agent %s", string(ref.Agent))
		}
		shelf.delete(x)
		return nil
	})
}

// PinSnapshot implements [amber.SnapshotKeeper].
func (s *Snapshotter) PinSnapshot(ctx context.Context, ref amber.SnapshotRef, pinned bool) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	return s.run(ctx, "pin snapshot", func() error {
		x, err := s.find(ref)
		if err == nil {
			x.meta.Pinned = pinned
		}
		return err
	})
}

// CollectGarbage implements [amber.SnapshotKeeper]. A pack is one part of a
// snapshot here, and there is no grace time.
func (s *Snapshotter) CollectGarbage(ctx context.Context, r amber.GCRequest) (amber.GCReport, error) {
	report := amber.GCReport{Orphans: []string{}, DryRun: r.DryRun}
	if _, err := amber.ParseTenantID(string(r.Tenant)); err != nil {
		return report, err
	}
	err := s.run(ctx, "collect garbage", func() error {
		v := s.vault(r.Tenant)
		users := v.users()
		for digest, data := range v.blobs {
			if users[digest] != nil {
				continue
			}
			report.Deleted++
			report.Freed += int64(len(data))
			if !r.DryRun {
				delete(v.blobs, digest)
			}
		}
		return nil
	})
	return report, err
}
