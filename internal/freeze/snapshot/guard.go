package snapshot

import "context"

// guardKey is under which a context has the check of [Guarded].
type guardKey struct{}

// Guarded returns a context for an operation that this program may do only for a time. Check is
// called right before each effect that others see: before the manifest of a snapshot is written,
// before each deletion and each pin of one, before a collection of garbage changes anything, and
// before it deletes packs. An error of Check ends the operation. Checks add up: those of ctx are
// called first.
//
// A target has no transactions that a check could be part of, so one case remains. A program may
// pause between a check and the end of the one effect that follows, for longer than the check is
// good for. Its effect is then done beside the work of the next program: one snapshot more, one
// deletion by rules that were read earlier, or a deletion of packs that were condemned a grace time
// before.
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
