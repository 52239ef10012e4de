package inmem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

var _ amber.Eraser = (*Store)(nil)

// Erase implements [amber.Eraser].
func (s *Store) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	return run(ctx, s, "erase memory", func() (amber.EraseReport, error) {
		report := amber.EraseReport{ID: id, Removed: []string{}, Remaining: []string{}}
		if _, gone := s.erased[id]; gone {
			return report, nil
		}
		r := s.records[id]
		if r == nil {
			return amber.EraseReport{}, notFound("erase memory", string(id))
		}
		now := s.now()
		turns := s.eraseTurns(now, r)
		report.Removed = s.erase(now, id, r)
		if turns > 0 {
			report.Removed = append(report.Removed, fmt.Sprintf("%d turns", turns))
		}
		report.Removed = append(report.Removed, s.eraseDerived(now, r)...)
		report.Remaining = s.copiesOf(r)
		return report, nil
	})
}

// quotes reports whether a text quotes one of the record's contents in full.
func (r *record) quotes(text string) bool {
	return slices.ContainsFunc(r.revisions, func(m amber.Memory) bool { return strings.Contains(text, m.Content) })
}

// eraseTurns removes the turns that quote the record.
func (s *Store) eraseTurns(now amber.Time, r *record) (n int) {
	s.turns = slices.DeleteFunc(s.turns, func(t amber.Turn) bool {
		if !r.quotes(t.Content) {
			return false
		}
		n++
		s.blankDigests(amber.ChangeTurn, string(t.ID))
		s.blankShown(amber.LayerExchange, string(t.ID))
		s.log(now, amber.OpDelete, amber.ChangeTurn, string(t.ID), "", "")
		return true
	})
	return n
}

// eraseDerived removes what was derived from the same words: activity and
// digests of sessions that quote the record.
func (s *Store) eraseDerived(now amber.Time, r *record) (removed []string) {
	activity, digests := 0, 0
	for id, done := range s.activity {
		kept := slices.DeleteFunc(slices.Clone(done), func(a amber.Activity) bool { return r.quotes(a.Name + "\n" + a.Detail) })
		activity += len(done) - len(kept)
		s.activity[id] = kept
	}
	for _, id := range slices.Sorted(maps.Keys(s.records)) {
		other := s.records[id]
		m := other.present()
		if m.Kind == amber.SessionSummary && m.Trust == amber.TrustDerived && r.quotes(m.Title+"\n"+m.Summary+"\n"+m.Content) {
			s.erase(now, id, other)
			digests++
		}
	}
	for _, part := range []struct {
		n    int
		name string
	}{{activity, "activities"}, {digests, "session digests"}} {
		if part.n > 0 {
			removed = append(removed, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	return removed
}

// copiesOf names the places that still quote the record.
func (s *Store) copiesOf(r *record) []string {
	names := []string{}
	add := func(place, id, text string) {
		if r.quotes(text) {
			names = append(names, place+" "+id)
		}
	}
	for id, other := range s.records {
		for i, m := range other.revisions {
			place := "history of memory"
			if i == len(other.revisions)-1 {
				place = "memory"
			}
			add(place, string(id), m.Title+"\n"+m.Summary+"\n"+m.Content)
		}
	}
	for id, session := range s.sessions {
		add("summary of session", string(id), session.Summary)
	}
	for id, state := range s.states {
		add("state of session", string(id), string(state.Document))
	}
	for id, loop := range s.loops {
		add("suspended loop of session", string(id), string(loop.State))
	}
	for _, c := range s.compactions {
		add("compaction summary of session", string(c.SessionID), c.Summary)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// erase removes a record with everything about it and returns the names of the removed parts.
func (s *Store) erase(now amber.Time, id amber.MemoryID, r *record) []string {
	relations, answers := len(s.relations), s.eraseAnswers(id)
	maps.DeleteFunc(s.relations, func(_ string, rel amber.Relation) bool { return rel.From == id || rel.To == id })
	delete(s.records, id)
	s.erased[id] = s.origin(now, r.present().Origin.Counter+1)
	s.blankDigests(amber.ChangeMemory, string(id))
	s.blankShown(amber.LayerMemory, string(id))
	s.log(now, amber.OpDelete, amber.ChangeMemory, string(id), "", "")
	removed := []string{}
	for _, part := range []struct {
		n    int
		name string
	}{
		{len(r.revisions), "revisions"},
		{len(r.concepts), "concepts"},
		{relations - len(s.relations), "relations"},
		{answers, "idempotency answers"},
	} {
		if part.n > 0 {
			removed = append(removed, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	return removed
}

// blankShown leaves of the record that a passage stood before an agent only that it did:
// the detail is a digest of the text.
func (s *Store) blankShown(layer amber.RecallLayer, owner string) {
	name := amber.ShownName(layer, owner)
	for session, done := range s.activity {
		done = slices.Clone(done)
		for i, a := range done {
			if a.Kind == amber.ActivityContext && a.Name == name {
				done[i].Detail = ""
			}
		}
		s.activity[session] = done
	}
}

// eraseAnswers removes the answers about a memory and leaves their keys, so that a retry does not
// store the memory anew.
func (s *Store) eraseAnswers(id amber.MemoryID) (n int) {
	for key, a := range s.answers {
		if a.ack.ID == id {
			s.answers[key] = answer{expires: a.expires}
			n++
		}
	}
	return n
}

// blankDigests removes the digests of an erased record from the log: they
// would tell a caller who guesses the text that the guess is right.
func (s *Store) blankDigests(scope amber.ChangeScope, key string) {
	for i := range s.changes.entries {
		if c := &s.changes.entries[i]; c.Scope == scope && c.Key == key {
			c.OldDigest, c.NewDigest = "", ""
		}
	}
}
