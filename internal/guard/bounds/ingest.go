package bounds

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

type ingester struct{ *Limit }

// Ingest implements [amber.Ingester].
func (l ingester) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	in, err := in.Normalize()
	if err != nil {
		return amber.IngestResult{}, err
	}
	c, err := l.store.Ingest.JournalCursor(ctx, in.Journal)
	if err != nil {
		return amber.IngestResult{}, err
	}
	if c.Session != "" && c.Session != in.Session {
		return amber.IngestResult{}, taken("ingest", in.Journal)
	}
	for i, s := range in.Steps {
		if in.Steps[i], err = l.step(ctx, s); err != nil {
			return amber.IngestResult{}, err
		}
	}
	if len(in.Steps) == 0 {
		if _, err = l.start(ctx, amber.SessionStart{ID: in.Session}); err != nil {
			return amber.IngestResult{}, err
		}
	}
	return l.store.Ingest.Ingest(ctx, in)
}

// step returns a step as the caller may take it. A link to a memory of others is left out, as one to a memory that is gone.
func (l *Limit) step(ctx context.Context, s amber.IngestStep) (_ amber.IngestStep, err error) {
	if s.Start, err = l.start(ctx, s.Start); err != nil {
		return s, err
	}
	s.Turns = slices.Clone(s.Turns)
	for i, t := range s.Turns {
		if s.Turns[i], err = l.turn(t); err != nil {
			return s, err
		}
	}
	if s.Memories, err = l.writes(ctx, s.Memories); err != nil {
		return s, err
	}
	s.Links, err = kept(s.Links, func(k amber.IngestLink) (bool, error) { return l.seesMemory(ctx, k.To) })
	return s, err
}

// JournalCursor implements [amber.Ingester].
func (l ingester) JournalCursor(ctx context.Context, journal string) (amber.JournalCursor, error) {
	c, err := l.store.Ingest.JournalCursor(ctx, journal)
	if err != nil || c.Session == "" {
		return c, err
	}
	sees, err := l.seesCursor(ctx, c)
	if err != nil || sees {
		return c, err
	}
	return amber.JournalCursor{Journal: journal}, nil
}

// OpenJournals implements [amber.Ingester].
func (l ingester) OpenJournals(ctx context.Context) ([]amber.JournalCursor, error) {
	list, err := l.store.Ingest.OpenJournals(ctx)
	if err != nil {
		return nil, err
	}
	return kept(list, func(c amber.JournalCursor) (bool, error) { return l.seesCursor(ctx, c) })
}

func (l *Limit) seesCursor(ctx context.Context, c amber.JournalCursor) (bool, error) {
	where, _, err := l.session(ctx, c.Session)
	return where == reached, err
}
