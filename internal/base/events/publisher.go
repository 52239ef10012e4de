package events

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
)

// Event tells that something has happened. An event that is sent again has the
// same ID, so that a receiver can drop the second one.
type Event struct {
	ID      string         `json:"id"`
	Name    EventName      `json:"event"`
	Subject string         `json:"subject"`
	Tenant  amber.TenantID `json:"tenant"`
	Agent   amber.AgentID  `json:"agent,omitempty"` // "" for what concerns a whole tenant
	At      amber.Time     `json:"at"`
	// Payload is what Name says: SnapshotMeta for created, RestoreReport for
	// restored, SnapshotRef for deleted, VerifyReport for verified, PruneReport
	// for pruned, RetentionReport or GCReport for gc, Mutation for mutated.
	Payload any `json:"payload"`
}

// EventName is what happened.
type EventName string

// The names of the events.
const (
	EventCreated  EventName = "created"
	EventRestored EventName = "restored"
	EventDeleted  EventName = "deleted"
	EventVerified EventName = "verified"
	EventPruned   EventName = "pruned"
	EventGC       EventName = "gc"
	EventMutated  EventName = "mutated"
)

// Publisher hands events to listeners. It is called once the change is durable;
// its error undoes nothing. Safe for concurrent use.
type Publisher interface {
	// Publish hands out one event. It does not wait for slow listeners longer
	// than ctx says. Errors: unreachable and refused, where offering the event
	// again may help; invalid for an event that can never be
	// handed out.
	Publish(ctx context.Context, e Event) error
}

// OutboxEvent is an event that waits to be published, in a place that
// survives the process.
type OutboxEvent struct {
	Seq int64 `json:"seq"` // larger than that of every event before
	// Event as it was put in; its payload is a json.RawMessage.
	Event Event `json:"event"`
}

// NoopPublisher is a Publisher that drops every event.
type NoopPublisher struct{}

// Publish does nothing.
func (NoopPublisher) Publish(context.Context, Event) error { return nil }

// The beginnings of subjects, unless configured otherwise.
const (
	DefaultLifecyclePrefix = "amber.memory.snapshot"
	DefaultMutationPrefix  = "amber.memory.mutated"
)

// LifecycleSubject returns the subject of an event in the life of snapshots:
// prefix.tenant.agent.event, and prefix.tenant._all.event without an agent. An
// empty prefix means the default one.
func LifecycleSubject(prefix string, tenant amber.TenantID, agent amber.AgentID, name EventName) string {
	prefix = cmp.Or(prefix, DefaultLifecyclePrefix)
	agent = cmp.Or(agent, "_all")
	return prefix + "." + string(tenant) + "." + string(agent) + "." + string(name)
}

// MutationSubject returns the subject of changes of an agent's memory.
func MutationSubject(prefix string, tenant amber.TenantID, agent amber.AgentID) string {
	prefix = cmp.Or(prefix, DefaultMutationPrefix)
	return prefix + "." + string(tenant) + "." + string(agent)
}

// Mutation is a change of an agent's memory. It never holds text.
type Mutation struct {
	Tenant    amber.TenantID    `json:"tenant"`
	Agent     amber.AgentID     `json:"agent"`
	Op        amber.Op          `json:"op"`
	Scope     amber.ChangeScope `json:"scope"`
	Key       string            `json:"key"`
	OldDigest string            `json:"old_digest,omitempty"`
	NewDigest string            `json:"new_digest,omitempty"`
	At        amber.Time        `json:"at"`
}

// RetentionReport says what one round of retention did.
type RetentionReport struct {
	Deleted        int        `json:"deleted"` // snapshots
	Kept           int        `json:"kept"`
	OrphansRemoved int        `json:"orphans_removed"`
	AgentsVisited  int        `json:"agents_visited"`
	Errors         []string   `json:"errors"`
	At             amber.Time `json:"at"`
}
