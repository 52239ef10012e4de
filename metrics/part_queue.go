package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type queue struct {
	watched
	next amber.Queue
}

var _ amber.Queue = queue{}

func (p queue) Publish(ctx context.Context, e amber.Envelope) (err error) {
	ctx, end, err := p.begin(ctx, "publish")
	defer func() { end(err, size{in: len(e.Payload), items: 1}) }()
	return p.next.Publish(ctx, e)
}

func (p queue) Claim(ctx context.Context, consumerID string) (c amber.Claim, err error) {
	ctx, end, err := p.begin(ctx, "claim")
	defer func() { end(err, size{out: len(c.Envelope.Payload), items: 1}) }()
	return p.next.Claim(ctx, consumerID)
}

func (p queue) Ack(ctx context.Context, l amber.Lease) (err error) {
	ctx, end, err := p.begin(ctx, "ack")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Ack(ctx, l)
}

func (p queue) Nack(ctx context.Context, n amber.Nack) (err error) {
	ctx, end, err := p.begin(ctx, "nack")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Nack(ctx, n)
}

type queueKeeper struct {
	watched
	next amber.QueueKeeper
}

var _ amber.QueueKeeper = queueKeeper{}

func (p queueKeeper) Renew(ctx context.Context, l amber.Lease) (out amber.Lease, err error) {
	ctx, end, err := p.begin(ctx, "renew")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Renew(ctx, l)
}

func (p queueKeeper) Backpressure(ctx context.Context) (b amber.Backpressure, err error) {
	ctx, end, err := p.begin(ctx, "backpressure")
	defer func() { end(err, size{}) }()
	return p.next.Backpressure(ctx)
}

func (p queueKeeper) DeadEntries(ctx context.Context, limit int) (l []amber.DeadEntry, err error) {
	ctx, end, err := p.begin(ctx, "dead_entries")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.DeadEntries(ctx, limit)
}
