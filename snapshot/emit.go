package snapshot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// publishWithin bounds how long anybody waits for a publisher.
const publishWithin = 5 * time.Second

// created tells that there is a snapshot. Who listens need not be who has the
// key: of an encrypted one they are told what everybody may know.
func (e *Engine) created(ctx context.Context, meta amber.SnapshotMeta) {
	if meta.Encrypted {
		meta.GitOID, meta.Skipped, meta.Warnings = "", []amber.Skipped{}, nil
		if !strings.HasPrefix(meta.Label, amber.LabelAutomatic) {
			meta.Label = ""
		}
	}
	e.emit(ctx, amber.EventCreated, meta.Tenant, meta.Agent, string(meta.ID), meta)
}

// restored and verified tell no more about an encrypted snapshot than created
// does: no text.
func (e *Engine) restored(ctx context.Context, agent amber.AgentID, tenant amber.TenantID, report amber.RestoreReport, encrypted bool) {
	if encrypted {
		report.Warnings, report.Checks = nil, []amber.Check{}
		report.Plan.Store.Rows, report.Plan.Notes.Files, report.Plan.State.Files = nil, nil, nil
	}
	e.emit(ctx, amber.EventRestored, tenant, agent, fmt.Sprintf("%s/%d", agent, report.Generation), report)
}

func (e *Engine) verified(ctx context.Context, r amber.VerifyRequest, report amber.VerifyReport, encrypted bool) {
	if encrypted {
		report.Checked, report.NotChecked, report.Checks = []string{}, []string{}, []amber.Check{}
		damaged := make([]amber.Damage, len(report.Damaged))
		for i, d := range report.Damaged {
			damaged[i] = amber.Damage{Object: "encrypted", Reason: "damaged", Snapshots: d.Snapshots}
		}
		report.Damaged = damaged
	}
	e.emit(ctx, amber.EventVerified, r.Tenant, r.Agent, string(r.ID)+"/"+e.instantKey(), report)
}

// emit tells that something has happened, once it is durable. Nobody's work
// fails because nobody can be told.
func (e *Engine) emit(ctx context.Context, name amber.EventName, tenant amber.TenantID, agent amber.AgentID, key string, payload any) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishWithin)
	defer cancel()
	err := e.o.Publisher.Publish(within, amber.Event{
		ID: fmt.Sprintf("%s/%s/%s", name, tenant, key), Name: name,
		Subject: amber.LifecycleSubject(e.o.LifecyclePrefix, tenant, agent, name),
		Tenant:  tenant, Agent: agent, At: e.now(), Payload: payload,
	})
	if err != nil && e.o.Warn != nil {
		e.o.Warn(fmt.Sprintf("the event %s of %s could not be published: %v", name, key, err))
	}
}

// instantKey tells happenings apart that have no id of their own.
func (e *Engine) instantKey() string { return fmt.Sprint(e.now().UnixMilli()) }
