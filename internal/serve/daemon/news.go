package daemon

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/store/postgres"
)

var _ events.Publisher = (*Replica)(nil)

// Publish implements [events.Publisher]: every server of the database of the tenant is told, this one too.
func (r *Replica) Publish(ctx context.Context, e events.Event) error {
	text, err := events.Encode(e, postgres.MaxNews)
	if err != nil {
		return err
	}
	return r.of(e.Tenant).Server.Tell(ctx, text)
}

// heard is what this server has heard of the others of a database. One goroutine uses it.
type heard struct {
	begun bool
	last  int64
}

// hear hands to the listeners of this process the events that all servers of a database were told
// since the last call. Events that are older than this server are not handed out again. The
// subjects begin with prefix.
func (r *Replica) hear(ctx context.Context, d *Database, prefix string, listeners *events.Bus) error {
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	if !d.heard.begun {
		last, err := d.Server.Newest(ctx)
		d.heard = heard{err == nil, last}
		return err
	}
	list, err := d.Server.News(ctx, d.heard.last)
	for _, n := range list {
		d.heard.last = n.Number
		if e, ok := r.told(d, n.Text); ok {
			e.Subject = events.LifecycleSubject(prefix, e.Tenant, e.Agent, e.Name)
			_ = listeners.Publish(ctx, e) // never fails
		}
	}
	return err
}

// told decodes an event that a server has left in a database. It accepts events of snapshots alone, and from a database that belongs to one tenant
// those of that tenant alone.
func (r *Replica) told(d *Database, text []byte) (e events.Event, ok bool) {
	e, err := events.Decode(text)
	if err == nil {
		_, err = amber.ParseTenantID(string(e.Tenant))
	}
	if err == nil && e.Agent != "" {
		_, err = amber.ParseAgentID(string(e.Agent))
	}
	return e, err == nil && r.of(e.Tenant) == d && slices.Contains(lifecycle, e.Name)
}

// lifecycle is what happens to snapshots.
var lifecycle = []events.EventName{events.EventCreated, events.EventRestored, events.EventDeleted, events.EventVerified, events.EventPruned, events.EventGC}
