package httpapi

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// pastRoutes answer from snapshots as if it were then.
func pastRoutes(a *API) {
	type recall struct {
		snapshotID
		Body amber.Query `body:"json"`
	}
	handle(a, operation{
		id: "snapshot.recall", bound: true, method: "POST", path: snapshotPath + "/{id}/recall", scope: wire.TokenRead, long: true,
		summary: "Find the memories and passages of sessions that best answered a text at the time of a snapshot",
	}, func(ctx context.Context, ag *server.Agent, in recall) (answer[amber.RecallResult], error) {
		return got(then(ctx, ag, in.snapshotID, func(p server.Past) (amber.RecallResult, error) { return p.Recall(ctx, in.Body) }))
	})

	type list struct {
		snapshotID
		listing
	}
	handleList(a, operation{
		id: "snapshot.memories", bound: true, method: "GET", path: snapshotPath + "/{id}/memories", scope: wire.TokenRead, long: true,
		summary: "List the memories of a snapshot, newest first",
	}, func(ctx context.Context, ag *server.Agent, in list, p paging) (amber.Page[amber.Memory], error) {
		return then(ctx, ag, in.snapshotID, func(past server.Past) (amber.Page[amber.Memory], error) { return past.List(ctx, in.query(p)) })
	})

	type get struct {
		snapshotID
		Memory string `path:"memory" doc:"the id of the memory"`
	}
	handle(a, operation{
		id: "snapshot.memory", bound: true, method: "GET", path: snapshotPath + "/{id}/memories/{memory}", scope: wire.TokenRead, long: true,
		summary: "Read one memory of a snapshot",
	}, func(ctx context.Context, ag *server.Agent, in get) (answer[amber.Memory], error) {
		return withMemory(memoryID{in.Memory}, func(id amber.MemoryID) (amber.Memory, error) {
			return then(ctx, ag, in.snapshotID, func(p server.Past) (amber.Memory, error) { return p.Get(ctx, id) })
		})
	})

	handle(a, operation{
		id: "snapshot.restore_memory", method: "POST", path: snapshotPath + "/{id}/restore-memory", scope: wire.TokenRestore, mutates: true, long: true,
		summary: "Restore one memory from a snapshot as a new revision",
	}, func(ctx context.Context, ag *server.Agent, in restoreMemory) (answer[wire.MemoryRestore], error) {
		err := in.sameRef(&in.Body.SnapshotRef)
		if err == nil {
			_, err = amber.ParseMemoryID(string(in.Body.Memory))
		}
		if err != nil {
			return answer[wire.MemoryRestore]{}, err
		}
		if ag.Past == nil {
			return answer[wire.MemoryRestore]{}, noPast()
		}
		m, err := ag.Past.RestoreMemory(ctx, in.Body)
		return answer[wire.MemoryRestore]{body: m, subject: string(in.Body.Memory)}, err
	})
}

// restoreMemory asks to bring one memory back.
type restoreMemory struct {
	snapshotID
	Body wire.MemoryRestoreRequest `body:"json"`
}

func (r restoreMemory) looks() bool { return r.Body.DryRun }

func noPast() error { return unsupported("open snapshot", "this server cannot look into snapshots") }

// then opens the memory of a snapshot for one question.
func then[T any](ctx context.Context, ag *server.Agent, id snapshotID, fn func(server.Past) (T, error)) (out T, err error) {
	if ag.Past == nil {
		return out, noPast()
	}
	if _, err := amber.ParseSnapshotID(string(id.ID)); err != nil {
		return out, err
	}
	p, err := ag.Past.At(ctx, id.ref())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return fn(p)
}

// ofTenant is in the path of what concerns a whole tenant.
type ofTenant struct {
	Tenant amber.TenantID `path:"tenant" doc:"the tenant"`
}

// collectGarbage asks to free what nobody needs.
type collectGarbage struct {
	ofTenant
	Body wire.GCRequest `body:"json"`
}

func (c collectGarbage) looks() bool { return c.Body.DryRun }

// tenantRoutes serve what concerns a whole tenant.
func tenantRoutes(a *API) {
	handle(a, operation{
		id: "tenant.gc", method: "POST", path: tenantPath + "/gc", scope: wire.TokenAdmin, mutates: true, long: true, repeatable: true, lasting: true,
		summary: "Delete the data that no snapshot of the tenant needs",
	}, func(ctx context.Context, ag *server.Agent, in collectGarbage) (answer[wire.GCReport], error) {
		if err := agree("tenant", string(in.Tenant), &in.Body.Tenant); err != nil {
			return answer[wire.GCReport]{}, err
		}
		out, err := frozen(ctx, ag, func(s wire.Snapshotter) (wire.GCReport, error) { return s.CollectGarbage(ctx, in.Body) })
		for i, orphan := range out.body.Orphans {
			if filepath.IsAbs(orphan) { // where it lay is the host's business
				out.body.Orphans[i] = filepath.Base(orphan)
			}
		}
		return out, err
	})

	type check struct {
		ofTenant
		Body wire.CheckRequest `body:"json"`
	}
	handle(a, operation{
		id: "tenant.check", method: "POST", path: tenantPath + "/check", scope: wire.TokenAdmin, long: true,
		summary: "Check every object of the tenant's snapshots",
	}, func(ctx context.Context, ag *server.Agent, in check) (answer[wire.CheckReport], error) {
		if err := agree("tenant", string(in.Tenant), &in.Body.Tenant); err != nil {
			return answer[wire.CheckReport]{}, err
		}
		if ag.Repository == nil {
			return answer[wire.CheckReport]{}, unsupported("check repository", "this server keeps no snapshots")
		}
		out, err := ag.Repository.CheckRepository(ctx, in.Body)
		return got(placeless(ctx, out), err)
	})
}
