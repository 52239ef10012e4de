package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Whose is in the path of what concerns snapshots: requests name the agent, too.
type Whose struct {
	Tenant amber.TenantID `path:"tenant" doc:"the tenant"`
	Agent  amber.AgentID  `path:"agent" doc:"the agent"`
}

// AgentCapabilities reads what the store can do.
var AgentCapabilities = do(Row{
	ID: "agent.capabilities", HTTP: "GET /capabilities", Scope: wire.TokenRead, Kind: Bound, Doc: "Read the capabilities of the agent's store",
}, func(_ context.Context, c *Call, _ None) (amber.Capabilities, error) {
	return c.Store.Capabilities(), nil
})

// AgentStats counts the records of the store.
var AgentStats = do(Row{
	ID: "agent.stats", HTTP: "GET /stats", Scope: wire.TokenRead, Kind: Bound, Doc: "Count the records of the agent's store",
}, func(ctx context.Context, c *Call, _ None) (amber.Stats, error) { return c.Store.Stats.Stats(ctx) })

// AgentHealth reads the health of long-term memory.
var AgentHealth = do(Row{
	ID: "agent.health", HTTP: "GET /health", Scope: wire.TokenRead, Kind: Bound, Doc: "Read the health of long-term memory",
}, func(ctx context.Context, c *Call, _ None) (amber.Health, error) {
	h, err := c.Store.LongTerm.Health(ctx)
	return Placeless(c.Caller, h), err
})

// AgentGeneration reads which generation of the agent is live.
var AgentGeneration = do(Row{
	ID: "agent.generation", HTTP: "GET /generation", Scope: wire.TokenRead, Kind: Closed,
	Doc: "Read which generation of the agent is live, which restore made the generation, and whether a restore is unfinished",
}, func(ctx context.Context, c *Call, in Whose) (wire.Generation, error) {
	if c.Generations == nil {
		return wire.Generation{}, unsupported("look at generation", "this server keeps no snapshots")
	}
	g, err := c.Generations.Generation(ctx, in.Tenant, in.Agent)
	if amber.KindOf(err) == amber.KindNotFound {
		err = NotThere() // in the words for an agent that the caller does not reach
	}
	return Placeless(c.Caller, g), err
})

// DoctorIn says how far the check goes.
type DoctorIn struct {
	Deep bool `query:"deep" doc:"look at every row"`
}

// AgentDoctor checks the agent.
var AgentDoctor = do(Row{
	ID: "agent.doctor", HTTP: "GET /doctor", Scope: wire.TokenAdmin, Kind: Long,
	Doc: "Check the agent; only callers that may see every tenant get the details of findings",
}, func(ctx context.Context, c *Call, in DoctorIn) (wire.Checkup, error) {
	if c.Doctor == nil {
		return wire.Checkup{}, unsupported("check agent", "this server has no check of agents")
	}
	found, err := c.Doctor(ctx, in.Deep)
	return discreet(c.Caller, found), err
})

// SyncIn names a place.
type SyncIn struct {
	Place string `query:"place" doc:"the place, by the name that sync gave it; default what every place has in quarantine, and conflicts"`
}

// AgentSync reads the state of the sync with a place.
var AgentSync = do(Row{
	ID: "agent.sync", HTTP: "GET /sync", Scope: wire.TokenRead, Doc: "Read the state of the sync with a place",
}, func(ctx context.Context, c *Call, in SyncIn) (amber.SyncReport, error) {
	report, err := c.Store.Sync.SyncReport(ctx, in.Place)
	return Placeless(c.Caller, report), err
})

// discreet leaves out what a checkup says in words for callers of one tenant: folders, disks and keys of the machine are not theirs.
func discreet(who Caller, c wire.Checkup) wire.Checkup {
	if who.Grant.Tenant == "" {
		return c
	}
	out := wire.Checkup{OK: c.OK}
	for _, f := range c.Checks {
		out.Checks = append(out.Checks, wire.Finding{Code: f.Code, Status: f.Status, Kind: f.Kind})
	}
	return out
}
