package snapshot

import (
	"context"

	"github.com/amber-memory/amber/wire"
)

// SnapshotOfBefore takes a snapshot as an Amber did that did not look for secrets in labels.
func (e *Engine) SnapshotOfBefore(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	return e.takeChecked(ctx, r)
}
