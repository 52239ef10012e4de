package snapshot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/wire"
)

// publishWithin bounds how long anybody waits for a publisher.
const publishWithin = 5 * time.Second

// created publishes the event of a new snapshot. A listener need not have the key, so the event of
// an encrypted snapshot contains only what everyone may know.
func (e *Engine) created(ctx context.Context, meta wire.SnapshotMeta) {
	if meta.Encrypted {
		meta.GitOID, meta.Skipped, meta.Warnings = "", []wire.Skipped{}, nil
		if !strings.HasPrefix(meta.Label, wire.LabelAutomatic) {
			meta.Label = ""
		}
	}
	e.emit(ctx, events.EventCreated, meta.Tenant, meta.Agent, string(meta.ID), meta)
}

// restored and verified tell no more about an encrypted snapshot than created
// does: no text.
func (e *Engine) restored(ctx context.Context, agent amber.AgentID, tenant amber.TenantID, report wire.RestoreReport, encrypted bool) {
	if encrypted {
		report.Warnings, report.Checks = nil, []wire.Check{}
		report.Plan.Store.Rows, report.Plan.Notes.Files, report.Plan.State.Files = nil, nil, nil
	}
	e.emit(ctx, events.EventRestored, tenant, agent, fmt.Sprintf("%s/%d", agent, report.Generation), report)
}

func (e *Engine) verified(ctx context.Context, r wire.VerifyRequest, report wire.VerifyReport, encrypted bool) {
	if encrypted {
		report.Checked, report.NotChecked, report.Checks = []string{}, []string{}, []wire.Check{}
		damaged := make([]wire.Damage, len(report.Damaged))
		for i, d := range report.Damaged {
			damaged[i] = wire.Damage{Object: "encrypted", Reason: "damaged", Snapshots: d.Snapshots}
		}
		report.Damaged = damaged
	}
	e.emit(ctx, events.EventVerified, r.Tenant, r.Agent, string(r.ID)+"/"+e.instantKey(), report)
}

// emit publishes an event. The caller has made durable what the event reports. An event that cannot
// be delivered fails no operation.
func (e *Engine) emit(ctx context.Context, name events.EventName, tenant amber.TenantID, agent amber.AgentID, key string, payload any) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishWithin)
	defer cancel()
	err := e.o.Publisher.Publish(within, events.Event{
		ID: fmt.Sprintf("%s/%s/%s", name, tenant, key), Name: name,
		Subject: events.LifecycleSubject(e.o.LifecyclePrefix, tenant, agent, name),
		Tenant:  tenant, Agent: agent, At: e.now(), Payload: payload,
	})
	if err != nil && e.o.Warn != nil {
		e.o.Warn(fmt.Sprintf("the event %s of %s could not be published: %v", name, key, err))
	}
}

// instantKey tells happenings apart that have no id of their own.
func (e *Engine) instantKey() string { return fmt.Sprint(e.now().UnixMilli()) }
