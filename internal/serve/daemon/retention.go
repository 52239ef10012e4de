package daemon

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/wire"
)

// retentionActor is the actor in the audit log of the deletion of a snapshot that no caller asked
// for.
const retentionActor = "retention"

// worker measures what the workers do with snapshots as if a caller had asked for it, and shares the work with the other servers of a
// database.
func (s *Daemon) worker() worker {
	open := func(engine wire.Snapshotter) worker {
		return openKeeper{s.watchers.Snapshots("", "", engine), s, s.watchers.Audit(s.o.Ledger)}
	}
	if s.o.Replica == nil {
		return open(s.parts.Worker)
	}
	return shared{open(s.parts.Worker), s.o.Replica, func(p permit.Permit) worker { return open(s.parts.Under(p)) }}
}

// openKeeper logs and audits every snapshot that retention deletes: a person who looks for a
// deleted snapshot finds a trace of it.
type openKeeper struct {
	worker
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
	report, err := k.worker.PruneSnapshots(ctx, r)
	for _, id := range report.Deleted {
		k.s.o.Log.Info("snapshot deleted", "tenant", r.Tenant, "agent", r.Agent, "snapshot", id, "by", retentionActor)
		err = errors.Join(err, k.audit.Record(context.WithoutCancel(ctx), wire.AuditEntry{
			Tenant: r.Tenant, Agent: r.Agent, Actor: retentionActor, Action: "snapshot.prune", Subject: string(id), Outcome: "ok",
		}))
	}
	return report, err
}
