package op

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// ConsolidationBeginIn says who begins to rewrite memory.
type ConsolidationBeginIn struct {
	Whose
	Body wire.ConsolidationBegin `body:"json" repeats:"tenant agent"`
}

// ConsolidationBegin begins a consolidation.
var ConsolidationBegin = do(Row{
	ID: "consolidation.begin", HTTP: "POST /consolidations", Scope: wire.TokenSnapshot, Kind: Changes | Long | Closed, Status: http.StatusCreated,
	Fails: []amber.Kind{amber.KindQuota, amber.KindUntrusted}, Doc: "Take a snapshot as snapshot.auto.before_consolidation says, and begin a consolidation",
}, func(ctx context.Context, c *Call, in ConsolidationBeginIn) (wire.Consolidation, error) {
	in.Body.Run = c.Redact(in.Body.Run)
	out, err := consolidating(c, func(w wire.Consolidator) (wire.Consolidation, error) { return w.BeginConsolidation(ctx, in.Body) })
	c.Subject = out.ID
	return out, err
})

// ConsolidationEndIn says how a consolidation ended.
type ConsolidationEndIn struct {
	Whose
	ID   string                `path:"id" doc:"the id of the consolidation"`
	Body wire.ConsolidationEnd `body:"json" repeats:"tenant agent id"`
}

// ConsolidationEnd ends a consolidation.
var ConsolidationEnd = do(Row{
	ID: "consolidation.end", HTTP: "POST /consolidations/{id}/end", Scope: wire.TokenSnapshot, Kind: Changes | Closed, Sure: []string{"id=id"}, Doc: "End a consolidation",
}, func(ctx context.Context, c *Call, in ConsolidationEndIn) (wire.Consolidation, error) {
	return consolidating(c, func(w wire.Consolidator) (wire.Consolidation, error) { return w.EndConsolidation(ctx, in.Body) })
})

// ConsolidationOpen reads the open consolidation.
var ConsolidationOpen = do(Row{
	ID: "consolidation.open", HTTP: "GET /consolidations/open", Scope: wire.TokenRead, Doc: "Read the open consolidation",
}, func(ctx context.Context, c *Call, in Whose) (wire.Consolidation, error) {
	return consolidating(c, func(w wire.Consolidator) (wire.Consolidation, error) {
		return w.OpenConsolidation(ctx, in.Tenant, in.Agent)
	})
})

// consolidating calls fn with what marks consolidations. Why there is no snapshot may name places of the machine.
func consolidating(c *Call, fn func(c wire.Consolidator) (wire.Consolidation, error)) (wire.Consolidation, error) {
	if c.Consolidations == nil {
		return wire.Consolidation{}, unsupported("consolidate", "this server keeps no snapshots")
	}
	out, err := fn(c.Consolidations)
	return Placeless(c.Caller, out), err
}
