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

// ingester is what the crash journal is drained into.
type ingester struct{ *Agent }

// Ingest implements [amber.Ingester]. It is not tried again once it was sent:
// the cursor would have moved on.
func (i ingester) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	in, err := in.Normalize()
	if err != nil {
		return amber.IngestResult{}, err
	}
	return op.JournalIngest.Call(ctx, i, op.Payload[amber.Ingestion]{Body: in})
}

// JournalCursor implements [amber.Ingester].
func (i ingester) JournalCursor(ctx context.Context, journal string) (amber.JournalCursor, error) {
	if journal == "" { // no journal is called so, and no path leads there
		return amber.JournalCursor{}, ctx.Err()
	}
	return op.JournalCursor.Call(ctx, i, op.JournalCursorIn{Journal: journal})
}

// OpenJournals implements [amber.Ingester].
func (i ingester) OpenJournals(ctx context.Context) ([]amber.JournalCursor, error) {
	return list(op.JournalOpen.Call(ctx, i, op.None{}))
}

// Journal lists what the crash journal of the agent holds, as the server reads it. Errors: unsupported where
// there is none.
func (a *Agent) Journal(ctx context.Context) ([]wire.JournalStatus, error) {
	return list(op.JournalStatus.Call(ctx, a, op.None{}))
}

// HeldEntries lists what the crash journal of the agent has set aside, without
// payloads: of a session, by its id or its key, or of every one for "". Errors:
// not_found; unsupported where there is no journal.
func (a *Agent) HeldEntries(ctx context.Context, session string) ([]wire.HeldEntry, error) {
	return list(op.QuarantineList.Call(ctx, a, op.QuarantineIn{Session: session}))
}

// ShowHeld returns one file that was set aside, without what the server takes for a
// secret. Errors: not_found; conflict when several hosts have a session of that id;
// quota for a file that is larger than [wire.MaxHeldShown].
func (a *Agent) ShowHeld(ctx context.Context, session, name string) (wire.HeldEntry, error) {
	return op.QuarantineShow.Call(ctx, a, op.QuarantineShowIn{Session: session, Name: name})
}

// RetryHeld puts entries that were set aside back into the crash journal, which the
// server stores again, and returns them. Errors: not_found; invalid for a name without
// a session.
func (a *Agent) RetryHeld(ctx context.Context, r wire.HeldRetry) ([]wire.HeldEntry, error) {
	return list(op.QuarantineRetry.Call(ctx, a, op.Payload[wire.HeldRetry]{Body: r}))
}
