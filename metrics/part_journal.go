package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type ingester struct {
	watched
	next amber.Ingester
}

var _ amber.Ingester = ingester{}

func (p ingester) Ingest(ctx context.Context, in amber.Ingestion) (r amber.IngestResult, err error) {
	ctx, end, err := p.begin(ctx, "ingest")
	defer func() { end(err, size{in: ingestBytes(in), items: r.Applied}) }()
	return p.next.Ingest(ctx, in)
}

func (p ingester) JournalCursor(ctx context.Context, journal string) (c amber.JournalCursor, err error) {
	ctx, end, err := p.begin(ctx, "journal_cursor")
	defer func() { end(err, size{items: 1}) }()
	return p.next.JournalCursor(ctx, journal)
}

func (p ingester) OpenJournals(ctx context.Context) (l []amber.JournalCursor, err error) {
	ctx, end, err := p.begin(ctx, "open_journals")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.OpenJournals(ctx)
}

type activities struct {
	watched
	next amber.Activities
}

var _ amber.Activities = activities{}

func (p activities) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) (l []amber.Activity, err error) {
	ctx, end, err := p.begin(ctx, "list_activity")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListActivity(ctx, id, kind)
}
