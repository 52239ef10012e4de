package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Snapshots are the snapshots of an agent that is served elsewhere. Requests
// name that agent, or leave tenant and agent empty; any other is invalid. Safe
// for concurrent use.
type Snapshots struct{ a *Agent }

var (
	_ wire.Snapshotter       = (*Snapshots)(nil)
	_ wire.RepositoryChecker = (*Snapshots)(nil)
)

// Snapshots returns the snapshots of the agent. It touches no network.
func (a *Agent) Snapshots() *Snapshots { return &Snapshots{a} }

// ours fills the agent into a request. The error is of kind invalid.
func (s *Snapshots) ours(tenant *amber.TenantID, agent *amber.AgentID) error {
	if err := ours(tenant, s.a.tenant, "tenant"); err != nil {
		return err
	}
	return ours(agent, s.a.agent, "agent")
}

func ours[T ~string](field *T, own T, what string) error {
	if *field != "" && *field != own {
		return amber.Errorf(amber.KindInvalid, "ask server", "", "the request is about another %s than %s", what, string(own))
	}
	*field = own
	return nil
}

// one checks which snapshot is asked for and returns its path.
func (s *Snapshots) one(ref *wire.SnapshotRef, elements ...string) ([]string, error) {
	if err := s.ours(&ref.Tenant, &ref.Agent); err != nil {
		return nil, err
	}
	if _, err := amber.ParseSnapshotID(string(ref.ID)); err != nil {
		return nil, err
	}
	return append([]string{"snapshots", string(ref.ID)}, elements...), nil
}

// Snapshot implements [wire.SnapshotTaker].
func (s *Snapshots) Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	if err := s.ours(&r.Tenant, &r.Agent); err != nil {
		return wire.SnapshotMeta{}, err
	}
	if _, err := r.Normalize(); err != nil {
		return wire.SnapshotMeta{}, err
	}
	m, err := post[wire.SnapshotMeta](ctx, s.a.slow(), r, "snapshots")
	return m, about(m.Agent, r.Agent, err)
}

// ListSnapshots implements [wire.SnapshotReader].
func (s *Snapshots) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	if err := s.ours(&q.Tenant, &q.Agent); err != nil {
		return amber.Page[wire.SnapshotMeta]{Items: []wire.SnapshotMeta{}}, err
	}
	return page[wire.SnapshotMeta](ctx, s.a, newValues().number("limit", q.Limit).text("cursor", string(q.Cursor)).Values, "snapshots")
}

// ShowSnapshot implements [wire.SnapshotReader].
func (s *Snapshots) ShowSnapshot(ctx context.Context, ref wire.SnapshotRef) (wire.SnapshotDetail, error) {
	path, err := s.one(&ref)
	if err != nil {
		return wire.SnapshotDetail{}, err
	}
	d, err := get[wire.SnapshotDetail](ctx, s.a, nil, path...)
	return d, about(d.ID, ref.ID, err)
}

// DiffSnapshots implements [wire.SnapshotReader].
func (s *Snapshots) DiffSnapshots(ctx context.Context, r wire.DiffRequest) (wire.SnapshotDiff, error) {
	if err := s.ours(&r.Tenant, &r.Agent); err != nil {
		return wire.SnapshotDiff{}, err
	}
	for _, id := range []amber.SnapshotID{r.A, r.B} {
		if _, err := amber.ParseSnapshotID(string(id)); err != nil {
			return wire.SnapshotDiff{}, err
		}
	}
	return ask[wire.SnapshotDiff](ctx, s.a.slow(), r, "snapshots", "diff")
}

// VerifySnapshot implements [wire.SnapshotReader].
func (s *Snapshots) VerifySnapshot(ctx context.Context, r wire.VerifyRequest) (wire.VerifyReport, error) {
	path, err := s.one(&r.SnapshotRef, "verify")
	if err != nil {
		return wire.VerifyReport{}, err
	}
	v, err := ask[wire.VerifyReport](ctx, s.a.slow(), r, path...)
	return v, about(v.ID, r.ID, err)
}

// DeleteSnapshot implements [wire.SnapshotKeeper].
func (s *Snapshots) DeleteSnapshot(ctx context.Context, ref wire.SnapshotRef) error {
	path, err := s.one(&ref)
	if err != nil {
		return err
	}
	return s.a.remove(ctx, nil, path...)
}

// PinSnapshot implements [wire.SnapshotKeeper].
func (s *Snapshots) PinSnapshot(ctx context.Context, ref wire.SnapshotRef, pinned bool) error {
	path, err := s.one(&ref, "pin")
	if err != nil {
		return err
	}
	body := fields{"pinned": pinned}
	_, err = change[none](ctx, s.a, body, path...)
	return err
}

// PruneSnapshots implements [wire.SnapshotKeeper].
func (s *Snapshots) PruneSnapshots(ctx context.Context, r wire.PruneRequest) (wire.PruneReport, error) {
	if err := s.ours(&r.Tenant, &r.Agent); err != nil {
		return wire.PruneReport{}, err
	}
	return post[wire.PruneReport](ctx, s.a.slow(), r, "snapshots", "prune")
}

// CollectGarbage implements [wire.SnapshotKeeper]. It needs a token for the
// whole tenant.
func (s *Snapshots) CollectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error) {
	return tenantCall[wire.GCReport](ctx, s.a, &r.Tenant, &r, "gc")
}

// CheckRepository implements [wire.RepositoryChecker]. It needs a token for the
// whole tenant.
func (s *Snapshots) CheckRepository(ctx context.Context, r wire.CheckRequest) (wire.CheckReport, error) {
	return tenantCall[wire.CheckReport](ctx, s.a, &r.Tenant, &r, "check")
}

// tenantCall asks for something that concerns the whole tenant. Tenant is the
// one of the request.
func tenantCall[Out any](ctx context.Context, a *Agent, tenant *amber.TenantID, r any, element string) (out Out, err error) {
	if err := ours(tenant, a.tenant, "tenant"); err != nil {
		return out, err
	}
	return call[Out](ctx, a.c.slow(), request{
		method: http.MethodPost, path: []string{"v1", "tenants", string(a.tenant), element}, body: r, repeatable: true,
	})
}

// Restore implements [wire.Restorer].
func (s *Snapshots) Restore(ctx context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	path, err := s.one(&r.SnapshotRef, "restore")
	if err != nil {
		return wire.RestoreReport{}, err
	}
	if _, err := r.Normalize(); err != nil {
		return wire.RestoreReport{}, err
	}
	report, err := call[wire.RestoreReport](ctx, s.a.c.slow(), request{method: http.MethodPost, path: s.a.path(path...), body: r, repeatable: r.DryRun})
	return report, about(report.From, r.ID, err)
}

// RestoreMemory brings one memory of a snapshot back as a new revision. Errors:
// not_found; refused for what was erased.
func (s *Snapshots) RestoreMemory(ctx context.Context, r wire.MemoryRestoreRequest) (wire.MemoryRestore, error) {
	path, err := s.one(&r.SnapshotRef, "restore-memory")
	if err != nil {
		return wire.MemoryRestore{}, err
	}
	if _, err := amber.ParseMemoryID(string(r.Memory)); err != nil {
		return wire.MemoryRestore{}, err
	}
	m, err := call[wire.MemoryRestore](ctx, s.a.c.slow(), request{method: http.MethodPost, path: s.a.path(path...), body: r, repeatable: r.DryRun})
	return m, about(m.Memory.ID, r.Memory, err)
}

// At returns the memory of a snapshot. It touches no network: whether there is
// such a snapshot shows with the first question. The error is of kind invalid.
func (s *Snapshots) At(_ context.Context, ref wire.SnapshotRef) (*Past, error) {
	if _, err := s.one(&ref); err != nil {
		return nil, err
	}
	return &Past{s.a.slow(), ref.ID}, nil
}

// Past answers from a snapshot as the store would have at that instant. Safe for
// concurrent use.
type Past struct {
	a  *Agent
	id amber.SnapshotID
}

// Recall finds the memories that best answered a text. Errors: invalid; those
// of [wire.SnapshotReader.ShowSnapshot].
func (p *Past) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if _, _, err := q.Normalize(); err != nil {
		return amber.RecallResult{}, err
	}
	return ask[amber.RecallResult](ctx, p.a, q, "snapshots", string(p.id), "recall")
}

// Get returns one memory. Errors: not_found; those of Recall.
func (p *Past) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	if _, err := amber.ParseMemoryID(string(id)); err != nil {
		return amber.Memory{}, err
	}
	m, err := get[amber.Memory](ctx, p.a, nil, "snapshots", string(p.id), "memories", string(id))
	return m, about(m.ID, id, err)
}

// List returns a page of memories, newest first. Errors: those of Recall.
func (p *Past) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return memories(ctx, p.a, q, "snapshots", string(p.id), "memories")
}

// Close does nothing; the server has let the snapshot go already.
func (p *Past) Close() error { return nil }
