package colony

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

// sweep is what one prune removes.
type sweep struct {
	removal
	w      view
	spared []SnapshotID // that stay although they are old
	rely   found        // the newest that stays

	old    []removable // the oldest first
	strays []*group    // parts of no snapshot
	named  SnapshotID  // by the pointer, when it was last read; "" when it is bad
}

// removable is a snapshot that is to be removed, with the content of its manifest, which may have to be put back. The
// content is "" when the manifest cannot be read.
type removable struct {
	*group
	content string
}

// plan finds what is to be removed.
func (s *sweep) plan(ctx context.Context, keep int, filled bool) (err error) {
	if !filled {
		if filled, _, err = s.v.blank(ctx, s.w.head); err != nil {
			return err
		}
	}
	if filled {
		also, err := s.v.newestFilled(ctx, s.w)
		if err != nil {
			return err
		}
		s.spared = append(s.spared, also)
	}
	bound, rely, err := s.v.boundary(ctx, s.w, keep)
	if err != nil {
		return err
	}
	s.rely = rely
	return s.sort(ctx, bound)
}

// sort decides for each id what becomes of it. It removes snapshots that are older than bound, and parts of uploads
// that no writer will finish any more.
func (s *sweep) sort(ctx context.Context, bound SnapshotID) error {
	for _, id := range slices.Backward(s.w.ids) {
		g := s.w.groups[id]
		switch {
		case g.manifest == nil && id != s.w.named && s.v.stale(g):
			s.strays = append(s.strays, g)
			s.total += len(g.parts)
		case g.manifest == nil:
		case id >= bound || slices.Contains(s.spared, id):
			s.report.Kept = append(s.report.Kept, id)
		default:
			if err := s.take(ctx, g); err != nil {
				return err
			}
		}
	}
	slices.Reverse(s.report.Kept)
	return nil
}

// take marks a snapshot for removal, unless it was made with another label that
// has the same names.
func (s *sweep) take(ctx context.Context, g *group) error {
	file, err := s.v.b.Get(ctx, g.manifest.Name)
	if err != nil && !isKind(err, amber.KindNotFound) && !isKind(err, amber.KindDamaged) {
		return err
	}
	if m, err := parseManifest(file.Content); err == nil && s.v.collides(found{g: g, m: m}) != nil {
		s.report.Kept = append(s.report.Kept, g.id)
		return nil
	}
	s.old = append(s.old, removable{g, file.Content})
	s.total += len(g.parts) + 1
	return nil
}

// run removes it.
func (s *sweep) run(ctx context.Context) error {
	if len(s.old) > 0 {
		if err := s.v.proven(ctx, s.rely); err != nil {
			s.refuse(err)
			return err
		}
		if err := s.readPointer(ctx); err != nil {
			s.refuse(err)
			return err
		}
	}
	for _, o := range s.old {
		s.remove(ctx, o)
	}
	for _, g := range s.strays {
		s.orphans(ctx, g)
	}
	if len(s.old) > 0 && !s.report.Planned && (s.first == nil || isKind(s.first, amber.KindConflict)) {
		if err := s.repair(ctx); s.first == nil {
			s.first = err
		}
	}
	return s.first
}

// refuse reports everything that was to be removed as not removed.
func (s *sweep) refuse(why error) {
	for _, o := range s.old {
		s.fail(o.id, "", why)
		s.stopped = why
	}
}

// remove removes a snapshot as long as the pointer names a later one. Another client may move the pointer back: Delete
// does, and so does a client that puts the pointer whatever is there. So remove reads the pointer after it has removed
// the manifest and before it removes the parts. The client that moves the pointer checks afterwards whether the
// snapshot is there, so at least one of the two notices. Where others have removed the manifest, remove leaves the
// parts to them, since they may put the manifest back.
func (s *sweep) remove(ctx context.Context, o removable) {
	if s.stopped == nil && !s.report.Planned && o.id >= s.named {
		s.stop(o.id, moved())
		return
	}
	s.snapshot(ctx, o.group, func(byOthers bool) (bool, error) {
		if byOthers {
			s.report.Deleted = append(s.report.Deleted, o.id)
			return false, nil
		}
		if err := s.readPointer(ctx); err != nil || o.id < s.named {
			return true, err
		}
		if o.content != "" {
			err := s.v.create(ctx, NamedText{o.manifest.Name, o.content})
			if err != nil && !isKind(err, amber.KindConflict) {
				return false, err
			}
		}
		return false, moved()
	})
}

func moved() error {
	return amber.Errorf(amber.KindConflict, "delete snapshot", "", "another writer moved the pointer back while this one was pruning")
}

// readPointer notes what the pointer names now.
func (s *sweep) readPointer(ctx context.Context) error {
	if s.report.Planned {
		return nil
	}
	now, err := s.v.pointer(ctx)
	if err != nil {
		return err
	}
	s.named = ""
	if p, err := now.parse(); err == nil {
		s.named = p.ID
	} else if isKind(err, amber.KindTooNew) {
		return err
	}
	return nil
}

// repair looks at last whether the pointer names what was just removed, as that
// of a writer who has not noticed, and has it name the newest snapshot then. So
// it does when the pointer was removed, and a manifest put back.
func (s *sweep) repair(ctx context.Context) error {
	if err := s.readPointer(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.old, func(o removable) bool { return o.id >= s.named }) {
		return nil
	}
	w, err := s.v.look(ctx)
	if err != nil || w.good() || w.empty() {
		return err
	}
	if w.head.g == nil {
		return w.nothing()
	}
	return s.v.mend(ctx, &w, s.report)
}
