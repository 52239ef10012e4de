package mcpapi

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// consolidationTools mark when an agent rewrites its memory.
func consolidationTools() []*tool {
	marking := need{scope: wire.TokenSnapshot, mutates: true, frozen: true, marks: true, long: true}
	schema := object(str("id"), str("run"), str("began_at"), str("ended_at"), str("snapshot"), str("warning"), str("outcome"), obj("unfinished"))
	return []*tool{
		define("consolidation_begin", "Begin a consolidation",
			"Call before you merge, digest or prune many memories: a snapshot is taken first. Keep the id for consolidation_end. Conflict: another run has not ended; if that run is gone, give its id as abandon.",
			marking, hints{},
			object(str("run", "a name for the run"), str("abandon", "the id of a run that is gone")), schema, beginConsolidation),
		define("consolidation_end", "End a consolidation",
			"Call when the consolidation is over, whether it worked or not.",
			marking, hints{},
			object(must(str("id")), str("outcome", "done, failed or abandoned; default done")), schema, endConsolidation),
	}
}

type beginningArgs struct{ Run, Abandon string }

func beginConsolidation(ctx context.Context, b *bound, a *op.Call, in beginningArgs) (answer, error) {
	began, err := a.Consolidations.BeginConsolidation(ctx, wire.ConsolidationBegin{Tenant: b.tenant, Agent: b.agent, Run: a.Redact(in.Run), Abandon: in.Abandon})
	if err != nil {
		return answer{}, err
	}
	began.Warning = scrub(began.Warning)
	text := fmt.Sprintf("Consolidation %s is open; snapshot %s holds the memory as it was before.", began.ID, began.Snapshot)
	if began.Snapshot == "" {
		text = fmt.Sprintf("Consolidation %s is open WITHOUT a snapshot. %s", began.ID, began.Warning)
	}
	if u := began.Unfinished; u != nil {
		text += fmt.Sprintf(" Consolidation %s, which began at %s and never ended, was abandoned.", u.ID, u.BeganAt)
	}
	return answer{text: text, data: began, subject: began.ID}, nil
}

type endingArgs struct{ ID, Outcome string }

func endConsolidation(ctx context.Context, b *bound, a *op.Call, in endingArgs) (answer, error) {
	ended, err := a.Consolidations.EndConsolidation(ctx, wire.ConsolidationEnd{Tenant: b.tenant, Agent: b.agent, ID: in.ID, Outcome: wire.ConsolidationOutcome(in.Outcome)})
	ended.Warning = scrub(ended.Warning)
	return answer{text: fmt.Sprintf("Consolidation %s is over: %s.", ended.ID, ended.Outcome), data: ended, subject: ended.ID}, err
}
