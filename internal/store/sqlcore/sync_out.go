package sqlcore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// How much one step of an export reads of the change log, and how much text is
// enough for one.
const (
	defaultEntries = 500
	defaultBytes   = 1 << 20
)

const (
	selectEntries  = `SELECT seq, scope, key, op = 'insert' FROM changes WHERE seq > ? ORDER BY seq LIMIT ?`
	selectStamp    = `SELECT stamp FROM changes WHERE seq = ?`
	selectLivedIn  = `SELECT id FROM incarnations WHERE first_seq <= ? ORDER BY ordinal DESC LIMIT 1`
	selectNextFrom = `SELECT coalesce(min(place), '') FROM sync_imports WHERE place > ?`
	// selectImports finds the ranges that reach into a part of the log; they
	// do not overlap.
	selectImports = `SELECT first_seq, last_seq FROM sync_imports WHERE place = ?1 AND first_seq <= ?3
 AND first_seq >= coalesce((SELECT max(first_seq) FROM sync_imports WHERE place = ?1 AND first_seq <= ?2), 0) ORDER BY first_seq`
)

var _ amber.Replica = (*Contracts)(nil)

// Outgoing implements [amber.SyncExporter].
func (s *Contracts) Outgoing(ctx context.Context, r amber.OutgoingRequest) (out amber.Outgoing, err error) {
	const op = "read changes to sync"
	if r.Entries < 0 || r.Bytes < 0 {
		return out, amber.Errorf(amber.KindInvalid, op, "", "the limits of entries and bytes must be 0 or more")
	}
	r.Entries, r.Bytes = cmp.Or(r.Entries, defaultEntries), cmp.Or(r.Bytes, defaultBytes)
	_, since, serr := r.Since.Parse()
	_, after, aerr := r.After.Parse()
	if serr != nil {
		return out, serr
	}
	if aerr != nil {
		return out, aerr
	}
	err = s.memory.View(ctx, op, "", func(t *Tx) error {
		for _, p := range []amber.Position{r.Since, r.After} {
			if incarnation, seq, _ := p.Parse(); incarnation != "" {
				if err := t.checkPosition(incarnation, seq); err != nil {
					return err
				}
			}
		}
		e := export{Tx: t, ask: r, full: r.Since == "", brought: map[amber.SessionID]bool{}, gone: map[amber.SyncRef]bool{}}
		if err := t.Row(selectStamp, since).Scan(&e.since); err != nil && !sqlrows.Absent(err) {
			return err
		}
		out, err = e.step(after)
		return err
	})
	return out, err
}

// export is one step of an export.
type export struct {
	*Tx
	ask   amber.OutgoingRequest
	full  bool        // everything was asked for
	since amber.Stamp // no version that was made here before it is to leave again

	brought                   map[amber.SessionID]bool
	gone                      map[amber.SyncRef]bool
	sessions, rest, relations []amber.SyncRecord
	refused                   []amber.SyncRecord // not to be written
	bytes                     int                // of text in them
}

// entry is an entry of the change log as an export needs it.
type entry struct {
	seq int64
	ref amber.SyncRef
	new bool // here
}

func (e *export) step(after int64) (out amber.Outgoing, err error) {
	out = amber.Outgoing{Device: e.Current.Device, Incarnation: e.Current.Incarnation, At: e.Now}
	var head int64
	var incarnation string
	if err := e.Row(selectHead).Scan(&head, &incarnation); err != nil {
		return out, err
	}
	entries, err := sqlrows.All(e.Tx.Tx, scanEntry, selectEntries, after, e.ask.Entries)
	if err != nil {
		return out, err
	}
	if len(entries) == 0 {
		out.Next, out.Done = amber.PositionAt(incarnation, head), true
		return out, nil
	}
	last, err := e.entries(entries)
	if err != nil {
		return out, err
	}
	if err := e.Row(selectLivedIn, last).Scan(&incarnation); err != nil {
		return out, err
	}
	out.Next, out.Done = amber.PositionAt(incarnation, last), last == head
	out.Records, out.Refused = slices.Concat(e.sessions, e.rest, e.relations), e.refused
	out.Journaled, err = e.journaled()
	return out, err
}

// entries exports what the entries are about, each record once, until there is
// text enough. It returns the last entry it got to.
func (e *export) entries(entries []entry) (last int64, err error) {
	from, err := e.importedFrom(entries)
	if err != nil {
		return 0, err
	}
	// Records that came from another place are passed on. So is a record of a memory that was
	// written here: its version may be of any device and any time.
	passed := map[amber.SyncRef]bool{}
	for i, n := range entries {
		passed[n.ref] = passed[n.ref] || from[i] == elsewhere || from[i] == here && n.new
	}
	done := map[amber.SyncRef]bool{}
	for i, n := range entries {
		last = n.seq
		if from[i] == thePlace || done[n.ref] {
			continue
		}
		done[n.ref] = true
		// A record that cannot be read stays here, and the others leave.
		if err := e.record(n.ref, passed[n.ref]); err != nil && !e.SetAside("", err) {
			return 0, err
		}
		if e.bytes >= e.ask.Bytes {
			return last, nil
		}
	}
	return last, nil
}

// record exports one record.
func (e *export) record(ref amber.SyncRef, passed bool) error {
	switch ref.Scope {
	case amber.ChangeMemory:
		return e.memory(amber.MemoryID(ref.ID), passed)
	case amber.ChangeSession:
		return e.session(amber.SessionID(ref.ID))
	case amber.ChangeTurn:
		return e.turn(ref.ID)
	}
	return nil
}

// source says where an entry of the change log comes from.
type source int

const (
	here      source = iota // it was made here
	elsewhere               // an import from another place made it
	thePlace                // an import from the place of this export made it
)

// importedFrom tells where each of the entries comes from.
func (e *export) importedFrom(entries []entry) ([]source, error) {
	from := make([]source, len(entries))
	first, last := entries[0].seq, entries[len(entries)-1].seq
	for place := ""; ; {
		if err := e.Row(selectNextFrom, place).Scan(&place); err != nil {
			return nil, fmt.Errorf("read imports: %w", err)
		}
		if place == "" {
			return from, nil
		}
		is := elsewhere
		if place == e.ask.Place {
			is = thePlace
		}
		err := e.Each(selectImports, []any{place, first, last}, func(s scanner) error {
			var begin, end int64
			if err := s.Scan(&begin, &end); err != nil {
				return err
			}
			at, _ := slices.BinarySearchFunc(entries, begin, func(n entry, seq int64) int { return cmp.Compare(n.seq, seq) })
			for ; at < len(entries) && entries[at].seq <= end; at++ {
				from[at] = is
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read imports: %w", err)
		}
	}
}

// fresh reports whether a version has not been exported: everything is asked
// for, or it is passed on, or it was made here since. A device
// stamps a version before the entry about it, and after every entry before
// that.
func (e *export) fresh(o amber.Origin, passed bool) bool {
	return e.full || passed || o.Device == e.Current.Device && o.Clock > e.since
}

// wants reports whether records of a project are asked for.
func (e *export) wants(project string) bool {
	return e.ask.Project == "" || project == e.ask.Project
}

func scanEntry(s scanner) (n entry, err error) {
	err = s.Scan(&n.seq, &n.ref.Scope, &n.ref.ID, &n.new)
	return n, err
}
