package colony

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// own takes the newest snapshot for one that was seen when it is the one that was
// last written from here: the process that wrote it may have died before it was noted.
func (b *backup) own(ctx context.Context) {
	if head := b.view.head; head.g != nil && head.g.id == b.seen.Writing {
		now := sighting(head.info(b.v.label))
		b.v.see(ctx, now) // that it cannot be noted is told at the end
		b.seen = raised(b.seen, now)
	}
}

// unseen returns the newest snapshot when this home has never seen it: it is the memory of another home, or one that
// this home has lost. It returns "" when this home has seen it, and when no witness remembers what was seen.
func (b *backup) unseen() SnapshotID {
	head := b.view.head
	if head.g == nil || head.g.id <= b.seen.ID || b.v.o.Witness == nil {
		return ""
	}
	return head.g.id
}

// known refuses to go on from what was never seen from here, where that is
// asked for.
func (b *backup) known() error {
	id := b.unseen()
	if id == "" || !b.o.OnlySeen {
		return nil
	}
	before := "no other was"
	if b.seen.ID != "" {
		before = string(b.seen.ID) + " was"
	}
	return &amber.Error{
		Op: "look at snapshots", Kind: amber.KindConflict, ID: string(id),
		Err:  fmt.Errorf("the newest snapshot of the label was never seen from here (%s), so it may be the memory of another agent", before),
		Hint: "amber vault restore to use that snapshot, amber vault backup to make a newer one, or another vault.label",
	}
}

// announce notes the id under which a snapshot is written, before it is one.
func (b *backup) announce(ctx context.Context, id SnapshotID) {
	b.seen.Writing = id
	// That it cannot be noted is told at the end.
	b.v.remember(ctx, func(s Sighting) Sighting {
		s.Writing = id
		return s
	})
}
