package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// StoredBytes returns how many bytes the repository of a tenant takes where it
// lies. Every object is listed and none is read. Errors: not_found without a
// repository; those of the target.
func (e *Engine) StoredBytes(ctx context.Context, tenant amber.TenantID) (n int64, err error) {
	t, err := e.openTarget(ctx, tenant, false)
	if err != nil {
		return 0, err
	}
	err = t.List(ctx, "", func(o target.Object) error {
		n += o.Size
		return nil
	})
	return n, err
}
