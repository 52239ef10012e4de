package client

import (
	"context"

	"github.com/amber-memory/amber"
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
	return post[amber.IngestResult](ctx, i.Agent, in, "journal", "ingest")
}

// JournalCursor implements [amber.Ingester].
func (i ingester) JournalCursor(ctx context.Context, journal string) (amber.JournalCursor, error) {
	if journal == "" { // no journal is called so, and no path leads there
		return amber.JournalCursor{}, ctx.Err()
	}
	c, err := get[amber.JournalCursor](ctx, i.Agent, nil, "journal", "cursors", journal)
	return c, about(c.Journal, journal, err)
}

// OpenJournals implements [amber.Ingester].
func (i ingester) OpenJournals(ctx context.Context) ([]amber.JournalCursor, error) {
	return list[amber.JournalCursor](ctx, i.Agent, nil, "journal", "open")
}

// Journal tells what the crash journal of the agent holds, as the server reads
// it. Errors: unsupported where there is none.
func (a *Agent) Journal(ctx context.Context) ([]wire.JournalStatus, error) {
	return list[wire.JournalStatus](ctx, a, nil, "journal")
}
