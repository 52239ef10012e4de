package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// stats counts what an agent holds.
type stats struct{ *Agent }

// Stats implements [amber.StatsReader].
func (s stats) Stats(ctx context.Context) (amber.Stats, error) {
	return get[amber.Stats](ctx, s.Agent, nil, "stats")
}

// Doctor asks whether everything is well with the agent and its home; deep
// looks at every row. Errors: unsupported where the backend cannot say.
func (a *Agent) Doctor(ctx context.Context, deep bool) (wire.Checkup, error) {
	return get[wire.Checkup](ctx, a.slow(), newValues().flag("deep", deep).Values, "doctor")
}

// WaitingFolders implements [wire.FolderKeeper] for callers that may see every tenant. Errors: refused; unsupported.
func (a *Agent) WaitingFolders(ctx context.Context) ([]wire.WaitingFolder, error) {
	return list[wire.WaitingFolder](ctx, a, nil, "folders")
}

// TrustFolder implements [wire.FolderKeeper] for callers that may see every tenant.
func (a *Agent) TrustFolder(ctx context.Context, t wire.FolderTrust) (wire.TrustedFolder, error) {
	return post[wire.TrustedFolder](ctx, a, t, "folders", "trust")
}

// Generation tells which generation of the agent is live, which restore made it, and whether a restore
// is unfinished. Errors: those of [wire.GenerationReader]; unsupported where no snapshots are kept.
func (a *Agent) Generation(ctx context.Context) (wire.Generation, error) {
	return get[wire.Generation](ctx, a, nil, "generation")
}

// SyncReport returns what the agent's store knows about a place, as [amber.Replica] does. Errors: unsupported
// where nothing is synced.
func (a *Agent) SyncReport(ctx context.Context, place string) (amber.SyncReport, error) {
	return get[amber.SyncReport](ctx, a, newValues().text("place", place).Values, "sync")
}
