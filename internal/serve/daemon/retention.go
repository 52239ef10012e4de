package daemon

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/wire"
)

// retentionActor is the actor in the audit log of the deletion of a snapshot that no caller asked
// for.
const retentionActor = "retention"

// openKeeper logs and audits every snapshot that retention deletes: a person who looks for a
// deleted snapshot finds a trace of it.
type openKeeper struct {
	snapshot.Keeper
	s     *Daemon
	audit wire.AuditLog
}

// PruneSnapshots implements snapshot.Keeper. Nothing is deleted while the audit
// log cannot be written.
func (k openKeeper) PruneSnapshots(ctx context.Context, r wire.PruneRequest) (wire.PruneReport, error) {
	if k.s.desk != nil { // there is one once there is a door
		if err := k.s.desk.Listening(ctx); err != nil {
			return wire.PruneReport{}, err
		}
	}
	report, err := k.Keeper.PruneSnapshots(ctx, r)
	for _, id := range report.Deleted {
		k.s.o.Log.Info("snapshot deleted", "tenant", r.Tenant, "agent", r.Agent, "snapshot", id, "by", retentionActor)
		err = errors.Join(err, k.audit.Record(context.WithoutCancel(ctx), wire.AuditEntry{
			Tenant: r.Tenant, Agent: r.Agent, Actor: retentionActor, Action: "snapshot.prune", Subject: string(id), Outcome: "ok",
		}))
	}
	return report, err
}
