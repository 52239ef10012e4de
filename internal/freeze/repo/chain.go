package repo

import (
	"cmp"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
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

// link is a link as a manifest or a stub names it.
type link struct {
	Link
	device   string
	parent   string
	parentID amber.SnapshotID
	// author is whose signature its manifest has, or had, as far as the valid
	// signature of signer says so.
	author    sign.KeyID
	signer    sign.KeyID
	untrusted bool // the signature of the record is bad or was taken away
}

func linkOf(e Entry) link {
	m := e.Manifest
	l := link{
		Link: Link{m.Counter, m.ID, e.Digest}, device: m.Device, parent: m.Parent, parentID: m.ParentID, untrusted: e.Signature.Untrusted(),
	}
	if e.Signature.Status == sign.SignatureValid {
		l.author, l.signer = e.Signature.KeyID, e.Signature.KeyID
	}
	return l
}

// link returns the link of the snapshot that was deleted.
func (s *storedStub) link() link {
	l := link{
		Link: Link{s.Counter, s.ID, s.Digest}, device: s.Device, parent: s.Parent, parentID: s.ParentID, untrusted: s.signature.Untrusted(),
	}
	if s.signature.Status == sign.SignatureValid {
		l.author, l.signer = s.Author, s.signature.KeyID
	}
	return l
}

// links returns all links that can be read, those of one device together, in the order of their counters. A snapshot
// whose deletion is not finished has one link.
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
		case e.stub.signature.Status == sign.SignatureValid:
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
