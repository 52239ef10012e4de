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
	// author is whose signature its manifest has, or had, as far as a valid
	// signature says so.
	author    amber.KeyID
	untrusted bool // the signature of the record is bad or was taken away
}

func linkOf(e Entry) link {
	m := e.Manifest
	l := link{
		Link: Link{m.Counter, m.ID, e.Digest}, device: m.Device, parent: m.Parent, parentID: m.ParentID, untrusted: e.Signature.Untrusted(),
	}
	if e.Signature.Status == amber.SignatureValid {
		l.author = e.Signature.KeyID
	}
	return l
}

// link returns the link of the snapshot that was deleted.
func (s *storedStub) link() link {
	l := link{
		Link: Link{s.Counter, s.ID, s.Digest}, device: s.Device, parent: s.Parent, parentID: s.ParentID, untrusted: s.signature.Untrusted(),
	}
	if s.signature.Status == amber.SignatureValid {
		l.author = s.Author
	}
	return l
}

// Tip returns the last link of a chain, the zero Link when there is none.
// Manifests and stubs that cannot be read are not looked at, so whoever knows
// a later link by other means goes on from that. Errors: invalid; those of the
// target.
func (c *Catalog) Tip(ctx context.Context, agent amber.AgentID, device string) (Link, error) {
	seen, err := c.TipSince(ctx, agent, device, Seen{})
	return seen.Tip, err
}

// Seen is what somebody has read of a chain.
type Seen struct {
	Tip Link // the last link of the chain among them
	// IDs are those of all snapshots of the agent whose links were read.
	IDs []amber.SnapshotID
}

// TipSince is [Catalog.Tip] for somebody who has looked before: records never
// change, so it reads only those that are not in seen, and lists names
// otherwise, whatever clocks have done to them. It returns what has been seen
// now. Where the tip that was seen is gone everything is read again. Errors:
// those of Tip.
func (c *Catalog) TipSince(ctx context.Context, agent amber.AgentID, device string, seen Seen) (Seen, error) {
	now := &look{c: c, agent: agent, device: device, before: map[amber.SnapshotID]bool{}, links: map[amber.SnapshotID]bool{}}
	for _, id := range seen.IDs {
		now.before[id] = true
	}
	now.tip = seen.Tip
	// Manifests come before stubs: of a snapshot that is deleted meanwhile one
	// of the two is seen.
	err := now.each(ctx, manifestPrefix, now.manifest)
	if err == nil {
		err = now.each(ctx, stubPrefix, now.stub)
	}
	if err != nil {
		return Seen{}, err
	}
	if seen.Tip.ID != "" && !now.links[seen.Tip.ID] {
		return c.TipSince(ctx, agent, device, Seen{})
	}
	return Seen{Tip: now.tip, IDs: slices.Sorted(maps.Keys(now.links))}, nil
}

// look is one look at the names of an agent's records.
type look struct {
	c      *Catalog
	agent  amber.AgentID
	device string
	before map[amber.SnapshotID]bool // whose link need not be read again
	links  map[amber.SnapshotID]bool // whose link is known
	tip    Link
}

// each reads the records that are new.
func (l *look) each(ctx context.Context, prefix string, read func(context.Context, amber.SnapshotID) error) error {
	ids, err := l.c.ids(ctx, prefix, l.agent)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if l.before[id] || l.links[id] {
			l.links[id] = true
			continue
		}
		if err := read(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (l *look) manifest(ctx context.Context, id amber.SnapshotID) error {
	e, err := l.c.readManifest(ctx, l.agent, id)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil // deleted meanwhile
	}
	if err == nil && e.Problem == nil {
		l.note(e.Manifest.Device, Link{e.Manifest.Counter, id, e.Digest})
	}
	return err
}

func (l *look) stub(ctx context.Context, id amber.SnapshotID) error {
	s, err := l.c.readStub(ctx, l.agent, id)
	if err == nil && s.Counter > 0 {
		l.note(s.Device, Link{s.Counter, id, s.Digest})
	}
	if err != nil && isProblem(err) {
		return nil
	}
	return err
}

// note takes a link that was read. Of two with one counter the later in the
// order of links is the tip.
func (l *look) note(device string, n Link) {
	l.links[n.ID] = true
	if device == l.device && cmp.Or(cmp.Compare(n.Counter, l.tip.Counter), cmp.Compare(n.ID, l.tip.ID)) > 0 {
		l.tip = n
	}
}

// links returns all links that can be read, those of one device together, in
// the order of their counters. Of a snapshot whose deletion is not finished
// there is one.
func (s *shelf) links() []link {
	all := map[Link]link{}
	for _, e := range s.manifests {
		if e.Problem == nil {
			l := linkOf(e)
			all[l.Link] = l
		}
	}
	for id, e := range s.stubs {
		if e.problem != nil || e.stub.Counter == 0 {
			continue
		}
		l := e.stub.link()
		if _, beside := all[l.Link]; !beside || s.deleted(id) {
			all[l.Link] = l
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b link) int {
		return cmp.Or(cmp.Compare(a.device, b.device), cmp.Compare(a.Counter, b.Counter), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Digest, b.Digest))
	})
}

// excuse is why it is not known where in a chain a snapshot stands.
type excuse int

const (
	excuseDamaged excuse = iota + 1 // its record cannot be read
	excuseStub                      // a stub of a manifest that could not be read
	excuseSigned                    // such a stub that is signed
)

// unreadable returns the snapshots of which it is not known where in a chain
// they stand.
func (s *shelf) unreadable() map[amber.SnapshotID]excuse {
	ids := map[amber.SnapshotID]excuse{}
	for id, e := range s.stubs {
		switch {
		case e.problem != nil:
			ids[id] = excuseDamaged
		case e.stub.Counter > 0:
		case e.stub.signature.Status == amber.SignatureValid:
			ids[id] = excuseSigned
		default:
			ids[id] = excuseStub
		}
	}
	for id, e := range s.manifests {
		if e.Problem != nil {
			ids[id] = excuseDamaged
		}
	}
	for _, l := range s.links() {
		delete(ids, l.ID) // the other record of it is intact
	}
	return ids
}
