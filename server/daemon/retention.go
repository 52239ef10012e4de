package daemon

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot"
)

// retentionActor is who the audit log says has deleted a snapshot that nobody
// asked to be deleted.
const retentionActor = "retention"

// openKeeper tells of every snapshot that retention deletes: nothing that
// somebody may look for goes without a trace.
type openKeeper struct {
	snapshot.Keeper
	s     *Daemon
	audit amber.AuditLog
}

// PruneSnapshots implements snapshot.Keeper. Nothing is deleted while the audit
// log cannot be written.
func (k openKeeper) PruneSnapshots(ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
	if k.s.desk != nil { // there is one once there is a door
		if err := k.s.desk.Listening(ctx); err != nil {
			return amber.PruneReport{}, err
		}
	}
	report, err := k.Keeper.PruneSnapshots(ctx, r)
	for _, id := range report.Deleted {
		k.s.o.Log.Info("snapshot deleted", "tenant", r.Tenant, "agent", r.Agent, "snapshot", id, "by", retentionActor)
		err = errors.Join(err, k.audit.Record(context.WithoutCancel(ctx), amber.AuditEntry{
			Tenant: r.Tenant, Agent: r.Agent, Actor: retentionActor, Action: "snapshot.prune", Subject: string(id), Outcome: "ok",
		}))
	}
	return report, err
}
