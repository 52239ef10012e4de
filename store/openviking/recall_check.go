package openviking

import (
	"cmp"
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
	"github.com/amber-memory/amber/store/openviking/api"
)

// snippetBytes is the length of a snippet, as in the other stores.
const snippetBytes = 240

// related is a hit that the server found.
type related struct {
	amber.Hit
	score float64 // of the server
	near  float64 // 0 to 1: how far it is above the threshold
}

// check turns what the server found into hits, best first. A name says which memory may be one:
// the memory itself comes from the primary, and has to pass the whole filter. So planted, renamed
// and moved files can change an order, and neither a word nor who sees it.
func (s *Store) check(ctx context.Context, q amber.Query, found []api.Found) ([]related, error) {
	l, parsed := s.known(), analyze.Parse(q.Text)
	best := map[amber.MemoryID]related{}
	for _, f := range found {
		n, ok := l.parse(f.URI)
		if !ok || !(f.Score >= s.o.MinScore) { // nor if it is no number
			continue
		}
		if had, ok := best[n.id]; ok && had.score >= f.Score {
			continue
		}
		m, ok, err := s.present(ctx, l, n, f.URI)
		if err != nil {
			return nil, err
		}
		if ok && passes(q, &m) {
			near := min((f.Score-s.o.MinScore)/(1-s.o.MinScore), 1)
			best[n.id] = related{hitOf(&m, f, q, parsed), f.Score, near}
		}
	}
	all := make([]related, 0, len(best))
	for _, r := range best {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b related) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// present loads the memory of a name, if the name is that of its present version. Otherwise the
// feeder is told.
func (s *Store) present(ctx context.Context, l layout, n name, uri string) (m amber.Memory, ok bool, err error) {
	m, err = s.o.Primary.Memories.Get(ctx, n.id)
	switch amber.KindOf(err) {
	case "":
		ok = s.o.leaves(m.Scope) && l.uri(&m, bodyOf(&m, s.o.Redact)) == uri
	case amber.KindNotFound, amber.KindDamaged:
	default:
		return m, false, err
	}
	if !ok {
		s.suspect(uri)
	}
	return m, ok, nil
}

// passes reports whether a live memory is one that a question asks for.
func passes(q amber.Query, m *amber.Memory) bool {
	switch {
	case !q.Sees(m.Scope, m.Identities), !q.Believes(m.Trust):
		return false
	case len(q.Kinds) > 0 && !slices.Contains(q.Kinds, m.Kind):
		return false
	case !q.Since.IsZero() && m.UpdatedAt.Before(q.Since), !q.Until.IsZero() && !m.UpdatedAt.Before(q.Until):
		return false
	}
	for _, t := range q.Tags {
		if !slices.Contains(m.Tags, t) {
			return false
		}
	}
	return true
}

func hitOf(m *amber.Memory, f api.Found, q amber.Query, parsed analyze.Query) amber.Hit {
	h := amber.Hit{
		ID: m.ID, Layer: amber.LayerMemory, Owner: string(m.ID), SessionID: m.SessionID, ProjectID: m.ProjectID,
		Title: m.Title, Kind: m.Kind, Scope: m.Scope, Content: m.Content, Trust: m.Trust,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		Snippet:    analyze.Snippet(m.Content, parsed, snippetBytes),
		Provenance: amber.Provenance{Backend: backendName, Locator: f.URI},
	}
	if q.Explain {
		h.Why = &amber.Why{Terms: []amber.TermMatch{}, Meaning: f.Score, Related: true}
	}
	return h
}
