package main

import (
	"context"

	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/events"
)

// announce makes an open store tell of what it changes in the notes and in the
// documents of runtime state, which have no change log, where somebody listens.
func (a *app) announce(ctx context.Context, s *opened) error {
	c := s.config.Config.Events
	parts := s.Store.Present()
	hasNotes := parts.Notes != nil && parts.NoteLog != nil
	if !c.MutationEnabled || !hasNotes && parts.Documents == nil {
		return nil
	}
	if err := a.openOutbox(ctx, c); err != nil || a.publisher == nil {
		return err
	}
	sink := events.Sink{
		Publisher: a.publisher, Tenant: s.agent.Tenant(), Agent: s.agent.ID(), Clock: a.clock, Prefix: c.MutationPrefix,
		Warn: func(err error) { a.out.warn("%v", err) },
	}
	if hasNotes {
		notes, err := events.NewNotes(parts.Notes, parts.NoteLog, sink)
		if err != nil {
			return err
		}
		s.Store.Notes = notes
	}
	if parts.Documents != nil {
		documents, err := events.NewDocuments(parts.Documents, sink)
		if err != nil {
			return err
		}
		s.Store.Documents = documents
	}
	return nil
}

// openOutbox opens what keeps events for the server of this home to publish,
// where a broker is configured and this run has no other publisher.
func (a *app) openOutbox(ctx context.Context, c config.Events) error {
	if a.publisher != nil || c.NATSURL == "" {
		return nil
	}
	db, err := a.openHomeDB(ctx)
	if err != nil {
		return err
	}
	a.publisher = db
	a.closers = append(a.closers, db.Close)
	return nil
}
