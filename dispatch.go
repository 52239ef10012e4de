package amber

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Envelope is one entry of the dispatch queue.
type Envelope struct {
	EntryID   string `json:"entry_id" redact:"id,entry id"`
	TaskID    string `json:"task_id" redact:"id,task id"`
	NodeID    string `json:"node_id" redact:"id,node id"`
	Attempt   int    `json:"attempt"` // claims so far, this one included
	Payload   string `json:"payload" redact:"raw"`
	Priority  int    `json:"priority"` // higher first
	NotBefore Time   `json:"not_before,omitzero"`
}

// Normalize checks the envelope. The error is of kind invalid.
func (e Envelope) Normalize() (Envelope, error) {
	e.Attempt = 0
	return e, cmp.Or(
		CheckID("entry id", e.EntryID),
		CheckID("task id", e.TaskID),
		CheckID("node id", e.NodeID),
		CheckText("payload", e.Payload, MaxStateBytes, Lenient),
	)
}

// Lease is the right to work on one entry for a while.
type Lease struct {
	EntryID    string `json:"entry_id" redact:"-"`
	ConsumerID string `json:"consumer_id" redact:"-"`
	Token      string `json:"token" redact:"-"`
	// Fence only grows: of two leases of one node, the later has the larger
	// fence, and results saved under the smaller are refused.
	Fence     int64 `json:"fence"`
	ExpiresAt Time  `json:"expires_at"`
}

// Claim is an entry with the lease on it.
type Claim struct {
	Envelope Envelope `json:"envelope"`
	Lease    Lease    `json:"lease"`
}

// Nack gives an entry back.
type Nack struct {
	Lease  Lease  `json:"lease" redact:"-"`
	Reason string `json:"reason" redact:"text"`
	// NotBefore delays the next claim; zero means a backoff that doubles with
	// each attempt, with jitter.
	NotBefore Time `json:"not_before,omitzero"`
}

// Normalize checks the reason. The error is of kind invalid.
func (n Nack) Normalize() (Nack, error) {
	n.Reason = orDefault(n.Reason, "no reason given")
	return n, CheckText("reason", n.Reason, MaxSummaryBytes, Lenient)
}

// Backpressure is the state of the queue.
type Backpressure struct {
	Queued      int `json:"queued"`
	Leased      int `json:"leased"`
	Dead        int `json:"dead"`
	MaxInFlight int `json:"max_in_flight"`
	Available   int `json:"available"` // leases that may still be given out
}

// DeadEntry is an entry that used up its attempts.
type DeadEntry struct {
	Envelope Envelope `json:"envelope"`
	Reasons  []string `json:"reasons"` // one per failed attempt, oldest first
	DeadAt   Time     `json:"dead_at"`
}

// ErrQueueEmpty is returned by Claim when no entry is due. Come back later.
var ErrQueueEmpty error = &Error{Op: "claim entry", Kind: KindNotFound, Err: errors.New("no entry is due")}

// ErrQueueFull is returned by Claim when as many leases are out as may be.
// Finish work first.
var ErrQueueFull error = &Error{Op: "claim entry", Kind: KindBusy, Err: errors.New("every lease is taken")}

// QueueOptions bound the dispatch queue. Zero fields take their defaults.
type QueueOptions struct {
	Lease       time.Duration // how long a lease lasts; default 30 s
	MaxInFlight int           // leases out at one time; default 32
	MaxQueued   int           // entries waiting at one time; default 100 000
	MaxAttempts int           // claims before an entry is dead; default 5
	Backoff     time.Duration // delay after the first nack; default 1 s
	MaxBackoff  time.Duration // delay it doubles up to; default 5 min
}

// WithDefaults fills zero fields.
func (o QueueOptions) WithDefaults() QueueOptions {
	setDefault(&o.Lease, 30*time.Second)
	setDefault(&o.MaxInFlight, 32)
	setDefault(&o.MaxQueued, 100_000)
	setDefault(&o.MaxAttempts, 5)
	setDefault(&o.Backoff, time.Second)
	setDefault(&o.MaxBackoff, 5*time.Minute)
	return o
}

// Delay returns the backoff after failed attempts, jittered by r in [0, 1)
// to between half of it and all of it.
func (o QueueOptions) Delay(attempts int, r float64) time.Duration {
	d := o.Backoff
	for i := 1; i < attempts && d < o.MaxBackoff; i++ {
		d *= 2
	}
	d = min(d, o.MaxBackoff)
	return d/2 + time.Duration(r*float64(d/2))
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Queue hands work to consumers. Safe for concurrent use, also between
// processes.
type Queue interface {
	// Publish adds an entry. An entry id that was published before with the
	// same bytes does nothing, also after it was acked; an acked id is
	// remembered for at least 7 days. Errors: invalid; conflict when the bytes
	// differ; quota when the queue is full.
	Publish(ctx context.Context, e Envelope) error
	// Claim leases the due entry of highest priority, oldest first. Leases
	// that expired are taken back before; an entry out of attempts is dead.
	// Errors: invalid, [ErrQueueEmpty], [ErrQueueFull].
	Claim(ctx context.Context, consumerID string) (Claim, error)
	// Ack finishes an entry. Acking twice under the same lease does nothing.
	// Errors: conflict when the lease is lost.
	Ack(ctx context.Context, l Lease) error
	// Nack gives an entry back, or buries it when its attempts are used up.
	// Errors: invalid, conflict when the lease is lost.
	Nack(ctx context.Context, n Nack) error
}

// QueueKeeper renews leases and looks at the queue. Safe for concurrent use.
type QueueKeeper interface {
	// Renew extends a lease that has not expired; it never shortens it.
	// Errors: conflict when the lease is lost.
	Renew(ctx context.Context, l Lease) (Lease, error)
	// Backpressure counts. Leases that expired count as queued.
	Backpressure(ctx context.Context) (Backpressure, error)
	// DeadEntries returns a page of the dead entries, newest first. Errors: invalid.
	DeadEntries(ctx context.Context, p Paging) (Page[DeadEntry], error)
}
