package inmem

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// VerifySnapshot implements [amber.SnapshotReader].
func (s *Snapshotter) VerifySnapshot(ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
	report := amber.VerifyReport{ID: r.ID, Checked: []string{}, NotChecked: []string{}, Damaged: []amber.Damage{}, Checks: []amber.Check{}}
	if err := checkRef(r.SnapshotRef); err != nil {
		return report, err
	}
	err := s.run(ctx, "verify snapshot", func() error {
		x, err := s.find(r.SnapshotRef)
		if err == nil {
			s.verify(x, r.ReadData, &report)
		}
		return err
	})
	return report, err
}

func (s *Snapshotter) verify(x *snapshot, readData bool, report *amber.VerifyReport) {
	vault := s.vault(x.meta.Tenant)
	note := func(object, checked string, err error) {
		if err == nil {
			report.Checked = append(report.Checked, checked)
			return
		}
		report.Damaged = append(report.Damaged, amber.Damage{Object: object, Reason: err.Error(), Snapshots: []amber.SnapshotID{x.meta.ID}})
	}
	note("manifest", "manifest: its digest", x.check())
	note("chain", "chain: what it follows is a snapshot or a stub", vault.shelf(x.meta.Agent).checkChain(x))
	for _, p := range x.parts {
		if !readData {
			note(p.Name, p.Name+": it is there", vault.has(p))
			continue
		}
		_, err := vault.read(p)
		note(p.Name, fmt.Sprintf("%s: %d bytes read and compared", p.Name, p.Bytes), err)
		c := amber.Check{Name: "pages", Part: p.Name, Digest: p.Digest, At: s.now(), OK: err == nil}
		if err != nil {
			c.Detail = err.Error()
		}
		report.Checks = append(report.Checks, c)
	}
	if !readData {
		report.NotChecked = append(report.NotChecked, "the content of parts")
	}
}

// check compares a snapshot with its digest.
func (x *snapshot) check() error {
	if seal(x.meta, x.parts) != x.meta.Digest {
		return amber.Errorf(amber.KindDamaged, "check manifest", string(x.meta.ID), "its digest is another")
	}
	return nil
}

func (v *vault) has(p amber.SnapshotPart) error {
	if _, ok := v.blobs[p.Digest]; !ok {
		return amber.Errorf(amber.KindDamaged, "find part", p.Name, "it is not there")
	}
	return nil
}

// CheckRepository implements [amber.RepositoryChecker].
func (s *Snapshotter) CheckRepository(ctx context.Context, r amber.CheckRequest) (amber.CheckReport, error) {
	report := amber.CheckReport{DataRead: r.ReadData, Checked: []string{}, NotChecked: []string{}, Damaged: []amber.Damage{}}
	if _, err := amber.ParseTenantID(string(r.Tenant)); err != nil {
		return report, err
	}
	err := s.run(ctx, "check repository", func() error {
		v := s.vault(r.Tenant)
		v.checkSnapshots(&report)
		v.checkBlobs(r.ReadData, &report)
		return nil
	})
	return report, err
}

// checkSnapshots looks at every manifest, its chain and its parts.
func (v *vault) checkSnapshots(report *amber.CheckReport) {
	for _, agent := range slices.Sorted(maps.Keys(v.shelves)) {
		shelf := v.shelves[agent]
		for _, x := range shelf.snapshots {
			report.Snapshots++
			errs := []error{x.check(), shelf.checkChain(x)}
			for _, p := range x.parts {
				errs = append(errs, v.has(p))
			}
			for _, err := range errs {
				if err != nil {
					report.Damaged = append(report.Damaged, amber.Damage{
						Object: "snapshot " + string(x.meta.ID), Reason: err.Error(), Snapshots: []amber.SnapshotID{x.meta.ID},
					})
				}
			}
		}
	}
	report.Checked = append(report.Checked, "manifests, chains, and that parts are there")
}

// checkBlobs counts everything that is stored and, on request, reads it.
func (v *vault) checkBlobs(readData bool, report *amber.CheckReport) {
	users := v.users()
	for _, digest := range slices.Sorted(maps.Keys(v.blobs)) {
		data := v.blobs[digest]
		report.Blobs++
		report.Bytes += int64(len(data))
		if users[digest] == nil {
			report.Unused += int64(len(data))
		}
		if readData && digestOf(data) != digest {
			report.Damaged = append(report.Damaged, amber.Damage{Object: digest, Reason: "its bytes are others", Snapshots: users[digest]})
		}
	}
	if readData {
		report.Checked = append(report.Checked, "the content of parts")
	} else {
		report.NotChecked = append(report.NotChecked, "the content of parts")
	}
}
