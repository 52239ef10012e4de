package colony

import (
	"context"

	"github.com/amber-memory/amber"
)

// pointerTries is how often the pointer is tried to be moved while others move
// it, too.
const pointerTries = 8

// move is what became of moving the pointer.
type move struct {
	wrote bool
	by    found // a later snapshot that it names instead
}

// point has the pointer name a snapshot, unless it names a later one that is
// there. It moves from a bad one in any case.
func (v *Vault) point(ctx context.Context, id SnapshotID) (move, error) {
	var done move
	blind := false // it was put without a condition
	for range pointerTries {
		now, err := v.pointer(ctx)
		if err != nil {
			return done, err
		}
		by, settled, err := v.settled(ctx, now, id)
		if err != nil {
			return done, err
		}
		if settled && (by.g != nil || !blind) {
			if by.g != nil {
				done.by = by
			}
			return done, nil
		}
		if settled {
			// It may have been put over the pointer of a later snapshot.
			if by, err = v.later(ctx, id); err != nil || by.g == nil {
				return done, err
			}
			id, done.by = by.g.id, by
		}
		over, err := v.swap(ctx, now, id)
		done.wrote, blind = done.wrote || err == nil, blind || !v.guarded(now)
		// A pointer that became rotten in between has no version, so no condition on it can hold: try again.
		if err != nil && !isKind(err, amber.KindConflict) && !isKind(err, amber.KindDamaged) || over {
			return done, err
		}
	}
	return done, amber.Errorf(amber.KindConflict, "move pointer", LatestName(v.label), "other writers kept moving the pointer")
}

// held is the pointer as it is now; exists says whether there is one. rotten says that the vault itself knows that the
// content is not what was put: then no client can read it, and it has no version.
type held struct {
	File
	exists, rotten bool
}

func (v *Vault) pointer(ctx context.Context) (held, error) {
	file, err := v.b.Get(ctx, LatestName(v.label))
	switch {
	case isKind(err, amber.KindNotFound):
		return held{}, nil
	case isKind(err, amber.KindDamaged):
		return held{exists: true, rotten: true}, nil
	}
	return held{File: file, exists: err == nil}, err
}

// parse reads the pointer.
func (h held) parse() (pointer, error) {
	if h.rotten {
		return pointer{}, damaged("", "the pointer is not what was uploaded")
	}
	return parsePointer(h.Content)
}

// settled reports whether the pointer names the snapshot, or a later one that is
// all there, which it returns.
func (v *Vault) settled(ctx context.Context, now held, id SnapshotID) (by found, ok bool, err error) {
	if !now.exists {
		return found{}, false, nil
	}
	p, err := now.parse()
	if isKind(err, amber.KindTooNew) {
		return found{}, false, err
	}
	if err != nil || len(p.Objections(v.label)) > 0 || p.ID < id {
		return found{}, false, nil
	}
	if p.ID == id {
		return found{}, true, nil
	}
	in, err := v.list(ctx)
	if err != nil {
		return found{}, false, err
	}
	by, err = v.examine(ctx, p.ID, in.groups[p.ID])
	if err != nil || by.incomplete {
		return found{}, false, err
	}
	return by, true, nil
}

// guarded reports whether the pointer can be put under a condition.
func (v *Vault) guarded(now held) bool { return v.c != nil && (!now.exists || now.Version != "") }

// swap puts the pointer over what it is now. It reports whether it is sure that
// nothing else was there. Errors also: conflict.
func (v *Vault) swap(ctx context.Context, now held, id SnapshotID) (bool, error) {
	file := Latest(v.label, id, v.now())
	v.o.Progress(Progress{Step: "pointer", Name: file.Name, Total: 1})
	if !v.guarded(now) {
		_, err := v.b.Put(ctx, file.Name, file.Content)
		return false, err
	}
	_, err := v.c.PutIf(ctx, file.Name, file.Content, Condition{Absent: !now.exists, Version: now.Version})
	return err == nil, err
}

// later returns the newest complete snapshot that is later than one.
func (v *Vault) later(ctx context.Context, id SnapshotID) (found, error) {
	in, err := v.list(ctx)
	if err != nil {
		return found{}, err
	}
	return v.newest(ctx, in, func(other SnapshotID) bool { return other > id })
}

// repoint makes the pointer name another snapshot, also an earlier one, if it still names from. With no snapshot left
// it removes the pointer, even one that no client can read.
func (v *Vault) repoint(ctx context.Context, from, to SnapshotID) error {
	for range pointerTries {
		now, err := v.pointer(ctx)
		if err != nil || !now.exists {
			return err
		}
		p, err := now.parse()
		if isKind(err, amber.KindTooNew) {
			return err
		}
		if err == nil && p.ID != from || err != nil && to != "" {
			return nil
		}
		if to == "" {
			err = v.b.Delete(ctx, LatestName(v.label))
			if isKind(err, amber.KindNotFound) {
				err = nil
			}
			return err
		}
		if over, err := v.swap(ctx, now, to); over || err != nil && !isKind(err, amber.KindConflict) {
			return err
		}
	}
	return amber.Errorf(amber.KindConflict, "move pointer", LatestName(v.label), "other writers kept moving the pointer")
}
