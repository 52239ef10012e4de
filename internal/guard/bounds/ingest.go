package bounds

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

// ingestion returns what the journal brings as the caller may bring it.
func (l *Limit) ingestion(ctx context.Context, in amber.Ingestion) (amber.Ingestion, error) {
	in, err := in.Normalize()
	if err != nil {
		return in, err
	}
	c, err := l.store.Ingest.JournalCursor(ctx, in.Journal)
	if err != nil {
		return in, err
	}
	if c.Session != "" && c.Session != in.Session {
		return in, taken("ingest", in.Journal)
	}
	for i, s := range in.Steps {
		if in.Steps[i], err = l.step(ctx, s); err != nil {
			return in, err
		}
	}
	if len(in.Steps) == 0 {
		_, err = l.start(ctx, amber.SessionStart{ID: in.Session})
	}
	return in, err
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

func (l *Limit) journalCursor(ctx context.Context, c *amber.Call) error {
	out := c.Out.(*amber.JournalCursor)
	if err := c.Next(ctx); err != nil || out.Session == "" {
		return err
	}
	sees, err := l.seesCursor(ctx, *out)
	if err == nil && !sees {
		*out = amber.JournalCursor{Journal: *c.In[0].(*string)}
	}
	return err
}

func (l *Limit) seesCursor(ctx context.Context, c amber.JournalCursor) (bool, error) {
	where, _, err := l.session(ctx, c.Session)
	return where == reached, err
}
