package repo

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// The snapshots of one agent that one device took are a chain: each names its
// number in it and the digest of the manifest before it. Deleted ones leave
// their link in a stub.

// Link is a place in a chain.
type Link struct {
	Counter int64
	ID      amber.SnapshotID
	Digest  string // of the manifest's body
}

// link is a link as a manifest or a stub tells it.
type link struct {
	Link
	device   string
	parent   string
	parentID amber.SnapshotID
}

// Tip returns the last link of a chain, the zero Link when there is none.
// Manifests and stubs that cannot be read are not looked at, so whoever knows
// a later link by other means goes on from that. Errors: invalid; those of the
// target.
func (c *Catalog) Tip(ctx context.Context, agent amber.AgentID, device string) (Link, error) {
	s, err := c.shelf(ctx, agent, true)
	if err != nil {
		return Link{}, err
	}
	var tip Link
	for _, l := range s.links() {
		if l.device == device {
			tip = l.Link // they are in order
		}
	}
	return tip, nil
}

// links returns all links that can be read, those of one device together, in
// the order of their counters. Of a snapshot whose deletion is not finished
// there is one.
func (s *shelf) links() []link {
	all := map[Link]link{}
	for _, e := range s.manifests {
		m := e.Manifest
		if e.Problem == nil {
			l := Link{m.Counter, m.ID, e.Digest}
			all[l] = link{l, m.Device, m.Parent, m.ParentID}
		}
	}
	for _, e := range s.stubs {
		if e.problem == nil && e.stub.Counter > 0 {
			l := Link{e.stub.Counter, e.stub.ID, e.stub.Digest}
			all[l] = link{l, e.stub.Device, e.stub.Parent, e.stub.ParentID}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b link) int {
		return cmp.Or(cmp.Compare(a.device, b.device), cmp.Compare(a.Counter, b.Counter), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Digest, b.Digest))
	})
}

// unreadable returns the snapshots of which it is not known where in a chain
// they stand.
func (s *shelf) unreadable() map[amber.SnapshotID]bool {
	ids := map[amber.SnapshotID]bool{}
	for id, e := range s.manifests {
		if e.Problem != nil {
			ids[id] = true
		}
	}
	for id, e := range s.stubs {
		if e.problem != nil || e.stub.Counter == 0 {
			ids[id] = true
		}
	}
	for _, l := range s.links() {
		delete(ids, l.ID) // the other record of it is intact
	}
	return ids
}
