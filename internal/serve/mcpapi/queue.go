package mcpapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

type publishArgs struct {
	EntryID   string `json:"entry_id"`
	TaskID    string `json:"task_id"`
	NodeID    string `json:"node_id"`
	Payload   string
	Priority  integer
	NotBefore amber.Time `json:"not_before"`
}

func publishEntry(ctx context.Context, _ *bound, a *op.Call, in publishArgs) (answer, error) {
	priority, err := in.Priority.within("priority", 0, -1<<31, 1<<31-1)
	if err != nil {
		return answer{}, err
	}
	err = a.Store.Queue.Publish(ctx, amber.Envelope{
		EntryID: in.EntryID, TaskID: in.TaskID, NodeID: in.NodeID, Payload: in.Payload, Priority: priority, NotBefore: in.NotBefore,
	})
	return answer{
		text: fmt.Sprintf("%s is queued.", in.EntryID), subject: in.EntryID,
		data: fields{"entry_id": in.EntryID},
	}, err
}

type claimArgs struct {
	ConsumerID string `json:"consumer_id"`
}

// claimed is an entry with its lease, or the word that there is none.
type claimed struct {
	Empty    bool            `json:"empty"`
	Envelope *amber.Envelope `json:"envelope,omitempty"`
	Lease    *amber.Lease    `json:"lease,omitempty"`
}

// claimEntry hands out an entry whole: the worker that took it needs all of it, and
// there is no second way to read it.
func claimEntry(ctx context.Context, _ *bound, a *op.Call, in claimArgs) (answer, error) {
	c, err := a.Store.Queue.Claim(ctx, in.ConsumerID)
	if errors.Is(err, amber.ErrQueueEmpty) {
		return answer{text: "No entry is due.", data: claimed{Empty: true}}, nil
	}
	if err != nil {
		return answer{}, err
	}
	return answer{
		text:    fmt.Sprintf("You have %s until %s, attempt %d.", c.Envelope.EntryID, c.Lease.ExpiresAt, c.Envelope.Attempt),
		data:    claimed{Envelope: &c.Envelope, Lease: &c.Lease},
		subject: c.Envelope.EntryID,
	}, nil
}

type leaseArgs struct {
	Lease  lease
	Reason string
}

// lease is a lease as it comes back from an agent.
type lease struct {
	EntryID    string `json:"entry_id"`
	ConsumerID string `json:"consumer_id"`
	Token      string
	Fence      integer
	ExpiresAt  amber.Time `json:"expires_at"`
}

func (l lease) amber() amber.Lease {
	return amber.Lease{EntryID: l.EntryID, ConsumerID: l.ConsumerID, Token: l.Token, Fence: int64(l.Fence), ExpiresAt: l.ExpiresAt}
}

func ackEntry(ctx context.Context, _ *bound, a *op.Call, in leaseArgs) (answer, error) {
	err := a.Store.Queue.Ack(ctx, in.Lease.amber())
	return answer{text: in.Lease.EntryID + " is done.", data: fields{"done": true}, subject: in.Lease.EntryID}, err
}

func nackEntry(ctx context.Context, _ *bound, a *op.Call, in leaseArgs) (answer, error) {
	err := a.Store.Queue.Nack(ctx, amber.Nack{Lease: in.Lease.amber(), Reason: in.Reason})
	return answer{text: in.Lease.EntryID + " was given back.", data: fields{"done": true}, subject: in.Lease.EntryID}, err
}

func renewLease(ctx context.Context, _ *bound, a *op.Call, in leaseArgs) (answer, error) {
	l, err := a.Store.QueueKeeper.Renew(ctx, in.Lease.amber())
	return answer{
		text: fmt.Sprintf("You have %s until %s.", l.EntryID, l.ExpiresAt), subject: l.EntryID,
		data: fields{"lease": l},
	}, err
}

func queueStatus(ctx context.Context, _ *bound, a *op.Call, _ struct{}) (answer, error) {
	p, err := a.Store.QueueKeeper.Backpressure(ctx)
	return answer{text: fmt.Sprintf("%d queued, %d leased, %d dead; %d more may be leased.", p.Queued, p.Leased, p.Dead, p.Available), data: p}, err
}
