package repo

import (
	"context"

	"github.com/amber-memory/amber"
)

// Glance counts the snapshots of a repository and tells whether it is encrypted, by
// the names of its objects alone: opening it would read its whole index. An empty
// target is fine.
func Glance(ctx context.Context, t amber.Target) (snapshots int, encrypted bool, err error) {
	err = t.List(ctx, manifestPrefix, func(amber.Object) error { snapshots++; return nil })
	if err == nil {
		err = t.List(ctx, keyPrefix, func(amber.Object) error { encrypted = true; return nil })
	}
	return snapshots, encrypted, err
}
