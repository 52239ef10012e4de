package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// stock is all snapshots of a repository.
type stock struct {
	entries []Entry                  // that exist
	halves  []wire.SnapshotRef       // whose deletion is not finished
	pins    []wire.SnapshotRef       // of snapshots that were deleted
	shelves map[amber.AgentID]*shelf // everything, by agent
}

// stock reads the manifests of all agents.
func (c *Catalog) stock(ctx context.Context, allStubs bool) (*stock, error) {
	agents, err := c.Agents(ctx)
	if err != nil {
		return nil, err
	}
	st := &stock{shelves: map[amber.AgentID]*shelf{}}
	for _, agent := range agents {
		s, err := c.shelf(ctx, agent, allStubs)
		if err != nil {
			return nil, err
		}
		st.shelves[agent] = s
		for _, id := range sortedKeys(s.manifests) {
			if s.deleted(id) {
				st.halves = append(st.halves, wire.SnapshotRef{Tenant: c.tenant, Agent: agent, ID: id})
			} else {
				st.entries = append(st.entries, s.manifests[id])
			}
		}
		if err := st.orphanPins(ctx, c, agent, s); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// orphanPins finds pins of snapshots that an intact stub says are deleted.
func (st *stock) orphanPins(ctx context.Context, c *Catalog, agent amber.AgentID, s *shelf) error {
	for _, id := range sortedKeys(s.pins) {
		if _, ok := s.manifests[id]; ok {
			continue
		}
		stub, err := c.readStub(ctx, agent, id)
		switch {
		case err == nil && stub.signature.Untrusted():
		case err == nil:
			st.pins = append(st.pins, wire.SnapshotRef{Tenant: c.tenant, Agent: agent, ID: id})
		case !isProblem(err):
			return err
		}
	}
	return nil
}

// marker collects what snapshots need.
type marker struct {
	repo  *Repo
	live  map[ID]struct{}
	parts map[partKey]bool
}

// mark returns every blob that one of the snapshots needs. It fails when it
// cannot know them all, or when one of them is not there. The index was loaded
// after the manifests were listed.
func (r *Repo) mark(ctx context.Context, entries []Entry) (map[ID]struct{}, error) {
	m := &marker{repo: r, live: map[ID]struct{}{}, parts: map[partKey]bool{}}
	for _, e := range entries {
		if err := m.snapshot(ctx, e); err != nil {
			return nil, errBlocked(e, err)
		}
	}
	return m.live, nil
}

func (m *marker) snapshot(ctx context.Context, e Entry) error {
	if err := e.Usable(); err != nil {
		return err
	}
	if err := m.blob(e.Manifest.Inner, KindManifest); err != nil {
		return err
	}
	in, err := m.repo.Inner(ctx, e.Manifest)
	if err != nil {
		return err
	}
	for _, p := range m.repo.parts(in) {
		if m.parts[p.partKey] {
			continue
		}
		if err := p.walk(ctx, m.blob); err != nil {
			return err
		}
		m.parts[p.partKey] = true
	}
	return nil
}

func (m *marker) blob(id ID, kind Kind) error {
	if _, ok := m.live[id]; ok {
		return nil
	}
	if !m.repo.Has(id) {
		return amber.Errorf(amber.KindDamaged, "find blob", id.String(), "no existing pack holds this %v", kind)
	}
	m.live[id] = struct{}{}
	return nil
}

// errBlocked says why gc removes nothing. Errors of the way to the target stay
// what they are.
func errBlocked(e Entry, err error) error {
	kind := amber.KindOf(err)
	switch kind {
	case amber.KindNotFound, amber.KindCrossTenant:
		kind = amber.KindDamaged
	case amber.KindDamaged, amber.KindUntrusted, amber.KindTooNew:
	default:
		return err
	}
	return &amber.Error{
		Op: "collect garbage", Kind: kind, ID: recordName(manifestPrefix, e.Manifest.Agent, e.Manifest.ID),
		Err:  fmt.Errorf("nothing is removed because the objects of this snapshot are not known: %w", err),
		Hint: "amber snapshot check",
	}
}

// errStrayManifest is errBlocked for an object that may be a manifest under
// another name.
func errStrayManifest(name string) error {
	return &amber.Error{
		Op: "collect garbage", Kind: amber.KindDamaged, ID: name,
		Err:  errors.New("nothing is removed because this object among the manifests is not a manifest"),
		Hint: "amber snapshot check",
	}
}
