package repo

import (
	"context"

	"github.com/amber-memory/amber"
)

// shelf is all records of one agent.
type shelf struct {
	manifests map[amber.SnapshotID]Entry
	stubs     map[amber.SnapshotID]stubEntry
	pins      map[amber.SnapshotID]bool
}

// stubEntry is a stub, or what is wrong with it.
type stubEntry struct {
	stub    storedStub
	problem error
}

// shelf reads the records of an agent. Without allStubs it reads only those
// stubs that lie beside a manifest. Manifests are listed before stubs: of a
// snapshot that is deleted meanwhile one of the two is seen.
func (c *Catalog) shelf(ctx context.Context, agent amber.AgentID, allStubs bool) (*shelf, error) {
	s := &shelf{
		manifests: map[amber.SnapshotID]Entry{}, stubs: map[amber.SnapshotID]stubEntry{}, pins: map[amber.SnapshotID]bool{},
	}
	if err := s.readManifests(ctx, c, agent); err != nil {
		return nil, err
	}
	if err := s.readStubs(ctx, c, agent, allStubs); err != nil {
		return nil, err
	}
	pins, err := c.ids(ctx, pinPrefix, agent)
	for _, id := range pins {
		s.pins[id] = true
		if e, ok := s.manifests[id]; ok {
			e.Pinned = true
			s.manifests[id] = e
		}
	}
	return s, err
}

func (s *shelf) readManifests(ctx context.Context, c *Catalog, agent amber.AgentID) error {
	ids, err := c.ids(ctx, manifestPrefix, agent)
	if err != nil {
		return err
	}
	for _, id := range ids {
		e, err := c.readManifest(ctx, agent, id)
		if amber.KindOf(err) == amber.KindNotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return err
		}
		s.manifests[id] = e
	}
	return nil
}

func (s *shelf) readStubs(ctx context.Context, c *Catalog, agent amber.AgentID, all bool) error {
	ids, err := c.ids(ctx, stubPrefix, agent)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, beside := s.manifests[id]; !beside && !all {
			continue
		}
		stub, err := c.readStub(ctx, agent, id)
		switch {
		case err == nil:
			s.stubs[id] = stubEntry{stub: *stub}
		case isProblem(err):
			s.stubs[id] = stubEntry{problem: err}
		default:
			return err
		}
	}
	return nil
}

// deleted reports whether a snapshot whose manifest is still there was deleted: an intact stub says so. A stub takes
// nothing away that cannot be read, that is about another manifest, or that is not signed although it must be.
func (s *shelf) deleted(id amber.SnapshotID) bool {
	stub, ok := s.stubs[id]
	return ok && stub.problem == nil && stub.stub.deletes(s.manifests[id])
}

// eachSignature calls fn for every record that can be read, in the order of
// their names, manifests first.
func (s *shelf) eachSignature(agent amber.AgentID, fn func(record string, id amber.SnapshotID, sig SignatureState)) {
	for _, id := range sortedKeys(s.manifests) {
		if e := s.manifests[id]; e.Signature.Status != "" {
			fn(recordName(manifestPrefix, agent, id), id, e.Signature)
		}
	}
	for _, id := range sortedKeys(s.stubs) {
		if e := s.stubs[id]; e.problem == nil {
			fn(recordName(stubPrefix, agent, id), id, e.stub.signature)
		}
	}
}
