package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// queue is the dispatch queue of an agent.
type queue struct{ *Agent }

// Publish implements [amber.Queue].
func (q queue) Publish(ctx context.Context, e amber.Envelope) error {
	return done(op.QueuePublish.Call(ctx, q, op.Payload[amber.Envelope]{Body: e}))
}

// Claim implements [amber.Queue]. A claim whose answer is lost is not made
// again: its lease expires.
func (q queue) Claim(ctx context.Context, consumerID string) (amber.Claim, error) {
	if err := amber.CheckID("consumer id", consumerID); err != nil {
		return amber.Claim{}, err
	}
	in := op.QueueClaimIn{}
	in.Body.ConsumerID = consumerID
	return op.QueueClaim.Call(ctx, q, in)
}

// Ack implements [amber.Queue].
func (q queue) Ack(ctx context.Context, l amber.Lease) error {
	return done(op.QueueAck.Call(ctx, q, op.Payload[amber.Lease]{Body: l}))
}

// Nack implements [amber.Queue].
func (q queue) Nack(ctx context.Context, n amber.Nack) error {
	return done(op.QueueNack.Call(ctx, q, op.Payload[amber.Nack]{Body: n}))
}

// Renew implements [amber.QueueKeeper].
func (q queue) Renew(ctx context.Context, l amber.Lease) (amber.Lease, error) {
	return op.QueueRenew.Call(ctx, q, op.Payload[amber.Lease]{Body: l})
}

// Backpressure implements [amber.QueueKeeper].
func (q queue) Backpressure(ctx context.Context) (amber.Backpressure, error) {
	return op.QueueShow.Call(ctx, q, op.None{})
}

// DeadEntries implements [amber.QueueKeeper].
func (q queue) DeadEntries(ctx context.Context, p amber.Paging) (amber.Page[amber.DeadEntry], error) {
	return op.QueueDead.Call(ctx, q, paging(p))
}
