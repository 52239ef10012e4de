package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/repo"
)

// CopyTo brings every snapshot of a tenant to another target, and CopyFrom back
// from there; what is there is not sent again. Errors: not_found without a
// repository; those of [repo.Copy].
func (e *Engine) CopyTo(ctx context.Context, tenant amber.TenantID, to amber.Target) (amber.CopyReport, error) {
	return e.copy(ctx, tenant, waiting, func(own amber.Target) (amber.Target, amber.Target) { return own, to })
}

// CopyFrom is the way back of [Engine.CopyTo].
func (e *Engine) CopyFrom(ctx context.Context, tenant amber.TenantID, from amber.Target) (amber.CopyReport, error) {
	return e.copy(ctx, tenant, creating, func(own amber.Target) (amber.Target, amber.Target) { return from, own })
}

func (e *Engine) copy(ctx context.Context, tenant amber.TenantID, how opening, ends func(own amber.Target) (from, to amber.Target)) (amber.CopyReport, error) {
	own, err := e.o.Repositories.Open(ctx, tenant, how == creating)
	if err != nil {
		return amber.CopyReport{}, err
	}
	// Whoever collects garbage here waits; over there its rules hold without a
	// lock.
	release, err := e.o.Repositories.Lock(ctx, tenant, fsx.Shared, true)
	if err != nil {
		return amber.CopyReport{}, err
	}
	defer release()
	from, to := ends(own)
	report, err := repo.Copy(ctx, from, to, repo.CopyOptions{
		Progress: func(done, total int64) { e.progress("copy packs", done, total) },
	})
	return report, fail("copy repository", string(tenant), err)
}
