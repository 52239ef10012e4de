package events

import (
	"context"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

// publishWait is how long a write that is done waits for its event to be
// taken.
const publishWait = 5 * time.Second

// Sink is where the events of one agent go.
type Sink struct {
	Publisher Publisher
	Tenant    amber.TenantID
	Agent     amber.AgentID
	Clock     amber.Clock
	Prefix    string // of subjects; "": [DefaultMutationPrefix]
	// Warn is called for an event that could not be published; the change itself
	// is not undone. It may be nil, and must not block.
	Warn func(error)
}

func (s Sink) check() error {
	if s.Publisher == nil || s.Clock == nil {
		return amber.Errorf(amber.KindInvalid, "publish mutations", string(s.Agent), "publisher and clock are required")
	}
	if _, err := amber.ParseTenantID(string(s.Tenant)); err != nil {
		return err
	}
	_, err := amber.ParseAgentID(string(s.Agent))
	return err
}

// publish hands out the event of a change that is done. The caller may have given up meanwhile: the
// change is made, so its event goes out nevertheless.
func (s Sink) publish(ctx context.Context, id string, m Mutation) {
	m.Tenant, m.Agent = s.Tenant, s.Agent
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishWait)
	defer cancel()
	id = fmt.Sprintf("%s/%s/%s/%s", s.Tenant, s.Agent, m.Scope, id)
	if err := s.Publisher.Publish(ctx, mutation(id, s.Prefix, m)); err != nil && s.Warn != nil {
		s.Warn(&amber.Error{Op: "publish mutation", Kind: amber.KindOf(err), ID: id, Err: err})
	}
}

// mutation wraps a change in an event.
func mutation(id, prefix string, m Mutation) Event {
	return Event{
		ID: id, Name: EventMutated, Subject: MutationSubject(prefix, m.Tenant, m.Agent),
		Tenant: m.Tenant, Agent: m.Agent, At: m.At, Payload: m,
	}
}

func (s Sink) now() amber.Time { return amber.At(s.Clock()) }

// digest of a content; "" for none.
func digest(content string, exists bool) string {
	if !exists {
		return ""
	}
	return amber.ContentDigest(content)
}

// opOf names what happened to something that was there before, or is after.
func opOf(before, after bool) amber.Op {
	switch {
	case !before:
		return amber.OpInsert
	case !after:
		return amber.OpDelete
	}
	return amber.OpUpdate
}
