package sqlcore

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	// Both remember an event unless it is known, and tell by the number of rows.
	rememberNative   = `INSERT INTO journal_events (id, at) VALUES (?, 0) ON CONFLICT DO NOTHING`
	rememberObserved = `INSERT INTO journal_events (id, at) SELECT ?1, ?2
WHERE NOT EXISTS (SELECT 1 FROM journal_events WHERE id = ?1 AND at BETWEEN ?3 AND ?4 AND at <> 0)`
)

var _ amber.Ingester = (*Contracts)(nil)

// Ingest implements [amber.Ingester]. Everything is one transaction of
// memory.db, with as many steps as a drain has read.
func (s *Contracts) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	in, err := in.Normalize()
	if err != nil {
		return amber.IngestResult{}, err
	}
	n := intake{id: in.Session, past: in.Past, kinds: map[amber.ActivityKind]int{}}
	err = s.memory.UpdateAlone(ctx, "ingest", in.Journal, func(t *Tx) error {
		n.Tx = t
		return n.take(in)
	})
	if err != nil {
		return amber.IngestResult{}, err
	}
	return n.result, nil
}

// intake is one ingestion while it is applied.
type intake struct {
	*Tx
	id      amber.SessionID
	past    bool
	session amber.Session              // as it is stored, from the first step on
	kinds   map[amber.ActivityKind]int // how many things of a kind are stored, once that matters
	updated bool                       // the session
	logged  bool                       // that the session changed
	result  amber.IngestResult
}

func (n *intake) take(in amber.Ingestion) error {
	if err := n.moveCursor(in); err != nil {
		return err
	}
	if in.Past {
		if _, found, err := sqlrows.Optional(sqlrows.ScanSession(n.Row(selectSession, n.id))); err != nil || !found {
			return cmp.Or(err, in.NotStored())
		}
	}
	for i, step := range in.Steps {
		if err := n.step(step); err != nil {
			err = n.o.Wrap("store", "", err)
			return &amber.Error{Op: fmt.Sprintf("ingest: step %d", i+1), Kind: amber.KindOf(err), ID: in.Journal, Err: err}
		}
	}
	if n.updated && !n.logged {
		return n.LogSession(amber.OpUpdate, n.id)
	}
	return nil
}

// step applies one step, unless its event is known.
func (n *intake) step(step amber.IngestStep) error {
	step.At = cmp.Or(step.At, n.Now)
	fresh, err := n.isNew(step)
	if err != nil {
		return err
	}
	if !fresh {
		n.result.Duplicates++
		return nil
	}
	for _, part := range []func(amber.IngestStep) error{n.start, n.turns, n.activity, n.memories, n.compaction, n.end} {
		if err := part(step); err != nil {
			return err
		}
	}
	n.result.Applied++
	return nil
}

// isNew reports whether the event of a step is new, and remembers it.
func (n *intake) isNew(step amber.IngestStep) (bool, error) {
	e := step.Event
	if e == (amber.EventRef{}) {
		return true, nil
	}
	id, err := hex.DecodeString(e.ID)
	if err != nil {
		return false, err
	}
	var rows int64
	if e.Native {
		rows, err = n.Exec(rememberNative, id)
	} else {
		at := cmp.Or(e.At, step.At)
		rows, err = n.Exec(rememberObserved, id, at.UnixMilli(),
			at.Add(-amber.SameEventWindow).UnixMilli(), at.Add(amber.SameEventWindow).UnixMilli())
	}
	return rows == 1, err
}

// start makes the session of a step, or brings the existing session up to date. A step of the past
// changes no session.
func (n *intake) start(step amber.IngestStep) error {
	if n.past {
		return nil
	}
	if !n.updated {
		var err error
		n.session, err = sqlrows.ScanSession(n.Row(selectSession, n.id))
		if sqlrows.Absent(err) {
			n.updated, n.logged = true, true
			n.session, err = n.newSession(step.Start, step.At)
			return err
		}
		if err != nil {
			return err
		}
		n.updated = true
	}
	next := n.session
	next.Project, next.Directory = cmp.Or(next.Project, step.Start.Project), cmp.Or(next.Directory, step.Start.Directory)
	next.UpdatedAt = n.Now
	reopened := step.Reopen && !next.EndedAt.IsZero()
	if reopened {
		next.EndedAt, next.EndReason = amber.Time{}, ""
	}
	if next == n.session {
		return nil
	}
	n.session = next
	if !reopened {
		return n.storeSession(next)
	}
	if err := n.activate(next); err != nil {
		return err
	}
	n.logged = true
	return n.putSession(next)
}

func (n *intake) turns(step amber.IngestStep) error {
	for _, t := range step.Turns {
		if _, err := n.appendTurn(t); err != nil {
			return err
		}
	}
	return nil
}

// memories writes the memories of a step. A write that stored something has
// stamped it, or has its stamp from elsewhere and is logged.
func (n *intake) memories(step amber.IngestStep) error {
	ids := make([]amber.MemoryID, len(step.Memories))
	for i, r := range step.Memories {
		before, head := n.Stamp, n.Seq
		ack, err := n.Write(r)
		if errors.Is(err, amber.ErrKeyErased) {
			continue // it was stored, and its owner wanted it gone
		}
		if r.Topic != "" && amber.KindOf(err) == amber.KindRefused {
			continue // the owner has written the topic since: a rule does not write over it
		}
		if err != nil {
			return err
		}
		ids[i] = ack.ID
		if ack.Origin.Clock > before || r.ID != "" && n.Seq > head {
			n.result.Memories++
		}
	}
	for _, l := range step.Links {
		if err := n.link(ids[l.Memory], step.Memories[l.Memory].Trust, l); err != nil {
			return err
		}
	}
	return nil
}

// link relates a memory of the step to a stored one, where both are there. A relation that is there and trusted more
// stays.
func (n *intake) link(from amber.MemoryID, trust amber.Trust, l amber.IngestLink) error {
	if from == "" || from == l.To {
		return nil
	}
	_, err := n.relate(amber.Relation{From: from, To: l.To, Type: l.Type, Strength: l.Strength, Trust: trust})
	switch amber.KindOf(err) {
	case amber.KindNotFound, amber.KindRefused:
		return nil
	}
	return err
}

func (n *intake) compaction(step amber.IngestStep) error {
	if step.Compaction == nil {
		return nil
	}
	_, err := n.addCompaction(*step.Compaction)
	return err
}

// end ends the session, though not before it started.
func (n *intake) end(step amber.IngestStep) error {
	if step.End == nil {
		return nil
	}
	ended := step.At
	if ended.Before(n.session.StartedAt) {
		ended = n.session.StartedAt
	}
	head := n.Seq
	var err error
	n.session, err = n.endSession(n.session, *step.End, ended)
	n.logged = n.logged || n.Seq > head
	return err
}
