package metrics

import (
	"context"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// watched is what every contract that is watched has: whose it is and who
// watches.
type watched struct {
	op        wire.Operation // all but the name
	observers []wire.Observer
}

// part is a contract that is watched.
type part[T any] struct {
	watched
	next T
}

// size is how much an operation was about.
type size struct {
	in, out int // bytes of content
	items   int
}

// errUnfinished is the outcome of an operation that has not returned.
var errUnfinished = errors.New("operation has not returned")

// of returns w for an operation on an agent, unless w is one agent's already.
func (w watched) of(tenant amber.TenantID, agent amber.AgentID) watched {
	if w.op.Tenant == "" {
		w.op.Tenant, w.op.Agent = tenant, agent
	}
	return w
}

// whole returns w for an operation on a whole tenant.
func (w watched) whole(tenant amber.TenantID) watched {
	w = w.of(tenant, "")
	w.op.Agent = ""
	return w
}

type unwatchedKey struct{}

// Unwatched returns a context whose operations the observers do not see. Code that
// reads a store only to measure it uses this context.
func Unwatched(ctx context.Context) context.Context {
	return context.WithValue(ctx, unwatchedKey{}, true)
}

// begin tells the observers that an operation begins, and end that it has
// ended. The error is for the named result of the caller: it stays there when
// the operation panics, so that it does not count as one that went well.
func (w watched) begin(ctx context.Context, name string) (_ context.Context, end func(error, size), _ error) {
	if ctx.Value(unwatchedKey{}) != nil {
		return ctx, func(error, size) {}, errUnfinished
	}
	op := w.op
	op.Name = name
	ends := make([]func(wire.Outcome), len(w.observers))
	for i, o := range w.observers {
		ctx, ends[i] = o.Begin(ctx, op)
	}
	return ctx, func(err error, s size) {
		outcome := wire.Outcome{Err: err, In: int64(s.in), Out: int64(s.out), Items: s.items}
		if err != nil {
			outcome.Items = 0
		}
		for _, end := range slices.Backward(ends) {
			end(outcome)
		}
	}, errUnfinished
}
