package mem0

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of what is held at once.
const (
	maxBatch = 32 << 20 // bytes of events, unless one memory has more
	maxPast  = 64 << 20 // bytes of earlier texts of memories that documents hold
)

// event is a row of the history.
type event struct {
	at               foreign.Place
	old, new         string
	deleted          bool
	created, updated amber.Time
	actor, role      string
}

func (e event) when() amber.Time { return cmp.Or(e.updated, e.created) }

// readHistory reads the history databases.
func (r *reader) readHistory(ctx context.Context, t *foreign.Tree, files []foreign.File) error {
	return t.EachDatabase(ctx, files, r.to.Skip, func(f foreign.File, db *foreign.Database) error {
		if !isHistory(db) {
			r.to.Skip(f.Place(""), "database lacks the table history of mem0")
			return nil
		}
		return r.tellAll(ctx, db, f)
	})
}

// tellAll reads a history in several goes: the events of a memory lie anywhere.
func (r *reader) tellAll(ctx context.Context, db *foreign.Database, f foreign.File) error {
	var ids []string
	sizes := map[string]int{}
	if err := events(ctx, db, r.to.Skip, func(id string, e event) {
		if _, ok := sizes[id]; !ok {
			ids = append(ids, id)
		}
		sizes[id] += len(e.old) + len(e.new)
	}); err != nil {
		return err
	}
	for _, part := range foreign.Batches(ids, func(id string) int { return sizes[id] }, maxBatch) {
		if err := r.tellHistory(ctx, db, f, part); err != nil {
			return err
		}
	}
	return nil
}

// events calls fn with every event of a memory.
func events(ctx context.Context, db *foreign.Database, skip foreign.SkipFunc, fn func(id string, e event)) error {
	return db.EachRow(ctx, "history", skip, func(at foreign.Place, x foreign.Row) error {
		e, err := eventOf(x)
		if err == nil && x.Text("memory_id") == "" {
			err = errors.New("row names no memory")
		}
		if err != nil {
			skip(at, "%v", err)
			return nil
		}
		e.at = at
		fn(x.Text("memory_id"), e)
		return nil
	})
}

func eventOf(x foreign.Row) (e event, err error) {
	e = event{old: x.Text("old_memory"), new: x.Text("new_memory"), actor: x.Text("actor_id"), role: x.Text("role")}
	deleted, _ := x.Number("is_deleted")
	e.deleted = e.new == "" && (deleted != 0 || strings.EqualFold(x.Text("event"), "DELETE"))
	for _, t := range []struct {
		column string
		into   *amber.Time
	}{{"created_at", &e.created}, {"updated_at", &e.updated}} {
		if s := x.Text(t.column); s != "" {
			if *t.into, err = foreign.Text(s); err != nil {
				return e, fmt.Errorf("%s: %w", t.column, err)
			}
		}
	}
	return e, nil
}

// tellHistory gives out some memories, or holds their past for the documents that hold them.
func (r *reader) tellHistory(ctx context.Context, db *foreign.Database, f foreign.File, ids []string) error {
	all := map[string][]event{}
	for _, id := range ids {
		all[id] = []event{}
	}
	if err := events(ctx, db, foreign.Quiet, func(id string, e event) {
		if list, ok := all[id]; ok {
			all[id] = append(list, e)
		}
	}); err != nil {
		return err
	}
	for _, id := range ids {
		if err := r.tellMemory(f, id, all[id]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) tellMemory(f foreign.File, id string, list []event) error {
	m := fold(list, f.ModifiedAt())
	m.Key = keyOf(id, "")
	if m.Content == "" {
		r.to.Skip(m.Place, "history of memory %.60q has no text", id)
		return nil
	}
	if r.later.Has(m.Key) {
		r.keep(id, m)
		return nil
	}
	m.Kind, m.Identities = amber.UserFact, amber.Identities{UserID: r.o.User, ProjectID: r.o.Project}
	m.Scope = scopeOf(m.Identities)
	return r.memory(f, m)
}

// keep holds the past of a memory whose text a document has.
func (r *reader) keep(id string, m foreign.Memory) {
	h := history{append(m.Earlier, foreign.Earlier{Content: m.Content, At: m.UpdatedAt}), m.DeletedAt}
	for _, e := range h.earlier {
		r.held += len(e.Content)
	}
	if r.held > maxPast {
		r.to.Skip(m.Place, "earlier texts of memory %.60q are left out: there are more than %d bytes of them, the limit", id, maxPast)
		h.earlier = nil
	}
	r.past[id] = h
}

// sortEvents orders events by time. Those without one come first, and a deletion without one last: older versions wrote
// none.
func sortEvents(list []event) {
	lost := func(e event) int {
		if e.deleted && e.when().IsZero() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b event) int {
		return cmp.Or(cmp.Compare(lost(a), lost(b)), cmp.Compare(a.when().UnixMilli(), b.when().UnixMilli()))
	})
}

// fold makes a memory of its events.
func fold(list []event, modified amber.Time) (m foreign.Memory) {
	sortEvents(list)
	texts, last := []foreign.Earlier(nil), amber.Time{}
	for _, e := range list {
		m.Place = cmp.Or(m.Place, e.at)
		if m.CreatedAt.IsZero() || !e.created.IsZero() && e.created.Before(m.CreatedAt) {
			m.CreatedAt = e.created
		}
		if len(texts) == 0 {
			texts = say(texts, e.old, cmp.Or(e.created, modified))
		}
		last = cmp.Or(e.when(), last, modified)
		texts = say(texts, e.new, last)
		if m.DeletedAt = (amber.Time{}); e.deleted {
			m.DeletedAt = last
		}
	}
	if n := len(texts) - 1; n >= 0 {
		m.Content, m.UpdatedAt = texts[n].Content, texts[n].At
		m.Earlier = slices.Clip(texts[:n])
	}
	if len(m.Earlier) == 0 {
		m.Earlier = nil
	}
	if who := whoOf(list); len(who) > 0 {
		m.Foreign = who
	}
	return m
}

// say adds a text, unless it is the last one again.
func say(texts []foreign.Earlier, text string, at amber.Time) []foreign.Earlier {
	if text == "" || len(texts) > 0 && texts[len(texts)-1].Content == text {
		return texts
	}
	return append(texts, foreign.Earlier{Content: text, At: at})
}

// whoOf returns who made the last events that say so.
func whoOf(list []event) map[string]string {
	who := map[string]string{}
	for _, e := range list {
		if e.actor != "" {
			who["actor_id"] = e.actor
		}
		if e.role != "" {
			who["role"] = e.role
		}
	}
	return who
}
