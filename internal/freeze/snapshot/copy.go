package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire/sign"
)

// CopyTo brings every snapshot of a tenant to another target, and CopyFrom back
// from there; objects that the destination has are not sent again. Errors:
// not_found without a repository; those of [repo.Copy].
//
// Where recipients are configured, snapshots from before that lie in the clear
// are refused, unless plain lets them go.
func (e *Engine) CopyTo(ctx context.Context, tenant amber.TenantID, to target.Target, plain bool) (target.CopyReport, error) {
	return e.copy(ctx, tenant, waiting, plain, func(own target.Target) (target.Target, target.Target) { return own, to })
}

// CopyFrom is the way back of [Engine.CopyTo].
func (e *Engine) CopyFrom(ctx context.Context, tenant amber.TenantID, from target.Target) (target.CopyReport, error) {
	return e.copy(ctx, tenant, creating, true, func(own target.Target) (target.Target, target.Target) { return from, own })
}

// acceptableKey says whether a key record may take the place of another: only
// who is trusted may say who reads a repository.
func (e *Engine) acceptableKey(ctx context.Context, s repo.SignatureState) error {
	signature, err := e.standing(ctx, sign.SignatureReport{Status: s.Status, KeyID: s.KeyID, Detail: s.Detail})
	if err != nil {
		return err
	}
	return e.Acceptable("the key of the repository", signature)
}

func (e *Engine) copy(ctx context.Context, tenant amber.TenantID, how opening, plain bool, ends func(own target.Target) (from, to target.Target)) (target.CopyReport, error) {
	own, err := e.openTarget(ctx, tenant, how == creating)
	if err != nil {
		return target.CopyReport{}, err
	}
	// A gc of the own repository waits for this lock; at the other end its rules
	// hold without a lock.
	release, err := e.lock(ctx, tenant, fsx.Shared, true)
	if err != nil {
		return target.CopyReport{}, err
	}
	defer release()
	from, to := ends(own)
	identities, err := e.keys.identities()
	if err != nil {
		return target.CopyReport{}, err
	}
	wanted, err := e.keys.recipients()
	if err != nil {
		return target.CopyReport{}, err
	}
	report, err := repo.Copy(ctx, from, to, repo.CopyOptions{
		Progress:    func(done, total int64) { e.progress(ctx, "copy packs", done, total) },
		Identities:  identities,
		RefusePlain: len(wanted) > 0 && !plain, // what is to be encrypted does not leave in the clear
		Accept: func(s repo.SignatureState) error {
			return e.acceptableKey(ctx, s)
		},
	})
	return report, fail("copy repository", string(tenant), err)
}
