package cli

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// remoteEngine is the engine of a served Amber.
type remoteEngine struct {
	*client.Snapshots
	homeOnly
}

var _ SnapshotEngine = remoteEngine{}

func (r *remote) snapshots() SnapshotEngine { return remoteEngine{Snapshots: r.Agent.Snapshots()} }

// At implements snapshotEngine.
func (e remoteEngine) At(ctx context.Context, ref wire.SnapshotRef) (agent.View, error) {
	return e.Snapshots.At(ctx, ref)
}

// Acceptable implements snapshotEngine. Which signatures the server asks for
// decides when something is restored there.
func (e remoteEngine) Acceptable(what string, s sign.SignatureReport) error {
	if s.Status == sign.SignatureBad || s.Status == sign.SignatureStripped {
		return amber.Errorf(amber.KindUntrusted, "check signature", what, "%s", s.Detail)
	}
	return nil
}

// homeOnly refuses what needs files, folders or keys of the home. Every error is
// of kind invalid.
type homeOnly struct{}

func (homeOnly) refuse(op string) error {
	return amber.Errorf(amber.KindInvalid, op, "", "the operation works on a home of this machine, not with --remote").
		WithHint("run the command on the machine of the server, without --remote")
}

func (h homeOnly) Export(context.Context, wire.ExportRequest) (wire.ExportReport, error) {
	return wire.ExportReport{}, h.refuse("export bundle")
}

func (h homeOnly) Import(context.Context, wire.ImportRequest) (wire.ImportReport, error) {
	return wire.ImportReport{}, h.refuse("import bundle")
}

func (h homeOnly) VerifyBundle(context.Context, wire.BundleRequest) (wire.BundleReport, error) {
	return wire.BundleReport{}, h.refuse("verify bundle")
}

func (h homeOnly) RestoreBundle(context.Context, string, wire.RestoreRequest) (wire.RestoreReport, error) {
	return wire.RestoreReport{}, h.refuse("restore bundle")
}

func (h homeOnly) Recipients(context.Context, amber.TenantID) ([]string, error) {
	return nil, h.refuse("list recipients")
}

func (h homeOnly) ChangeRecipients(context.Context, amber.TenantID, []string, []string, bool) ([]string, error) {
	return nil, h.refuse("change recipients")
}

func (h homeOnly) CopyTo(context.Context, amber.TenantID, target.Target, bool) (target.CopyReport, error) {
	return target.CopyReport{}, h.refuse("copy snapshots")
}

func (h homeOnly) CopyFrom(context.Context, amber.TenantID, target.Target) (target.CopyReport, error) {
	return target.CopyReport{}, h.refuse("copy snapshots")
}

func (h homeOnly) ExtractSource(context.Context, wire.SnapshotRef, string, string) (agent.Extraction, error) {
	return agent.Extraction{}, h.refuse("write source")
}
