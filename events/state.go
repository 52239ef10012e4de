package events

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/amber-memory/amber"
)

// State publishes the documents of runtime state that are put back through it:
// events of scope state, keyed by the key of the document. Putting back what is
// there publishes nothing. Events go to the subject of the agent that is
// written, whoever Sink names. Safe for concurrent use.
type State struct {
	amber.StateProvider
	sink    Sink
	written atomic.Int64
}

var _ amber.StateProvider = (*State)(nil)

// NewState returns a provider whose changes are published. The tenant and the
// agent of the sink are not used. The error is of kind invalid.
func NewState(p amber.StateProvider, to Sink) (*State, error) {
	if p == nil || to.Publisher == nil || to.Clock == nil {
		return nil, amber.Errorf(amber.KindInvalid, "publish state", "", "provider, publisher and clock are required")
	}
	return &State{StateProvider: p, sink: to}, nil
}

// RestoreState implements [amber.StateProvider].
func (s *State) RestoreState(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, key string, doc []byte) error {
	old, oldErr := s.CaptureState(ctx, tenant, agent, key)
	old = bytes.Clone(old) // the provider may use its bytes again
	if err := s.StateProvider.RestoreState(ctx, tenant, agent, key, doc); err != nil {
		return err
	}
	if oldErr == nil && (old == nil) == (doc == nil) && bytes.Equal(old, doc) {
		return nil
	}
	to := s.sink
	to.Tenant, to.Agent = tenant, agent
	now := to.now()
	to.publish(ctx, fmt.Sprintf("%s/%d-%d", key, now.UnixMilli(), s.written.Add(1)), amber.Mutation{
		Op: opOf(old != nil || oldErr != nil, doc != nil), Scope: amber.ChangeState, Key: key,
		OldDigest: digest(string(old), old != nil), NewDigest: digest(string(doc), doc != nil), At: now,
	})
	return nil
}
