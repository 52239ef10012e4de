package op

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// SnapshotRecallIn asks what was known at the time of a snapshot.
type SnapshotRecallIn struct {
	SnapshotID
	Body amber.Query `body:"json"`
}

// SnapshotRecall answers a question from a snapshot.
var SnapshotRecall = do(Row{
	ID: "snapshot.recall", HTTP: "POST /snapshots/{id}/recall", Scope: wire.TokenRead, Kind: Long | Bound, Holds: 2 * HoldsPage, Fails: []amber.Kind{amber.KindUntrusted},
	Doc: "Find the memories and passages of sessions that best answered a text at the time of a snapshot",
}, func(ctx context.Context, c *Call, in SnapshotRecallIn) (amber.RecallResult, error) {
	return then(ctx, c, in.SnapshotID, func(p Past) (amber.RecallResult, error) { return p.Recall(ctx, in.Body) })
})

// SnapshotMemoriesIn asks for a page of the memories of a snapshot.
type SnapshotMemoriesIn struct {
	SnapshotID
	MemoriesIn
}

// SnapshotMemories lists the memories of a snapshot.
var SnapshotMemories = list(Row{
	ID: "snapshot.memories", HTTP: "GET /snapshots/{id}/memories", Scope: wire.TokenRead, Kind: Long | Bound, Holds: 2 * HoldsPage, Fails: []amber.Kind{amber.KindUntrusted},
	Doc: "List the memories of a snapshot, newest first",
}, func(ctx context.Context, c *Call, in SnapshotMemoriesIn, p Paging) (amber.Page[amber.Memory], error) {
	return then(ctx, c, in.SnapshotID, func(past Past) (amber.Page[amber.Memory], error) { return past.List(ctx, in.query(p)) })
})

// SnapshotMemoryIn names a memory of a snapshot.
type SnapshotMemoryIn struct {
	SnapshotID
	Memory string `path:"memory" doc:"the id of the memory"`
}

// SnapshotMemory reads a memory of a snapshot.
var SnapshotMemory = do(Row{
	ID: "snapshot.memory", HTTP: "GET /snapshots/{id}/memories/{memory}", Scope: wire.TokenRead, Kind: Long | Bound | Tagged, Holds: HoldsPage,
	Fails: []amber.Kind{amber.KindUntrusted}, Sure: []string{"id=memory"}, Doc: "Read one memory of a snapshot",
}, func(ctx context.Context, c *Call, in SnapshotMemoryIn) (amber.Memory, error) {
	return c.memory(MemoryID{in.Memory}, func(id amber.MemoryID) (amber.Memory, error) {
		return then(ctx, c, in.SnapshotID, func(p Past) (amber.Memory, error) { return p.Get(ctx, id) })
	})
})

// RestoreMemoryIn asks to bring one memory back.
type RestoreMemoryIn struct {
	SnapshotID
	Body wire.MemoryRestoreRequest `body:"json" repeats:"tenant agent id"`
}

func (r RestoreMemoryIn) looks() bool { return r.Body.DryRun }

// SnapshotRestoreMemory restores one memory.
var SnapshotRestoreMemory = do(Row{
	ID: "snapshot.restore_memory", HTTP: "POST /snapshots/{id}/restore-memory", Scope: wire.TokenRestore, Kind: Changes | Long,
	Fails: []amber.Kind{amber.KindUntrusted}, Doc: "Restore one memory from a snapshot as a new revision",
}, func(ctx context.Context, c *Call, in RestoreMemoryIn) (wire.MemoryRestore, error) {
	_, err := amber.ParseMemoryID(string(in.Body.Memory))
	if err == nil && c.Past == nil {
		err = noPast()
	}
	if err != nil {
		return wire.MemoryRestore{}, err
	}
	c.Subject = string(in.Body.Memory)
	return c.Past.RestoreMemory(ctx, in.Body)
})

func noPast() error { return unsupported("open snapshot", "this server cannot look into snapshots") }

// then opens the memory of a snapshot for one question.
func then[T any](ctx context.Context, c *Call, id SnapshotID, fn func(Past) (T, error)) (out T, err error) {
	if c.Past == nil {
		return out, noPast()
	}
	if _, err := amber.ParseSnapshotID(string(id.ID)); err != nil {
		return out, err
	}
	p, err := c.Past.At(ctx, id.ref())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return fn(p)
}

// OfTenant is in the path of what concerns a whole tenant.
type OfTenant struct {
	Tenant amber.TenantID `path:"tenant" doc:"the tenant"`
}

// TenantGCIn asks to free what no snapshot needs.
type TenantGCIn struct {
	OfTenant
	Body wire.GCRequest `body:"json" repeats:"tenant"`
}

func (in TenantGCIn) looks() bool { return in.Body.DryRun }

// TenantGC deletes the data that no snapshot needs.
var TenantGC = do(Row{
	ID: "tenant.gc", HTTP: "POST " + TenantPath + "/gc", Scope: wire.TokenAdmin, Kind: Changes | Repeats | Lasting | Long,
	Doc: "Delete the data that no snapshot of the tenant needs",
}, func(ctx context.Context, c *Call, in TenantGCIn) (wire.GCReport, error) {
	out, err := frozen(c, func(s wire.Snapshotter) (wire.GCReport, error) { return s.CollectGarbage(ctx, in.Body) })
	for i, orphan := range out.Orphans {
		if filepath.IsAbs(orphan) { // where it lay is the host's business
			out.Orphans[i] = filepath.Base(orphan)
		}
	}
	return out, err
})

// TenantCheckIn asks to check the snapshots of a tenant.
type TenantCheckIn struct {
	OfTenant
	Body wire.CheckRequest `body:"json" repeats:"tenant"`
}

// TenantCheck checks every object of a tenant's snapshots.
var TenantCheck = do(Row{
	ID: "tenant.check", HTTP: "POST " + TenantPath + "/check", Scope: wire.TokenAdmin, Kind: Long, Doc: "Check every object of the tenant's snapshots",
}, func(ctx context.Context, c *Call, in TenantCheckIn) (wire.CheckReport, error) {
	if c.Repository == nil {
		return wire.CheckReport{}, unsupported("check repository", "this server keeps no snapshots")
	}
	out, err := c.Repository.CheckRepository(ctx, in.Body)
	return Placeless(c.Caller, out), err
})
