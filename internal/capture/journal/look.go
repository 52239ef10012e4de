package journal

import (
	"context"

	"github.com/amber-memory/amber"
)

// Look calls fn for every intact frame of a session, in order. It changes
// nothing and takes no lock, so that it may run beside writers; an entry that is
// being written may or may not be there. The payload is valid until fn returns.
// A session that is not there has no frames. Errors: those of fn; invalid,
// too_new, unreachable when ctx ends, and those of the disk.
func (j *Journal) Look(ctx context.Context, key Key, fn func(Frame) error) (Damage, error) {
	if err := checkKey(key); err != nil {
		return Damage{}, err
	}
	files, err := j.segments(key)
	if amber.KindOf(err) == amber.KindNotFound {
		return Damage{}, nil
	}
	if err != nil {
		return Damage{}, err
	}
	r := reader{j: j, key: key, loose: true, fn: fn}
	err = r.read(ctx, files)
	return r.damage, err
}
