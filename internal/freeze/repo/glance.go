package repo

import (
	"context"

	"github.com/amber-memory/amber/internal/freeze/target"
)

// Glance counts the snapshots of a repository and reports whether it is encrypted, by the names of its objects alone:
// to open it would read its whole index. An empty target is fine.
func Glance(ctx context.Context, t target.Target) (snapshots int, encrypted bool, err error) {
	err = t.List(ctx, manifestPrefix, func(target.Object) error { snapshots++; return nil })
	if err == nil {
		err = t.List(ctx, keyPrefix, func(target.Object) error { encrypted = true; return nil })
	}
	return snapshots, encrypted, err
}
