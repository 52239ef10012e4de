package snapshot

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// Insistence says what happens when a snapshot that should come first cannot
// be taken.
type Insistence string

// The degrees.
const (
	Require Insistence = "require" // what follows must not happen
	Try     Insistence = "try"     // it happens all the same, and Warn is told
	Off     Insistence = "off"     // nothing is tried
)

// BeforeConsolidation freezes an agent before a run rewrites its memory, and
// returns the snapshot, "" when there is none. It is for whoever consolidates
// memory: an error means that the run must not begin. Errors: those of
// Snapshot, where Options.BeforeConsolidation is [Require].
func (e *Engine) BeforeConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, run string) (amber.SnapshotID, error) {
	if e.o.BeforeConsolidation == Off {
		return "", nil
	}
	meta, err := e.Snapshot(ctx, amber.SnapshotRequest{Tenant: tenant, Agent: agent, Label: amber.LabelBeforeConsolidation + run})
	if err != nil && e.o.BeforeConsolidation == Try {
		if e.o.Warn != nil {
			e.o.Warn(fmt.Sprintf("agent %s is consolidated without a snapshot: %v", agent, err))
		}
		return "", nil
	}
	return meta.ID, err
}
