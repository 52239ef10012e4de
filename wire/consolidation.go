package wire

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
)

// Consolidation is one run of a program that rewrites memory: that merges,
// digests or compacts it. While one is open no other begins.
type Consolidation struct {
	ID      string     `json:"id"`
	Run     string     `json:"run,omitempty"` // what the program calls it
	BeganAt amber.Time `json:"began_at"`
	EndedAt amber.Time `json:"ended_at,omitzero"`
	// Snapshot is what was frozen before it began; "" where nothing was.
	Snapshot amber.SnapshotID `json:"snapshot,omitempty"`
	// Warning says why there is no snapshot though there should be one.
	Warning string `json:"warning,omitempty"`
	// Outcome is how it ended; "" while it is open.
	Outcome ConsolidationOutcome `json:"outcome,omitempty"`
	// Unfinished is one that began before and never ended, which this one has
	// taken the place of.
	Unfinished *Consolidation `json:"unfinished,omitempty"`
}

// ConsolidationOutcome is how a consolidation ended.
type ConsolidationOutcome string

// The outcomes.
const (
	ConsolidationDone      ConsolidationOutcome = "done"
	ConsolidationFailed    ConsolidationOutcome = "failed"    // what it wrote may be half of it
	ConsolidationAbandoned ConsolidationOutcome = "abandoned" // it never said how it ended
)

// ConsolidationBegin asks to begin one.
type ConsolidationBegin struct {
	Tenant amber.TenantID `json:"tenant,omitempty"`
	Agent  amber.AgentID  `json:"agent,omitempty"`
	Run    string         `json:"run,omitempty"` // at most 64 bytes, an id
	// Abandon names the one that is open and whose program is gone: it is given
	// up, and this one takes its place.
	Abandon string `json:"abandon,omitempty"`
}

// maxRunBytes keeps the name of a run within a label.
const maxRunBytes = 64

// Normalize checks the request. The error is of kind invalid.
func (r ConsolidationBegin) Normalize() (ConsolidationBegin, error) {
	_, terr := amber.ParseTenantID(string(r.Tenant))
	_, aerr := amber.ParseAgentID(string(r.Agent))
	if err := cmp.Or(terr, aerr, amber.CheckOptionalID("run", r.Run), amber.CheckOptionalID("consolidation", r.Abandon)); err != nil {
		return r, err
	}
	if len(r.Run) > maxRunBytes {
		return r, amber.Errorf(amber.KindInvalid, "begin consolidation", "", "run has %d bytes, the limit is %d", len(r.Run), maxRunBytes)
	}
	return r, nil
}

// ConsolidationEnd asks to end one.
type ConsolidationEnd struct {
	Tenant  amber.TenantID       `json:"tenant,omitempty"`
	Agent   amber.AgentID        `json:"agent,omitempty"`
	ID      string               `json:"id,omitempty"`
	Outcome ConsolidationOutcome `json:"outcome,omitempty"` // "": done
}

// Normalize checks the request. The error is of kind invalid.
func (r ConsolidationEnd) Normalize() (ConsolidationEnd, error) {
	r.Outcome = cmp.Or(r.Outcome, ConsolidationDone)
	_, terr := amber.ParseTenantID(string(r.Tenant))
	_, aerr := amber.ParseAgentID(string(r.Agent))
	return r, cmp.Or(terr, aerr, amber.CheckID("consolidation", r.ID),
		amber.CheckOneOf("outcome", r.Outcome, ConsolidationDone, ConsolidationFailed, ConsolidationAbandoned))
}

// Consolidator marks consolidations of agents. Safe for concurrent use, also
// between processes.
type Consolidator interface {
	// BeginConsolidation freezes the agent as the configuration says and opens a
	// consolidation. Errors: invalid; not_found without the agent; conflict while
	// another one is open; where a snapshot is required, those of Snapshot.
	BeginConsolidation(ctx context.Context, r ConsolidationBegin) (Consolidation, error)
	// EndConsolidation closes the one that is open. Errors: invalid; not_found
	// where that one is not open.
	EndConsolidation(ctx context.Context, r ConsolidationEnd) (Consolidation, error)
	// OpenConsolidation returns the one that is open. Errors: not_found where
	// there is none; damaged.
	OpenConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (Consolidation, error)
}
