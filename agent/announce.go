package agent

import (
	"context"

	"github.com/amber-memory/amber/events"
)

// announce makes the store tell of changes to notes and to documents of runtime
// state, which have no change log, where a publisher is configured.
func (a *Agent) announce(ctx context.Context) error {
	c := a.config.Events
	parts := a.plain.Present()
	hasNotes := parts.Notes != nil && parts.NoteLog != nil
	if !c.MutationEnabled || !hasNotes && parts.Documents == nil {
		return nil
	}
	publisher, err := a.publisher(ctx)
	if err != nil || publisher == nil {
		return err
	}
	sink := events.Sink{
		Publisher: publisher, Tenant: a.Tenant(), Agent: a.ID(), Clock: a.o.Clock, Prefix: c.MutationPrefix,
		Warn: func(err error) { a.o.Warn(err.Error()) },
	}
	if hasNotes {
		if a.plain.Notes, err = events.NewNotes(parts.Notes, parts.NoteLog, sink); err != nil {
			return err
		}
	}
	if parts.Documents != nil {
		a.plain.Documents, err = events.NewDocuments(parts.Documents, sink)
	}
	return err
}

// publisher is where events go: the one of the options, or the outbox of the home,
// from which its server publishes, where a broker is configured; else nil.
func (a *Agent) publisher(ctx context.Context) (events.Publisher, error) {
	if a.o.Publisher != nil || a.config.Events.NATSURL == "" {
		return a.o.Publisher, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.outbox == nil {
		db, err := a.Ledger(ctx)
		if err != nil {
			return nil, err
		}
		a.outbox = db
		a.closers = append(a.closers, db.Close)
	}
	return a.outbox, nil
}
