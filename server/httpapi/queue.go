package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// queueRoutes serve the dispatch queue.
func queueRoutes(a *API) {
	handle(a, operation{
		id: "queue.publish", method: "POST", path: agentPath + "/queue", scope: wire.TokenWrite, mutates: true, repeatable: true, summary: "Add an entry to the queue",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Envelope]) (answer[nothing], error) {
		return about(in.Body.EntryID, ag.Store.Queue.Publish(ctx, in.Body))
	})

	type claim struct {
		Body struct {
			ConsumerID string `json:"consumer_id"`
		} `body:"json"`
	}
	handle(a, operation{
		id: "queue.claim", method: "POST", path: agentPath + "/queue/claim", scope: wire.TokenWrite, mutates: true, reads: true,
		summary: "Lease the next due entry; the reason queue_empty or queue_full says why no entry is leased",
	}, func(ctx context.Context, ag *server.Agent, in claim) (answer[amber.Claim], error) {
		c, err := ag.Store.Queue.Claim(ctx, in.Body.ConsumerID)
		return answer[amber.Claim]{body: c, subject: c.Envelope.EntryID}, err
	})

	handle(a, operation{
		id: "queue.ack", method: "POST", path: agentPath + "/queue/ack", scope: wire.TokenWrite, mutates: true, repeatable: true, summary: "Finish a leased entry",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Lease]) (answer[nothing], error) {
		return about(in.Body.EntryID, ag.Store.Queue.Ack(ctx, in.Body))
	})

	handle(a, operation{
		id: "queue.nack", method: "POST", path: agentPath + "/queue/nack", scope: wire.TokenWrite, mutates: true, summary: "Return a leased entry to the queue",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Nack]) (answer[nothing], error) {
		return about(in.Body.Lease.EntryID, ag.Store.Queue.Nack(ctx, in.Body))
	})

	handle(a, operation{
		id: "queue.renew", method: "POST", path: agentPath + "/queue/renew", scope: wire.TokenWrite, mutates: true, repeatable: true, summary: "Extend a lease",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Lease]) (answer[amber.Lease], error) {
		l, err := ag.Store.QueueKeeper.Renew(ctx, in.Body)
		return answer[amber.Lease]{body: l, subject: in.Body.EntryID}, err
	})

	handle(a, operation{
		id: "queue.show", method: "GET", path: agentPath + "/queue", scope: wire.TokenRead, summary: "Count the entries of the queue",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Backpressure], error) {
		return got(ag.Store.QueueKeeper.Backpressure(ctx))
	})

	handleList(a, operation{
		id: "queue.dead", method: "GET", path: agentPath + "/queue/dead", scope: wire.TokenRead, summary: "List entries that used up their attempts, newest first",
	}, func(ctx context.Context, ag *server.Agent, _ paging, p paging) (amber.Page[amber.DeadEntry], error) {
		return ag.Store.QueueKeeper.DeadEntries(ctx, p.paging())
	})
}

// about is done for something whose id is not in the path.
func about(subject string, err error) (answer[nothing], error) {
	a, err := done(err)
	a.subject = subject
	return a, err
}
