package journal

import (
	"context"
	"math"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

// Clear removes the segments of a session whose every entry has been drained:
// drained is the store's cursor. When everything is drained an empty segment
// takes their place, so that sequences go on from it; an entry appended
// meanwhile is never touched. A segment with bytes that could not be read goes
// to quarantine instead. It returns how many bytes were removed, also beside an
// error. Errors: invalid, busy, unreachable, refused, too_new, quota when the
// quarantine is full, internal.
func (j *Journal) Clear(ctx context.Context, key Key, drained int64) (removed int64, err error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	if err := checkCursor(drained); err != nil {
		return 0, err
	}
	err = j.locked(ctx, key, func() error {
		if err := j.turnOver(key, drained); err != nil {
			return err
		}
		removed, err = j.clearDrained(key, drained)
		return err
	})
	if amber.KindOf(err) == amber.KindNotFound {
		return 0, nil
	}
	return removed, err
}

// turnOver begins a new segment when everything in the newest is drained.
func (j *Journal) turnOver(key Key, drained int64) error {
	a, err := j.newest(key)
	if err != nil {
		return err
	}
	defer a.close()
	if drained < a.last || drained == a.last && (a.empty || a.number == 0) {
		return nil
	}
	fresh, err := j.next(key, a, drained)
	if err != nil {
		return err
	}
	fresh.close()
	return nil
}

// clearDrained removes drained segments, the oldest first, each durably before
// the next: nothing is ever missing in the middle.
func (j *Journal) clearDrained(key Key, drained int64) (removed int64, err error) {
	files, err := j.segments(key)
	if err != nil {
		return 0, err
	}
	segments, err := (&reader{j: j, key: key}).survey(files)
	if err != nil {
		return 0, err
	}
	for i, s := range segments {
		if baseAfter(segments, i)-1 > drained {
			break
		}
		if i == 0 {
			// The name of the segment that stays must not be less durable than
			// the removal of the others.
			if err := j.o.FS.SyncDir(j.path(key)); err != nil {
				return 0, diskerr.Own("clear segment", string(key), err)
			}
		}
		if err := j.retire(key, s); err != nil {
			return removed, err
		}
		removed += s.size
	}
	return removed, nil
}

// retire removes a segment, or puts it into quarantine when it holds anything
// but frames.
func (j *Journal) retire(key Key, s surveyed) error {
	r := reader{j: j, key: key, loose: true, fn: func(Frame) error { return nil }}
	if err := r.segment(s, math.MaxInt64); err != nil {
		return err
	}
	if s.header.base == 0 || r.damage.Places > 0 || r.damage.Torn > 0 {
		name := segmentName(s.number) // numbers are used once
		if err := j.keepFile(key, name, name, s.size); err != nil {
			return err
		}
	}
	if err := j.o.FS.Remove(j.path(key, segmentName(s.number))); err != nil {
		return diskerr.Own("clear segment", string(key), err)
	}
	return diskerr.Own("clear segment", string(key), j.o.FS.SyncDir(j.path(key)))
}
