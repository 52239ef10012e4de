package wire

import "context"

// ProgressFunc gets the step and how far it is; total is 0 when unknown. It returns at once.
type ProgressFunc func(step string, done, total int64)

type progressKey struct{}

// WithProgress returns a context whose work tells how far it is. Contexts do not cross a network: who calls a
// server elsewhere is not told.
func WithProgress(ctx context.Context, fn ProgressFunc) context.Context {
	return context.WithValue(ctx, progressKey{}, fn)
}

// Progress tells the caller of ctx how far a step is; a caller that does not want to know is
// not told.
func Progress(ctx context.Context, step string, done, total int64) {
	if fn, ok := ctx.Value(progressKey{}).(ProgressFunc); ok {
		fn(step, done, total)
	}
}
