package inmem

import (
	"context"

	"github.com/amber-memory/amber"
)

// Snapshot implements [amber.SnapshotTaker].
func (s *Snapshotter) Snapshot(ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
	const op = "take snapshot"
	r, err := r.Normalize()
	if err != nil {
		return amber.SnapshotMeta{}, err
	}
	if len(r.Sources) > 0 {
		return amber.SnapshotMeta{}, notFound(op, r.Sources[0], "there is no source of that name")
	}
	var meta amber.SnapshotMeta
	err = s.run(ctx, op, func() error {
		k := key{r.Tenant, r.Agent}
		if s.agents[k] == nil {
			return noAgent(op, k)
		}
		x, err := s.take(k, r.Label, r.Pin)
		if err == nil {
			meta = x.told()
		}
		return err
	})
	return meta, err
}

// take freezes an agent that exists. The caller holds the mutex: that is the
// fence.
func (s *Snapshotter) take(k key, label string, pin bool) (*snapshot, error) {
	agent, vault := s.agents[k], s.vault(k.tenant)
	shelf := vault.shelf(k.agent)
	id, err := amber.NewUUID(s.clock(), s.random)
	if err != nil {
		return nil, err
	}
	tip := shelf.tip(agent.device)
	x := &snapshot{meta: amber.SnapshotMeta{
		ID: amber.SnapshotID(id), Agent: k.agent, Tenant: k.tenant, Label: label, CreatedAt: s.now(),
		Skipped: []amber.Skipped{}, Pinned: pin,
		Device: agent.device, Counter: tip.counter + 1, Parent: tip.digest,
	}}
	for _, p := range agent.contents.parts() {
		entry, stored := vault.put(p)
		x.parts = append(x.parts, entry)
		x.meta.BytesTotal += entry.Bytes
		x.meta.BytesNew += stored
	}
	x.meta.Digest = seal(x.meta, x.parts)
	shelf.snapshots = append(shelf.snapshots, x)
	return x, nil
}

// told returns what is told about a snapshot, for the caller to keep.
func (x *snapshot) told() amber.SnapshotMeta {
	m := x.meta
	m.Skipped = []amber.Skipped{}
	return m
}
