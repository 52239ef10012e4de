package gitsync

import (
	"context"

	"github.com/amber-memory/amber"
)

// step is what one look at the change log brought, cleaned.
type step struct {
	records  []amber.SyncRecord
	withheld []amber.SyncWithheld
	next     amber.Position
	done     bool
	store    amber.Outgoing // device, incarnation and time
}

// pass is one way through what is new.
type pass struct {
	*cleaner
	known known
	place amber.SyncPlace
}

// begin prepares a pass: where the last export ended, and what is in the
// folder already when this store has never exported to it.
func (s *Sync) begin(ctx context.Context, o ExportOptions, inFolder func(context.Context) (known, error)) (*pass, error) {
	place, err := s.store.SyncPlace(ctx, s.dir, o.Project)
	if err != nil {
		return nil, err
	}
	p := &pass{
		cleaner: &cleaner{r: s.redact, privateOnly: o.NoRedact, counts: map[string]int{}},
		known:   known{}, place: place,
	}
	if place.Position == "" {
		p.known, err = inFolder(ctx)
	}
	return p, err
}

// each calls fn with what is new, a step at a time, the last one marked. A
// history that a restore replaced is begun anew.
func (s *Sync) each(ctx context.Context, o ExportOptions, latest bool, inFolder func(context.Context) (known, error), fn func(*pass, step) error) error {
	p, err := s.begin(ctx, o, inFolder)
	if err != nil {
		return err
	}
	err = s.walk(ctx, o, latest, p, fn)
	if amber.KindOf(err) != amber.KindConflict || p.place.Position == "" {
		return err
	}
	chunk := p.place.Chunk
	if p.known, err = inFolder(ctx); err != nil {
		return err
	}
	p.place = amber.SyncPlace{Chunk: chunk}
	return s.walk(ctx, o, latest, p, fn)
}

func (s *Sync) walk(ctx context.Context, o ExportOptions, latest bool, p *pass, fn func(*pass, step) error) error {
	for after := p.place.Position; ; {
		out, err := s.store.Outgoing(ctx, amber.OutgoingRequest{
			Place: s.dir, Project: o.Project, Since: p.place.Position, After: after, Latest: latest,
		})
		if err != nil {
			return err
		}
		st := step{next: out.Next, done: out.Done, store: out}
		for _, r := range out.Records {
			if !p.known.add(r) {
				continue
			}
			clean, why := p.clean(r)
			if why != "" {
				st.withheld = append(st.withheld, amber.SyncWithheld{Ref: r.Ref(), Reason: why})
				continue
			}
			st.records = append(st.records, clean)
		}
		if err := fn(p, st); err != nil || out.Done {
			return err
		}
		after = out.Next
	}
}
