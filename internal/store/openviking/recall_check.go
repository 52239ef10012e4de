package openviking

import (
	"cmp"
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// snippetBytes is the length of a snippet, as in the other stores.
const snippetBytes = 240

// related is a hit that the server found.
type related struct {
	amber.Hit
	near float64 // 0 to 1: how far it is above the threshold
}

// candidate is a file that the server found, and its name taken apart.
type candidate struct {
	api.Found
	name
}

// candidates returns the files that may be hits, best first.
func (s *Store) candidates(l layout, found []api.Found) (all []candidate) {
	for _, f := range found {
		n, ok := l.parse(f.URI)
		if ok && f.Score >= s.o.MinScore { // it may be no number
			all = append(all, candidate{f, n})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.id, b.id), cmp.Compare(a.URI, b.URI))
	})
	return all
}

// check turns what the server found into hits, best first. A name says which memory a hit may be: the memory itself
// comes from the primary, and has to pass the whole filter. So planted, renamed and moved files can change the order of
// hits, and neither their text nor which callers see them. Memories that the primary has found already, or that have no
// place in the answer, are not loaded, because the caller waits.
func (s *Store) check(ctx context.Context, q amber.Query, found []api.Found, primary []amber.Hit) (all []related, err error) {
	l, parsed, room, sure := s.known(), analyze.Parse(q.Text), len(found), 0
	if s.o.Fusion != FusionRRF { // which ranks everything that both sides have
		sure = answers(primary)
		room = q.Limit - sure
	}
	done := map[amber.MemoryID]bool{}
	for _, c := range s.candidates(l, found) {
		if len(all) >= room {
			break
		}
		if done[c.id] {
			continue
		}
		near := min((c.Score-s.o.MinScore)/(1-s.o.MinScore), 1)
		if at := indexOf(primary, amber.Hit{ID: c.id}); at >= 0 {
			if done[c.id] = true; at >= sure {
				all = append(all, related{primary[at], near})
			}
			continue
		}
		m, ok, err := s.present(ctx, l, c.name, c.URI)
		if err != nil {
			return nil, err
		}
		if ok && passes(q, &m) {
			done[c.id] = true
			all = append(all, related{hitOf(&m, c.Found, q, parsed), near})
		}
	}
	return all, nil
}

// present loads the memory of a name, if the name is that of its present version. Otherwise it notes the file for the
// feeder.
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
