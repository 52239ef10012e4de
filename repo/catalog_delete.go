package repo

import (
	"context"

	"github.com/amber-memory/amber"
)

const (
	stubFormat  = "amber-stub"
	stubVersion = 1
)

// Stub stays of a snapshot that was deleted, so that its chain has no gap. That
// of a snapshot whose manifest could not be read knows only its id: everything
// from Device to CreatedAt is zero then.
type Stub struct {
	Format    string           `json:"format"`
	Version   int              `json:"version"`
	ID        amber.SnapshotID `json:"id"`
	Tenant    amber.TenantID   `json:"tenant"`
	Agent     amber.AgentID    `json:"agent"`
	Device    string           `json:"device"`
	Counter   int64            `json:"counter"`
	Parent    string           `json:"parent"`
	ParentID  amber.SnapshotID `json:"parent_id"`
	Digest    string           `json:"digest"` // of the manifest
	CreatedAt amber.Time       `json:"created_at"`
	DeletedAt amber.Time       `json:"deleted_at"`
	Reason    string           `json:"reason"`
}

func stubOf(e Entry, reason string, now amber.Time) *Stub {
	m := e.Manifest
	return &Stub{
		Format: stubFormat, Version: stubVersion, ID: m.ID, Tenant: m.Tenant, Agent: m.Agent, Device: m.Device,
		Counter: m.Counter, Parent: m.Parent, ParentID: m.ParentID, Digest: e.Digest, CreatedAt: m.CreatedAt,
		DeletedAt: now, Reason: clean(reason, maxTextBytes),
	}
}

func (s *Stub) check() error {
	_, idErr := amber.ParseSnapshotID(string(s.ID))
	_, tenantErr := amber.ParseTenantID(string(s.Tenant))
	_, agentErr := amber.ParseAgentID(string(s.Agent))
	err := firstOf(idErr, tenantErr, agentErr, checkTime("deleted_at", s.DeletedAt), checkText("reason", s.Reason, maxTextBytes))
	if err != nil || *s == s.unknown() {
		return err
	}
	_, digestErr := ParseID(s.Digest)
	return firstOf(amber.CheckID("device", s.Device), checkLink(s.Counter, s.Parent, s.ParentID), digestErr,
		checkTime("created_at", s.CreatedAt))
}

// unknown returns what s would be if its manifest had not been readable.
func (s *Stub) unknown() Stub {
	return Stub{
		Format: s.Format, Version: s.Version, ID: s.ID, Tenant: s.Tenant, Agent: s.Agent, DeletedAt: s.DeletedAt, Reason: s.Reason,
	}
}

// deletes reports whether the stub is that of a manifest. A damaged one beside
// it is what it was.
func (s *Stub) deletes(e Entry) bool {
	return s.Digest == e.Digest || amber.KindOf(e.Problem) == amber.KindDamaged
}

func (c *Catalog) readStub(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) (*Stub, error) {
	name := recordName(stubPrefix, agent, id)
	var s Stub
	_, err := readRecord(ctx, c.repo.target, name, stubFormat, stubVersion, &s)
	if err == nil {
		err = c.inPlace(name, agent, id, s.Tenant, s.Agent, s.ID)
	}
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// Delete removes a snapshot, pinned or not, and leaves a stub in its place:
// the stub is durable before the manifest goes. Deleting one that was deleted
// finishes what may be left of it. What it needed stays until
// [Repo.CollectGarbage]. Errors: invalid; not_found; too_new for a snapshot of
// a newer Amber; those of the target.
func (c *Catalog) Delete(ctx context.Context, agent amber.AgentID, id amber.SnapshotID, reason string, now amber.Time) error {
	if err := checkPlace(agent, id); err != nil {
		return err
	}
	e, err := c.readManifest(ctx, agent, id)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		if _, serr := c.readStub(ctx, agent, id); serr != nil {
			return err
		}
	case err != nil:
		return err
	case amber.KindOf(e.Problem) == amber.KindTooNew:
		return e.Problem
	default:
		if err := c.putStub(ctx, e, stubOf(e, reason, now)); err != nil {
			return err
		}
	}
	return c.finishDelete(ctx, agent, id)
}

// putStub writes a stub unless there is one of this manifest.
func (c *Catalog) putStub(ctx context.Context, e Entry, s *Stub) error {
	object, _, err := seal("delete snapshot", string(s.ID), s)
	if err != nil {
		return err
	}
	return c.putRecord(ctx, recordName(stubPrefix, s.Agent, s.ID), object, func() (bool, error) {
		there, err := c.readStub(ctx, s.Agent, s.ID)
		if amber.KindOf(err) == amber.KindDamaged {
			return false, nil
		}
		return err == nil && there.deletes(e), err
	})
}

// finishDelete removes what lies beside a stub.
func (c *Catalog) finishDelete(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) error {
	if err := c.repo.target.Delete(ctx, recordName(manifestPrefix, agent, id)); err != nil {
		return err
	}
	return c.repo.target.Delete(ctx, recordName(pinPrefix, agent, id))
}
