package op

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
)

type publishArgs struct {
	EntryID   string     `json:"entry_id" need:"yes"`
	TaskID    string     `json:"task_id" need:"yes"`
	NodeID    string     `json:"node_id" need:"yes"`
	Payload   string     `json:"payload"`
	Priority  int        `json:"priority" doc:"higher first" range:"-2147483648 2147483647"`
	NotBefore amber.Time `json:"not_before"`
}

type published struct {
	EntryID string `json:"entry_id"`
}

var queuePublish = NewTool(Tool{
	Op: QueuePublish.Row, Name: "queue_publish", Title: "Queue work", Use: "Add an entry to the queue; the same entry twice is one.", Hints: Again,
}, func(ctx context.Context, c *Call, in publishArgs) (published, string, error) {
	_, err := QueuePublish.Call(ctx, c, Payload[amber.Envelope]{amber.Envelope{
		EntryID: in.EntryID, TaskID: in.TaskID, NodeID: in.NodeID, Payload: in.Payload, Priority: in.Priority, NotBefore: in.NotBefore,
	}})
	return published{in.EntryID}, in.EntryID + " is queued.", err
})

type claimArgs struct {
	ConsumerID string `json:"consumer_id" need:"yes"`
}

// claimed is an entry with its lease, or the word that there is none.
type claimed struct {
	Empty    bool            `json:"empty"`
	Envelope *amber.Envelope `json:"envelope,omitempty"`
	Lease    *amber.Lease    `json:"lease,omitempty" shows:"entry_id consumer_id token fence expires_at"`
}

// queueClaim hands out an entry whole: the worker that took it needs all of it, and there is no second way to read it.
var queueClaim = NewTool(Tool{
	Op: QueueClaim.Row, Name: "queue_claim", Title: "Take work", Use: "Lease the next entry. Finish it with queue_ack before the lease expires.",
}, func(ctx context.Context, c *Call, in claimArgs) (claimed, string, error) {
	var asked QueueClaimIn
	asked.Body.ConsumerID = in.ConsumerID
	got, err := QueueClaim.Call(ctx, c, asked)
	if errors.Is(err, amber.ErrQueueEmpty) {
		return claimed{Empty: true}, "No entry is due.", nil
	}
	return claimed{Envelope: &got.Envelope, Lease: &got.Lease},
		fmt.Sprintf("You have %s until %s, attempt %d.", got.Envelope.EntryID, got.Lease.ExpiresAt, got.Envelope.Attempt), err
})

type leaseArgs struct {
	Lease amber.Lease `json:"lease" need:"yes"`
}

type nackArgs struct {
	Lease  amber.Lease `json:"lease" need:"yes"`
	Reason string      `json:"reason"`
}

type finished struct {
	Done bool `json:"done"`
}

var queueAck = NewTool(Tool{
	Op: QueueAck.Row, Name: "queue_ack", Title: "Finish work", Use: "Say that a leased entry is done.", Hints: Again,
}, func(ctx context.Context, c *Call, in leaseArgs) (finished, string, error) {
	_, err := QueueAck.Call(ctx, c, Payload[amber.Lease]{in.Lease})
	return finished{true}, in.Lease.EntryID + " is done.", err
})

var queueNack = NewTool(Tool{
	Op: QueueNack.Row, Name: "queue_nack", Title: "Give work back", Use: "Give a leased entry back because it could not be done.",
}, func(ctx context.Context, c *Call, in nackArgs) (finished, string, error) {
	_, err := QueueNack.Call(ctx, c, Payload[amber.Nack]{amber.Nack{Lease: in.Lease, Reason: in.Reason}})
	return finished{true}, in.Lease.EntryID + " was given back.", err
})

type renewed struct {
	Lease amber.Lease `json:"lease" shows:"entry_id consumer_id token fence expires_at"`
}

var queueRenew = NewTool(Tool{
	Op: QueueRenew.Row, Name: "queue_renew", Title: "Keep a lease", Use: "Extend a lease before it expires.",
}, func(ctx context.Context, c *Call, in leaseArgs) (renewed, string, error) {
	l, err := QueueRenew.Call(ctx, c, Payload[amber.Lease]{in.Lease})
	return renewed{l}, fmt.Sprintf("You have %s until %s.", l.EntryID, l.ExpiresAt), err
})

var queueStatus = NewTool(Tool{
	Op: QueueShow.Row, Name: "queue_status", Title: "Look at the queue", Use: "How much is waiting, leased and dead.", Shows: "queued leased dead available",
}, func(ctx context.Context, c *Call, _ None) (amber.Backpressure, string, error) {
	p, err := QueueShow.Call(ctx, c, None{})
	return p, fmt.Sprintf("%d queued, %d leased, %d dead; %d more may be leased.", p.Queued, p.Leased, p.Dead, p.Available), err
})
