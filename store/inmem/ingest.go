package inmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Ingester = (*Store)(nil)

// Ingest implements [amber.Ingester].
func (s *Store) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	in, err := in.Normalize()
	if err != nil {
		return amber.IngestResult{}, err
	}
	return run(ctx, s, "ingest", func() (amber.IngestResult, error) {
		undo := s.checkpoint()
		n := intake{Store: s, now: s.now(), session: in.Session, past: in.Past}
		if err := n.take(in); err != nil {
			undo()
			return amber.IngestResult{}, err
		}
		return n.result, nil
	})
}

// checkpoint returns a function that undoes everything an ingestion did since.
func (s *Store) checkpoint() (undo func()) {
	records, answers, changes := maps.Clone(s.records), maps.Clone(s.answers), s.changes
	sessions, active, activity := maps.Clone(s.sessions), maps.Clone(s.active), maps.Clone(s.activity)
	cursors, native, observed := maps.Clone(s.cursors), maps.Clone(s.native), maps.Clone(s.observed)
	turns, compactions, relations := s.turns, s.compactions, maps.Clone(s.relations)
	return func() {
		s.records, s.answers, s.changes = records, answers, changes
		s.sessions, s.active, s.activity = sessions, active, activity
		s.cursors, s.native, s.observed = cursors, native, observed
		s.turns, s.compactions, s.relations = turns, compactions, relations
	}
}

// intake is one ingestion while it is applied.
type intake struct {
	*Store
	now     amber.Time
	session amber.SessionID
	past    bool
	updated bool // the session
	logged  bool // that the session changed
	result  amber.IngestResult
}

func (n *intake) take(in amber.Ingestion) error {
	if err := n.moveCursor(in); err != nil {
		return err
	}
	if _, found := n.sessions[n.session]; in.Past && !found {
		return in.NotStored()
	}
	for i, step := range in.Steps {
		if err := n.step(step); err != nil {
			return &amber.Error{Op: fmt.Sprintf("ingest: step %d", i+1), Kind: amber.KindOf(err), ID: in.Journal, Err: err}
		}
	}
	if n.updated && !n.logged {
		n.logSession(n.now, amber.OpUpdate, n.session)
	}
	return nil
}

func (n *intake) moveCursor(in amber.Ingestion) error {
	c := n.cursors[in.Journal]
	if c.Seq != in.After {
		return conflict("ingest", in.Journal, fmt.Sprintf("the cursor is at %d, want %d", c.Seq, in.After))
	}
	n.cursors[in.Journal] = amber.JournalCursor{
		Journal: in.Journal, Host: in.Host, Session: in.Session, Seq: in.Through,
		LastAt: cmp.Or(in.LastAt, c.LastAt), Process: cmp.Or(in.Process, c.Process),
	}
	return nil
}

// step applies one step, unless its event is known.
func (n *intake) step(step amber.IngestStep) error {
	step.At = cmp.Or(step.At, n.now)
	if !n.isNew(step) {
		n.result.Duplicates++
		return nil
	}
	if err := n.start(step); err != nil {
		return err
	}
	for _, t := range step.Turns {
		if _, err := n.appendTurn(n.now, t); err != nil {
			return err
		}
	}
	for _, a := range step.Activity {
		n.do(step.At, a)
	}
	if err := n.memories(step); err != nil {
		return err
	}
	if step.Compaction != nil {
		if _, err := n.addCompaction(n.now, *step.Compaction); err != nil {
			return err
		}
	}
	if step.End != nil {
		n.end(step)
	}
	n.result.Applied++
	return nil
}

// memories writes the memories of a step and links them to those they name.
func (n *intake) memories(step amber.IngestStep) error {
	ids := make([]amber.MemoryID, len(step.Memories))
	for i, r := range step.Memories {
		before, head := n.changes.stamp, len(n.changes.entries)
		ack, err := n.write(n.now, r)
		if errors.Is(err, amber.ErrKeyErased) {
			continue // it was stored, and a person erased it
		}
		if r.Topic != "" && amber.KindOf(err) == amber.KindRefused {
			continue // the owner has written the topic since
		}
		if err != nil {
			return err
		}
		ids[i] = ack.ID
		if ack.Origin.Clock > before || r.ID != "" && len(n.changes.entries) > head {
			n.result.Memories++
		}
	}
	for _, l := range step.Links {
		from := ids[l.Memory]
		if from == "" || from == l.To {
			continue
		}
		_, err := n.relate(n.now, amber.Relation{From: from, To: l.To, Type: l.Type, Strength: l.Strength, Trust: step.Memories[l.Memory].Trust})
		if err != nil && !slices.Contains([]amber.Kind{amber.KindNotFound, amber.KindRefused}, amber.KindOf(err)) {
			return err
		}
	}
	return nil
}

// isNew reports whether the event of a step is new, and remembers it.
func (n *intake) isNew(step amber.IngestStep) bool {
	e := step.Event
	switch {
	case e == amber.EventRef{}:
		return true
	case e.Native:
		known := n.native[e.ID]
		n.native[e.ID] = true
		return !known
	}
	e.At = cmp.Or(e.At, step.At)
	for _, t := range n.observed[e.ID] {
		if !e.At.Before(t.Add(-amber.SameEventWindow)) && !t.Add(amber.SameEventWindow).Before(e.At) {
			return false
		}
	}
	n.observed[e.ID] = append(n.observed[e.ID], e.At)
	return true
}

// start makes the session of a step, or brings the existing session up to date. A step of the past
// changes no session.
func (n *intake) start(step amber.IngestStep) error {
	if n.past {
		return nil
	}
	n.updated = true
	stored, found := n.sessions[n.session]
	if !found {
		n.logged = true
		_, err := n.startNew(n.now, step.At, step.Start)
		return err
	}
	next := stored
	next.Project, next.Directory = cmp.Or(stored.Project, step.Start.Project), cmp.Or(stored.Directory, step.Start.Directory)
	next.UpdatedAt = n.now
	if step.Reopen && !stored.EndedAt.IsZero() {
		next.EndedAt, next.EndReason = amber.Time{}, ""
		n.active[next.Binding] = next.ID
		n.logged = true
		n.putSession(n.now, next)
		return nil
	}
	n.sessions[next.ID] = next
	return nil
}

// end ends the session, though not before it started.
func (n *intake) end(step amber.IngestStep) {
	session := n.sessions[n.session]
	ended := step.At
	if ended.Before(session.StartedAt) {
		ended = session.StartedAt
	}
	head := len(n.changes.entries)
	n.Store.end(n.now, ended, session, *step.End)
	n.logged = n.logged || len(n.changes.entries) > head
}

// JournalCursor implements [amber.Ingester].
func (s *Store) JournalCursor(ctx context.Context, journal string) (amber.JournalCursor, error) {
	return run(ctx, s, "read cursor", func() (amber.JournalCursor, error) {
		c, known := s.cursors[journal]
		c.Journal = journal
		session, found := s.sessions[c.Session]
		c.Ended = known && (!found || !session.EndedAt.IsZero())
		return c, nil
	})
}

// OpenJournals implements [amber.Ingester].
func (s *Store) OpenJournals(ctx context.Context) ([]amber.JournalCursor, error) {
	return run(ctx, s, "list cursors", func() ([]amber.JournalCursor, error) {
		open := []amber.JournalCursor{}
		for _, c := range s.cursors {
			if session, found := s.sessions[c.Session]; found && session.EndedAt.IsZero() {
				open = append(open, c)
			}
		}
		slices.SortFunc(open, func(a, b amber.JournalCursor) int {
			return cmp.Or(cmp.Compare(a.LastAt.UnixMilli(), b.LastAt.UnixMilli()), cmp.Compare(a.Journal, b.Journal))
		})
		return open[:min(len(open), amber.MaxPageSize)], nil
	})
}
