package metrics

import (
	"cmp"
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

// errUnfinished is the outcome of an operation that has not returned.
var errUnfinished = errors.New("operation has not returned")

// of returns w for an operation on an agent, unless w is one agent's already.
func (w watched) of(tenant amber.TenantID, agent amber.AgentID) watched {
	w.op.Tenant, w.op.Agent = cmp.Or(w.op.Tenant, tenant), cmp.Or(w.op.Agent, agent)
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

// watch tells the observers that an operation begins, and puts their context into
// ctx. The function that it returns tells them that the operation has ended, with which
// outcome, and how much data it was about. Until the operation returns, its error is
// errUnfinished, so that an operation that panics does not count as one that went well.
//
//	defer w.watch(&ctx, &err, "task")(one)
func (w watched) watch(ctx *context.Context, err *error, name string) func(measure func() size) {
	*err = errUnfinished
	if (*ctx).Value(unwatchedKey{}) != nil {
		return func(func() size) {}
	}
	op := w.op
	op.Name = name
	ends := make([]func(wire.Outcome), len(w.observers))
	for i, o := range w.observers {
		*ctx, ends[i] = o.Begin(*ctx, op)
	}
	return func(measure func() size) {
		s := measure()
		outcome := wire.Outcome{Err: *err, In: int64(s.in), Out: int64(s.out), Items: s.items}
		if *err != nil {
			outcome.Items = 0
		}
		for _, end := range slices.Backward(ends) {
			end(outcome)
		}
	}
}
