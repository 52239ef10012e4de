package repo

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Seen is the part of a chain that a caller has read.
type Seen struct {
	Tip Link // the last link of the chain among them
	// IDs are those of all snapshots of the agent whose links were read, and
	// were not passed over.
	IDs []amber.SnapshotID
}

// TipSince returns the last link of a chain, the zero Link when there is none. Manifests and stubs that cannot be read
// are skipped; a caller that knows a later link by other means goes on from that one. Links that a target could have
// made up are skipped too: links whose signature is bad or was removed, unsigned links after a signed one, and, for
// [Catalog.Trusting], links of keys that are not trusted. A tip is never the last link that a chain can have.
//
// Records never change. So for a caller that has looked before it reads only the tip and the records that are not in
// seen, and for the others lists names, whatever clocks have done to them. It returns what has been seen now. Where the
// tip that was seen is gone, or is another or none by now, it reads everything again. Errors: invalid; those of the
// target.
func (c *Catalog) TipSince(ctx context.Context, agent amber.AgentID, device string, seen Seen) (Seen, error) {
	now := &look{c: c, agent: agent, device: device, before: map[amber.SnapshotID]bool{}, links: map[amber.SnapshotID]bool{}}
	for _, id := range seen.IDs {
		now.before[id] = true
	}
	// Whether it is signed says whether the next one has to be.
	delete(now.before, seen.Tip.ID)
	// Manifests come before stubs: of a snapshot that is deleted meanwhile one
	// of the two is seen.
	err := now.each(ctx, manifestPrefix, now.manifest)
	if err == nil {
		err = now.each(ctx, stubPrefix, now.stub)
	}
	if err != nil {
		return Seen{}, err
	}
	tip := now.choose()
	if seen.Tip.ID != "" && !slices.ContainsFunc(now.chain, func(l link) bool { return l.Link == seen.Tip }) {
		return c.TipSince(ctx, agent, device, Seen{})
	}
	return Seen{Tip: tip, IDs: slices.Sorted(maps.Keys(now.links))}, nil
}

// look is one look at the names of an agent's records.
type look struct {
	c      *Catalog
	agent  amber.AgentID
	device string
	before map[amber.SnapshotID]bool // whose link need not be read again
	links  map[amber.SnapshotID]bool // whose link is known
	chain  []link                    // those of the device that were read
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
	e, err := l.c.manifestLink(ctx, l.agent, id)
	if e != nil {
		l.note(*e)
	}
	return err
}

func (l *look) stub(ctx context.Context, id amber.SnapshotID) error {
	e, err := l.c.stubLink(ctx, l.agent, id)
	if e != nil {
		l.note(*e)
	}
	return err
}

// note takes a link that was read, unless it may be made up.
func (l *look) note(n link) {
	if !l.c.credible(n) {
		return
	}
	l.links[n.ID] = true
	if n.device == l.device {
		l.chain = append(l.chain, n)
	}
}

// choose returns the tip and drops the links that are not signed and should be. Where two links have one counter, the
// later in the order of links is the tip. Links that were seen before need no look: a tip that is not signed has no
// signed link before it, or it would not have become the tip.
func (l *look) choose() (tip Link) {
	signed := int64(maxCounter)
	for _, n := range l.chain {
		if n.author != "" {
			signed = min(signed, n.Counter)
		}
	}
	l.chain = slices.DeleteFunc(l.chain, func(n link) bool {
		drop := n.author == "" && n.Counter >= signed
		if drop {
			delete(l.links, n.ID)
		}
		return drop
	})
	for _, n := range l.chain {
		if cmp.Or(cmp.Compare(n.Counter, tip.Counter), cmp.Compare(n.ID, tip.ID)) > 0 {
			tip = n.Link
		}
	}
	return tip
}

// credible reports whether a chain may go on from a link, as far as the link
// alone tells.
func (c *Catalog) credible(l link) bool {
	return !l.untrusted && l.Counter < maxCounter && (l.author == "" || c.trusted(l.signer) && c.trusted(l.author))
}

func (c *Catalog) trusted(k sign.KeyID) bool { return c.trusts == nil || c.trusts(k) }

// manifestLink reads the link of a manifest, nil when it cannot be read or is
// not there.
func (c *Catalog) manifestLink(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) (*link, error) {
	e, err := c.readManifest(ctx, agent, id)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return nil, nil // deleted meanwhile
	case err != nil || e.Problem != nil:
		return nil, err
	}
	l := linkOf(e)
	return &l, nil
}

// stubLink reads the link of a stub, nil when it cannot be read or knows none.
func (c *Catalog) stubLink(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) (*link, error) {
	s, err := c.readStub(ctx, agent, id)
	switch {
	case err != nil && isProblem(err):
		return nil, nil
	case err != nil || s.Counter == 0:
		return nil, err
	}
	l := s.link()
	return &l, nil
}

// SignedBefore returns the counter of a link of a chain below a counter that is
// signed, by a trusted key where the catalog is [Catalog.Trusting]; 0 when there
// is none. The next link has to be signed too then. Manifests and stubs count. It
// reads those of the latest names first, and all records of the agent when there
// is none. Errors: invalid; those of the target.
func (c *Catalog) SignedBefore(ctx context.Context, agent amber.AgentID, device string, counter int64) (int64, error) {
	for _, kind := range []struct {
		prefix string
		read   func(context.Context, amber.AgentID, amber.SnapshotID) (*link, error)
	}{{manifestPrefix, c.manifestLink}, {stubPrefix, c.stubLink}} {
		ids, err := c.ids(ctx, kind.prefix, agent)
		if err != nil {
			return 0, err
		}
		for _, id := range slices.Backward(ids) {
			l, err := kind.read(ctx, agent, id)
			if err != nil {
				return 0, err
			}
			if l != nil && l.device == device && l.Counter < counter && l.author != "" && c.credible(*l) {
				return l.Counter, nil
			}
		}
	}
	return 0, nil
}
