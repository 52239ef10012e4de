package inmem

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
)

const (
	backendName  = "inmem"
	snippetBytes = 240
)

// match is a memory that answers a query.
type match struct {
	memory amber.Memory
	why    amber.Why
	score  float64
}

// Recall implements [amber.LongTerm].
func (s *Store) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	q, clamped, err := q.Normalize()
	if err != nil {
		return amber.RecallResult{Hits: []amber.Hit{}}, err
	}
	return run(ctx, s, "recall", func() (amber.RecallResult, error) {
		parsed := analyze.Parse(q.Text)
		matches := s.find(q, parsed)
		slices.SortFunc(matches, better)
		if len(matches) < q.Limit {
			matches = append(matches, s.kin(q, parsed, matches)...)
		}
		result := amber.RecallResult{Hits: []amber.Hit{}, Clamped: clamped}
		for _, m := range matches[:min(q.Limit, len(matches))] {
			h := hit(m, parsed)
			h.Score = m.score / matches[0].score
			if q.Explain {
				h.Why = &m.why
			}
			result.Hits = append(result.Hits, h)
		}
		return result, nil
	})
}

// find returns every memory the filter lets through that matches, in no
// order. A query without words matches everything alike.
func (s *Store) find(q amber.Query, parsed analyze.Query) []match {
	rank := newRanker(parsed, s.corpus())
	var matches []match
	for _, r := range s.records {
		m := r.present()
		if !r.live() || !q.Sees(m.Scope, m.Identities) || !passes(q.Filter, m) || q.Trusted && !trusted(m.Trust) {
			continue
		}
		if strings.TrimSpace(q.Text) == "" {
			matches = append(matches, match{m, amber.Why{Terms: []amber.TermMatch{}}, 1})
			continue
		}
		if why := rank.explain(r.analysed()); len(why.Terms) > 0 {
			matches = append(matches, match{m, why, why.Words + why.Substring + why.CJK})
		}
	}
	return matches
}

// kin returns what related words find, without matches, best first and all
// behind the worst of matches.
func (s *Store) kin(q amber.Query, parsed analyze.Query, matches []match) []match {
	if len(parsed.Related) == 0 {
		return nil
	}
	behind := 1.0
	if len(matches) > 0 {
		behind = matches[len(matches)-1].score / 2
	}
	// A related word is looked for as a word only.
	corpus := s.corpus()
	known := slices.DeleteFunc(slices.Clone(parsed.Related), func(w string) bool {
		return !occurs(term{kind: wholeWord, stem: analyze.Stem(w)}, corpus)
	})
	found := slices.DeleteFunc(s.find(q, analyze.Query{Words: known}), func(m match) bool {
		return len(known) == 0 || slices.ContainsFunc(matches, func(o match) bool { return o.memory.ID == m.memory.ID })
	})
	slices.SortFunc(found, better)
	for i := range found {
		found[i].why.Related = true
		if i > 0 {
			found[i].score = behind * found[i].score / found[0].score
		}
	}
	if len(found) > 0 {
		found[0].score = behind
	}
	return found
}

// corpus returns every live memory's document.
func (s *Store) corpus() []*document {
	var docs []*document
	for _, r := range s.records {
		if r.live() {
			docs = append(docs, r.analysed())
		}
	}
	return docs
}

// better orders matches best first; of equals, the newest.
func better(a, b match) int {
	return cmp.Or(
		cmp.Compare(b.score, a.score),
		cmp.Compare(b.memory.UpdatedAt.UnixMilli(), a.memory.UpdatedAt.UnixMilli()),
		cmp.Compare(b.memory.ID, a.memory.ID),
	)
}

func trusted(t amber.Trust) bool { return t == amber.TrustOwn || t == amber.TrustSigned }

func hit(m match, q analyze.Query) amber.Hit {
	return amber.Hit{
		ID: m.memory.ID, Title: m.memory.Title, Kind: m.memory.Kind, Scope: m.memory.Scope,
		Snippet: analyze.Snippet(m.memory.Content, q, snippetBytes), Content: m.memory.Content, Trust: m.memory.Trust,
		CreatedAt: m.memory.CreatedAt, UpdatedAt: m.memory.UpdatedAt,
		Provenance: amber.Provenance{Backend: backendName, Locator: "memory/" + string(m.memory.ID)},
	}
}
