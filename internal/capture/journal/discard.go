package journal

import (
	"context"

	"github.com/amber-memory/amber"
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
		files, err := j.held(key)
		if err != nil {
			return err
		}
		for _, h := range files {
			if h.Name != name { // so it is no path
				continue
			}
			if err := j.o.FS.Remove(j.path(key, quarantineName, name)); err != nil {
				return diskerr.Own("discard", string(key), err)
			}
			if err := j.o.FS.SyncDir(j.path(key, quarantineName)); err != nil {
				return diskerr.Own("discard", string(key), err)
			}
			return nil
		}
		return amber.Errorf(amber.KindNotFound, "discard", name, "no such file in quarantine")
	})
}
