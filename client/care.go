package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// stats counts what an agent holds.
type stats struct{ *Agent }

// Stats implements [amber.StatsReader].
func (s stats) Stats(ctx context.Context) (amber.Stats, error) {
	return op.AgentStats.Call(ctx, s, op.None{})
}

// Doctor asks whether everything is well with the agent and its home; deep
// looks at every row. Errors: unsupported where the backend cannot say.
func (a *Agent) Doctor(ctx context.Context, deep bool) (wire.Checkup, error) {
	return op.AgentDoctor.Call(ctx, a, op.DoctorIn{Deep: deep})
}

// WaitingFolders implements [wire.FolderKeeper] for callers that may see every tenant. Errors: refused; unsupported.
func (a *Agent) WaitingFolders(ctx context.Context) ([]wire.WaitingFolder, error) {
	return list(op.FolderList.Call(ctx, a, op.None{}))
}

// TrustFolder implements [wire.FolderKeeper] for callers that may see every tenant.
func (a *Agent) TrustFolder(ctx context.Context, t wire.FolderTrust) (wire.TrustedFolder, error) {
	return op.FolderTrust.Call(ctx, a, op.Payload[wire.FolderTrust]{Body: t})
}

// Generation tells which generation of the agent is live, which restore made it, and whether a restore
// is unfinished. Errors: those of [wire.GenerationReader]; unsupported where no snapshots are kept.
func (a *Agent) Generation(ctx context.Context) (wire.Generation, error) {
	return op.AgentGeneration.Call(ctx, a, op.Whose{})
}

// SyncReport returns what the agent's store knows about a place, as [amber.Replica] does. Errors: unsupported
// where nothing is synced.
func (a *Agent) SyncReport(ctx context.Context, place string) (amber.SyncReport, error) {
	return op.AgentSync.Call(ctx, a, op.SyncIn{Place: place})
}
