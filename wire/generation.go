package wire

import (
	"context"

	"github.com/amber-memory/amber"
)

// GenerationReader reports what restores have made of an agent.
type GenerationReader interface {
	// Generation says which generation of an agent is live, which restore made it, and whether a restore has
	// not come to its end. It changes nothing. Errors: invalid; not_found for an agent that does not exist;
	// damaged and too_new for records that cannot be believed.
	Generation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (Generation, error)
}

// Generation is what the live folder of an agent says about itself. Every restore of an agent
// makes a new generation, with a greater number.
type Generation struct {
	Generation int64 `json:"generation"`
	// Restored says which restore made this generation; nil for one that no restore made, or one of before
	// Amber wrote that down.
	Restored *GenerationOrigin `json:"restored,omitempty"`
	// Restoring is a restore that is under way or was interrupted.
	Restoring *UnfinishedRestore `json:"restoring,omitempty"`
}

// GenerationOrigin is the restore that made a generation.
type GenerationOrigin struct {
	From     amber.SnapshotID `json:"from"`
	Replaces int64            `json:"replaces"` // the generation that was live before
	// SafetySnapshot holds the agent as it was before; "" where none was taken.
	SafetySnapshot amber.SnapshotID `json:"safety_snapshot,omitempty"`
}

// UnfinishedRestore is a restore that has not come to its end.
type UnfinishedRestore struct {
	From       amber.SnapshotID `json:"from"`
	Generation int64            `json:"generation"` // that is built
	Replaces   int64            `json:"replaces"`
	Switched   bool             `json:"switched"` // the new generation is live
	Running    bool             `json:"running"`  // an operation on the agent is under way
}
