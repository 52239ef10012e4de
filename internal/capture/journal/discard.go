package journal

import (
	"context"

	"github.com/amber-memory/amber/internal/base/diskerr"
)

// Discard removes a file from the quarantine of a session for good, and
// returns once that is durable. Errors: invalid, not_found, busy, unreachable,
// refused, internal.
func (j *Journal) Discard(ctx context.Context, key Key, name string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return j.locked(ctx, key, func() error {
		h, err := j.heldNamed("discard", key, name)
		if err != nil {
			return err
		}
		if err = j.o.FS.Remove(j.path(key, quarantineName, h.Name)); err == nil {
			err = j.o.FS.SyncDir(j.path(key, quarantineName))
		}
		return diskerr.Own("discard", string(key), err)
	})
}
