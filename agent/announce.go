package agent

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// announce makes the store publish changes to notes and to documents of runtime state where a publisher is
// configured. In a database the change log holds these changes, and listeners read them there.
func (a *Agent) announce(ctx context.Context) error {
	if a.rows != nil {
		return nil
	}
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

// publisher is where events go: the one of the options; or the servers of the database where agents live in one, and the outbox,
// from which a server publishes, where a broker is configured; else nil.
func (a *Agent) publisher(ctx context.Context) (events.Publisher, error) {
	if a.o.Publisher != nil {
		return a.o.Publisher, nil
	}
	var servers events.Publisher
	if a.config.OnPostgres() {
		servers = telling{a}
	}
	if a.config.Events.NATSURL == "" {
		return servers, nil
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
	return events.Fan(servers, a.outbox), nil
}

// telling tells the servers of the database of a tenant what happens.
type telling struct{ a *Agent }

// Publish implements [events.Publisher].
func (t telling) Publish(ctx context.Context, e events.Event) error {
	text, err := events.Encode(e, postgres.MaxNews)
	if err != nil {
		return err
	}
	server, done, err := t.a.DatabaseOf(ctx, e.Tenant)
	if err != nil {
		return err
	}
	return errors.Join(server.Tell(ctx, text), done())
}
