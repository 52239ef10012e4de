package contextblock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// both keeps the identities that are in a and b alike.
func both(a, b amber.Identities) amber.Identities {
	same := func(x, y string) string {
		if x != y {
			return ""
		}
		return x
	}
	return amber.Identities{
		SessionID: amber.SessionID(same(string(a.SessionID), string(b.SessionID))), UserID: same(a.UserID, b.UserID),
		ProjectID: same(a.ProjectID, b.ProjectID), WorkspaceID: same(a.WorkspaceID, b.WorkspaceID),
	}
}

// believes reports whether text of that trust may be put before an agent that did not
// ask for it.
func (b *builder) believes(t amber.Trust) bool {
	switch t {
	case amber.TrustOwn, amber.TrustSigned:
		return true
	case amber.TrustAgent, amber.TrustDerived:
		return !b.query.Trusted
	}
	return false
}

// admits reports whether a memory that was written with some trust may be in the block. An agent's
// memory stays in the project in which it was written, and a memory that waits for the owner stays
// out.
func (b *builder) admits(t amber.Trust, scope amber.Scope, kind amber.MemoryKind, project string) bool {
	if t == amber.TrustAgent && project != b.query.ProjectID || b.query.Review.Waits(t, scope, kind) {
		return false
	}
	return b.believes(t)
}

// ofSessions reports whether a block may quote sessions: a strict one lists them only.
func (b *builder) ofSessions() bool { return !b.query.Trusted }

// sees reports whether a memory may be in the block. A backend that does not know the
// filter must not make the context leak.
func (b *builder) sees(m amber.Memory) bool {
	return b.admits(m.Trust, m.Scope, m.Kind, m.ProjectID) && b.query.Sees(m.Scope, m.Identities)
}

// mayQuote reports whether a hit may be in the block.
func (b *builder) mayQuote(h amber.Hit) bool {
	current := h.SessionID != "" && h.SessionID == b.r.SessionID
	switch h.Layer {
	case amber.LayerMemory, "":
		if current && h.Trust == amber.TrustDerived { // the agent has it before it
			return false
		}
	case amber.LayerExchange:
		if current || !b.ofSessions() || h.Role != amber.RoleUser && h.Role != amber.RoleAssistant {
			return false
		}
	case amber.LayerSession:
		if current || !b.ofSessions() {
			return false
		}
	case amber.LayerNote:
	default: // what tools printed
		return false
	}
	if !b.admits(h.Trust, h.Scope, h.Kind, h.ProjectID) {
		return false
	}
	switch h.Scope {
	case amber.ScopeProject:
		return h.ProjectID != "" && h.ProjectID == b.query.ProjectID
	case amber.ScopeSession:
		return h.SessionID != "" && h.SessionID == b.query.SessionID
	}
	return true
}

// passageID names a passage.
type passageID struct {
	layer amber.RecallLayer
	owner string
}

// itemOf names what a block says.
func itemOf(layer amber.RecallLayer, owner, said, why string) wire.ContextItem {
	sum := sha256.Sum256([]byte(said))
	return wire.ContextItem{Layer: layer, Owner: owner, Digest: hex.EncodeToString(sum[:8]), Why: why}
}

// isKnown reports whether the agent has an item before it already, or will have with this
// page.
func (b *builder) isKnown(i wire.ContextItem) bool {
	digest, ok := b.seen[passageID{i.Layer, i.Owner}]
	return ok && digest == i.Digest || slices.ContainsFunc(b.page.entries, func(e entry) bool {
		return e.item.Layer == i.Layer && e.item.Owner == i.Owner && e.item.Digest == i.Digest
	})
}

// findSeen finds out what was put before the agent in this session since its last compaction. A
// request without an occasion gets everything.
func (b *builder) findSeen(ctx context.Context) error {
	b.seen = map[passageID]string{}
	if b.r.Occasion == "" || b.r.Occasion == wire.OccasionCompaction {
		return nil
	}
	if b.r.SessionID != "" {
		if err := b.findStored(ctx); err != nil {
			return err
		}
	}
	for _, i := range b.r.Known {
		b.seen[passageID{i.Layer, i.Owner}] = i.Digest
	}
	return nil
}

func (b *builder) findStored(ctx context.Context) error {
	shown, err := b.Activities.ListActivity(ctx, b.r.SessionID, amber.ActivityContext)
	if isAbsent(err) || len(shown) == 0 && err == nil {
		return nil
	}
	if err != nil {
		return err
	}
	dropped, err := b.Activities.ListActivity(ctx, b.r.SessionID, amber.ActivityCompaction)
	if err != nil {
		return err
	}
	var last amber.Time
	for _, c := range dropped {
		if last.Before(c.LastAt) {
			last = c.LastAt
		}
	}
	for _, a := range shown {
		if layer, owner := a.Shown(); owner != "" && !a.LastAt.Before(last) {
			b.seen[passageID{layer, owner}] = a.Detail
		}
	}
	return nil
}

// isAbsent reports whether a part of the store is not there, or switched off.
func isAbsent(err error) bool {
	kind := amber.KindOf(err)
	return kind == amber.KindUnsupported || kind == amber.KindRefused
}
