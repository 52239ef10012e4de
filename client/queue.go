package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
)

// queue is the dispatch queue of an agent.
type queue struct{ *Agent }

// do posts to the queue and has no answer.
func (q queue) do(ctx context.Context, body any, repeatable bool, elements ...string) error {
	_, err := call[none](ctx, q.c, request{
		method: http.MethodPost, path: q.path(append([]string{"queue"}, elements...)...), body: body, repeatable: repeatable,
	})
	return err
}

// Publish implements [amber.Queue].
func (q queue) Publish(ctx context.Context, e amber.Envelope) error {
	if _, err := e.Normalize(); err != nil {
		return err
	}
	return q.do(ctx, e, true)
}

// Claim implements [amber.Queue]. A claim whose answer is lost is not made
// again: its lease expires.
func (q queue) Claim(ctx context.Context, consumerID string) (amber.Claim, error) {
	if err := amber.CheckID("consumer id", consumerID); err != nil {
		return amber.Claim{}, err
	}
	body := fields{"consumer_id": consumerID}
	return post[amber.Claim](ctx, q.Agent, body, "queue", "claim")
}

// Ack implements [amber.Queue].
func (q queue) Ack(ctx context.Context, l amber.Lease) error { return q.do(ctx, l, true, "ack") }

// Nack implements [amber.Queue].
func (q queue) Nack(ctx context.Context, n amber.Nack) error {
	if _, err := n.Normalize(); err != nil {
		return err
	}
	return q.do(ctx, n, false, "nack")
}

// Renew implements [amber.QueueKeeper].
func (q queue) Renew(ctx context.Context, l amber.Lease) (amber.Lease, error) {
	return ask[amber.Lease](ctx, q.Agent, l, "queue", "renew")
}

// Backpressure implements [amber.QueueKeeper].
func (q queue) Backpressure(ctx context.Context) (amber.Backpressure, error) {
	return get[amber.Backpressure](ctx, q.Agent, nil, "queue")
}

// DeadEntries implements [amber.QueueKeeper].
func (q queue) DeadEntries(ctx context.Context, p amber.Paging) (amber.Page[amber.DeadEntry], error) {
	return page[amber.DeadEntry](ctx, q.Agent, newValues().paging(p).Values, "queue", "dead")
}
