package snapshot

import "context"

// guardKey is under which a context has the check of [Guarded].
type guardKey struct{}

// Guarded returns a context for an operation that is this program's for a time only. Check is called right before each effect
// that others see: before the manifest of a snapshot is written, before each deletion and each pin of one, and before a collection of garbage changes
// anything and before it deletes packs. Its error ends the operation. Checks add up: those of ctx are called first.
//
// A target has no transactions that a check could be part of. What remains is a program that is paused between a check and the end
// of the one effect that follows, for longer than the check is good for. That effect is then done beside the program that followed: one snapshot
// more, one deletion by rules that were looked at earlier, or packs deleted that were condemned a grace time before.
func Guarded(ctx context.Context, check func(context.Context) error) context.Context {
	before, _ := ctx.Value(guardKey{}).(func(context.Context) error)
	if before == nil {
		return context.WithValue(ctx, guardKey{}, check)
	}
	return context.WithValue(ctx, guardKey{}, func(ctx context.Context) error {
		if err := before(ctx); err != nil {
			return err
		}
		return check(ctx)
	})
}

// MayAct returns the error of the checks that the context was given by [Guarded]; nil without any.
func MayAct(ctx context.Context) error {
	if check, ok := ctx.Value(guardKey{}).(func(context.Context) error); ok {
		return check(ctx)
	}
	return nil
}
