package colony

import (
	"context"
	"fmt"
)

// publish moves the pointer, looks whether the snapshot is still there, and
// remembers it.
func (b *backup) publish(ctx context.Context) error {
	seen := sighting(b.report.Info)
	seen.Documents, seen.Recipients = b.digest, b.v.readers()
	if !b.report.Unchanged || !b.view.good() {
		m, err := b.v.point(ctx, b.report.ID)
		if m.wrote {
			b.report.Uploaded = append(b.report.Uploaded, LatestName(b.v.label))
		}
		if err == nil {
			err = b.confirm(ctx, &m)
		}
		if err != nil {
			return err
		}
		if m.by.g != nil {
			b.report.SupersededBy = m.by.g.id
		}
		if m.by.g != nil && !b.o.OnlySeen { // who was not asked has not looked at it
			seen = sighting(m.by.info(b.v.label))
		}
	}
	if warning := b.v.see(ctx, seen); warning != "" {
		b.report.Warnings = append(b.report.Warnings, warning)
	}
	return nil
}

// confirm checks that the snapshot is there now that the pointer was moved. Until then another writer who made a later
// snapshot may have removed both the pointer and the snapshot, or, when the backup took longer than parts may lie
// about, its parts. A snapshot that was removed because a later one is there was the newest for a moment, which is
// enough.
func (b *backup) confirm(ctx context.Context, m *move) error {
	in, err := b.v.list(ctx)
	if err != nil {
		return err
	}
	id := b.report.ID
	if b.sealed == id && b.late() {
		b.given = append(b.given, id)
		return overtaken(id)
	}
	if in.holds(b.v.label, b.report.Info) {
		return nil
	}
	now, err := b.v.pointer(ctx)
	if err != nil {
		return err
	}
	by, _, err := b.v.settled(ctx, now, id)
	if err != nil {
		return err
	}
	if !by.whole() {
		return overtaken(id)
	}
	m.by = by
	b.report.Warnings = append(b.report.Warnings, fmt.Sprintf("another writer has removed %s; %s is newer", id, by.g.id))
	return nil
}
