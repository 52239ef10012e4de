package repo

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/envelope"
)

const (
	pinFormat  = "amber-pin"
	pinVersion = 1
)

// pin keeps a snapshot from being deleted. That there is one counts, also when
// it cannot be read.
type pin struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	ID       amber.SnapshotID `json:"id"`
	Tenant   amber.TenantID   `json:"tenant"`
	Agent    amber.AgentID    `json:"agent"`
	PinnedAt amber.Time       `json:"pinned_at"`
}

func (p *pin) check() error {
	_, idErr := amber.ParseSnapshotID(string(p.ID))
	_, tenantErr := amber.ParseTenantID(string(p.Tenant))
	_, agentErr := amber.ParseAgentID(string(p.Agent))
	return cmp.Or(idErr, tenantErr, agentErr, envelope.CheckTime("pinned_at", p.PinnedAt))
}

func (c *Catalog) readPin(ctx context.Context, agent amber.AgentID, id amber.SnapshotID) error {
	name := recordName(pinPrefix, agent, id)
	var p pin
	_, err := readRecord(ctx, c.repo.target, name, pinFormat, pinVersion, &p)
	if err == nil {
		err = c.inPlace(name, agent, id, p.Tenant, p.Agent, p.ID)
	}
	return err
}

// SetPin pins a snapshot, or removes the pin. It does not make [Catalog.Delete]
// fail: the caller checks pins. Errors: those of [Catalog.Get] for pinning;
// invalid and not_found for removing a pin; those of the permit.
func (c *Catalog) SetPin(ctx context.Context, p permit.Permit, agent amber.AgentID, id amber.SnapshotID, pinned bool, now amber.Time) error {
	_, err := c.Get(ctx, agent, id)
	if err != nil && (pinned || !isProblem(err) || amber.KindOf(err) == amber.KindNotFound) {
		return err
	}
	if err := p.Ask(ctx); err != nil {
		return err
	}
	name := recordName(pinPrefix, agent, id)
	if !pinned {
		return c.repo.target.Delete(ctx, name)
	}
	object, _, err := seal("pin snapshot", string(id), &pin{pinFormat, pinVersion, id, c.tenant, agent, now})
	if err != nil {
		return err
	}
	return putRecord(ctx, c.repo.target, name, object, func() (bool, error) {
		err := c.readPin(ctx, agent, id)
		return err == nil, err
	})
}
