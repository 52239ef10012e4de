package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// QueuePublish adds an entry to the queue.
var QueuePublish = do(Row{
	ID: "queue.publish", HTTP: "POST /queue", Scope: wire.TokenWrite, Kind: Changes | Repeats, Fails: []amber.Kind{amber.KindQuota}, Doc: "Add an entry to the queue",
}, func(ctx context.Context, c *Call, in Payload[amber.Envelope]) (None, error) {
	c.Subject = in.Body.EntryID
	return None{}, c.Store.Queue.Publish(ctx, in.Body)
})

// QueueClaimIn names who works on the entry.
type QueueClaimIn struct {
	Body struct {
		ConsumerID string `json:"consumer_id"`
	} `body:"json"`
}

// QueueClaim leases the next due entry.
var QueueClaim = do(Row{
	ID: "queue.claim", HTTP: "POST /queue/claim", Scope: wire.TokenWrite, Kind: Changes | Shows, Holds: HoldsState,
	Doc: "Lease the next due entry; the reason queue_empty or queue_full says why no entry is leased",
}, func(ctx context.Context, c *Call, in QueueClaimIn) (amber.Claim, error) {
	claim, err := c.Store.Queue.Claim(ctx, in.Body.ConsumerID)
	c.Subject = claim.Envelope.EntryID
	return claim, err
})

// QueueAck finishes a leased entry.
var QueueAck = do(Row{
	ID: "queue.ack", HTTP: "POST /queue/ack", Scope: wire.TokenWrite, Kind: Changes | Repeats, Doc: "Finish a leased entry",
}, func(ctx context.Context, c *Call, in Payload[amber.Lease]) (None, error) {
	c.Subject = in.Body.EntryID
	return None{}, c.Store.Queue.Ack(ctx, in.Body)
})

// QueueNack returns a leased entry to the queue.
var QueueNack = do(Row{
	ID: "queue.nack", HTTP: "POST /queue/nack", Scope: wire.TokenWrite, Kind: Changes, Doc: "Return a leased entry to the queue",
}, func(ctx context.Context, c *Call, in Payload[amber.Nack]) (None, error) {
	c.Subject = in.Body.Lease.EntryID
	return None{}, c.Store.Queue.Nack(ctx, in.Body)
})

// QueueRenew extends a lease.
var QueueRenew = do(Row{
	ID: "queue.renew", HTTP: "POST /queue/renew", Scope: wire.TokenWrite, Kind: Changes | Repeats, Doc: "Extend a lease",
}, func(ctx context.Context, c *Call, in Payload[amber.Lease]) (amber.Lease, error) {
	c.Subject = in.Body.EntryID
	return c.Store.QueueKeeper.Renew(ctx, in.Body)
})

// QueueShow counts the entries of the queue.
var QueueShow = do(Row{
	ID: "queue.show", HTTP: "GET /queue", Scope: wire.TokenRead, Doc: "Count the entries of the queue",
}, func(ctx context.Context, c *Call, _ None) (amber.Backpressure, error) {
	return c.Store.QueueKeeper.Backpressure(ctx)
})

// QueueDead lists entries that used up their attempts.
var QueueDead = list(Row{
	ID: "queue.dead", HTTP: "GET /queue/dead", Scope: wire.TokenRead, Holds: HoldsStates, Doc: "List entries that used up their attempts, newest first",
}, func(ctx context.Context, c *Call, _ Paging, p Paging) (amber.Page[amber.DeadEntry], error) {
	return c.Store.QueueKeeper.DeadEntries(ctx, p.paging())
})
