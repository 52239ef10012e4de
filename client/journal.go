package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

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
