package inmem

import (
	"context"
	"math"
	"slices"

	"github.com/amber-memory/amber"
)

// Restore implements [amber.Restorer].
func (s *Snapshotter) Restore(ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.RestoreReport{}, err
	}
	if r.To == "" {
		r.To = r.Agent
	}
	report := amber.RestoreReport{From: r.ID, Agent: r.To, Restored: []string{}, Checks: []amber.Check{}, DryRun: r.DryRun}
	err = s.run(ctx, "restore", func() error { return s.restore(r, &report) })
	return report, err
}

// restore does it. The caller holds the mutex.
func (s *Snapshotter) restore(r amber.RestoreRequest, report *amber.RestoreReport) error {
	k := key{r.Tenant, r.To}
	agent := s.agents[k]
	if agent != nil && r.To != r.Agent {
		return amber.Errorf(amber.KindConflict, "restore", string(r.To), "there is an agent of that name; a fork makes a new one")
	}
	x, err := s.find(r.SnapshotRef)
	if err != nil {
		return s.elsewhere(r.SnapshotRef, err)
	}
	contents, err := s.vault(r.Tenant).contents(x)
	if err != nil {
		return err
	}
	report.Checks = s.checks(x)
	for _, p := range allParts {
		if slices.Contains(r.Only, p) {
			report.Restored = append(report.Restored, p)
		}
	}
	if agent == nil {
		return s.fork(k, contents, x, report)
	}
	next := agent.contents.clone()
	next.take(contents, r.Only)
	report.Plan = compare(agent.contents, next, r.DryRun)
	report.Plan.SpaceNeeded, report.Plan.SpaceFree = x.meta.BytesTotal, math.MaxInt64
	if r.DryRun {
		return nil
	}
	return s.replace(k, next, r, report)
}

// replace puts contents in the place of an agent.
func (s *Snapshotter) replace(k key, next Contents, r amber.RestoreRequest, report *amber.RestoreReport) error {
	agent := s.agents[k]
	old := map[int64]Contents{}
	switch {
	case !r.NoSafetySnapshot:
		safety, err := s.take(k, amber.LabelBeforeRestore+string(r.ID), false)
		if err != nil {
			return err
		}
		report.SafetySnapshot = safety.meta.ID
	case !r.DiscardOld:
		report.OldGeneration = agent.generation
		old[agent.generation] = agent.contents
	}
	agent.contents, agent.old = next, old
	agent.generation++
	report.Generation = agent.generation
	return nil
}

// fork makes an agent of contents.
func (s *Snapshotter) fork(k key, c Contents, x *snapshot, report *amber.RestoreReport) error {
	if len(report.Restored) < len(allParts) {
		return amber.Errorf(amber.KindInvalid, "restore", string(k.agent), "there is no such agent yet: all of it is restored, or nothing")
	}
	report.Plan = compare(Contents{}, c, report.DryRun)
	report.Plan.SpaceNeeded, report.Plan.SpaceFree = x.meta.BytesTotal, math.MaxInt64
	if report.DryRun {
		return nil
	}
	if err := s.make(k, c); err != nil {
		return err
	}
	report.Generation = s.agents[k].generation
	return nil
}

// elsewhere says whose snapshot it is when it is another agent's of the same
// tenant.
func (s *Snapshotter) elsewhere(ref amber.SnapshotRef, err error) error {
	for agent := range s.vault(ref.Tenant).shelves {
		if _, ferr := s.find(amber.SnapshotRef{Tenant: ref.Tenant, Agent: agent, ID: ref.ID}); ferr == nil {
			return amber.Errorf(amber.KindCrossTenant, "restore", string(ref.ID), "it is a snapshot of agent %s", string(agent))
		}
	}
	return err
}

// checks are those that reading a snapshot whole has made.
func (s *Snapshotter) checks(x *snapshot) []amber.Check {
	list := []amber.Check{}
	for _, p := range x.parts {
		list = append(list, amber.Check{Name: "pages", Part: p.Name, Digest: p.Digest, At: s.now(), OK: true})
	}
	return list
}
