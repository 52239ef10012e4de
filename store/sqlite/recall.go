package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

// backendName is how the store signs its hits.
const backendName = "sqlite"

// snippetBytes is the length of a snippet.
const snippetBytes = 240

const (
	selectNewest = `SELECT rowid FROM memories INDEXED BY memories_updated WHERE deleted_at IS NULL AND `
	orderNewest  = ` ORDER BY updated_at DESC, id DESC LIMIT ?`

	// passing tells which candidates the filter lets through.
	passing = `SELECT rowid, updated_at, id FROM memories WHERE rowid IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL AND `

	selectByRowid = `SELECT ` + sqlrows.MemoryColumns + ` FROM memories WHERE rowid = ?`
)

// match is a memory that fits a query, before it is loaded.
type match struct {
	related               bool // found by related words only
	rowid                 int64
	words, substring, cjk float64
	updatedAt             int64
	id                    string
}

func (m *match) score() float64 { return m.words + m.substring + m.cjk }

// Recall implements [amber.LongTerm]. Words are looked up in the word index.
// Words that no memory contains are looked for inside words, and scripts
// written without spaces by their characters, both in the gram index. The
// filter is applied to the best candidates only; when too few pass, it is
// applied to all.
func (s *Store) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	result := amber.RecallResult{Hits: []amber.Hit{}}
	q, clamped, err := q.Normalize()
	if err != nil {
		return result, err
	}
	result.Clamped = clamped
	var filter conditions
	if err := filter.filter(q.Filter, false); err != nil {
		return result, err
	}
	if q.Trusted {
		filter.add("trust IN ('own', 'signed')")
	}
	parsed := analyze.Parse(q.Text)
	err = s.memory.view(ctx, "recall", "", func(t *tx) error {
		r := recaller{tx: t, ask: q, filter: filter, query: parsed, limit: q.Limit}
		result.Hits, err = r.hits(q.Explain)
		result.SetAside = t.Aside
		return err
	})
	return result, err
}

// recaller answers one query inside one read transaction.
type recaller struct {
	tx     *tx
	ask    amber.Query
	filter conditions
	query  analyze.Query
	limit  int
	// unknown are the words of the query that no memory contains as a word.
	unknown []string
}

// hits returns the best matches that can be read. Where one cannot, it looks for
// more.
func (r *recaller) hits(explain bool) ([]amber.Hit, error) {
	for n := r.limit; ; r.limit *= 2 {
		r.tx.Aside, r.unknown = nil, nil
		matches, err := r.find()
		if err != nil {
			return nil, err
		}
		hits, err := r.load(matches, explain)
		if err != nil || len(hits) >= n || len(matches) < r.limit || r.limit > amber.MaxTopK*amber.MaxSetAside {
			return hits[:min(len(hits), n)], err
		}
	}
}

// find returns the best matches that pass the filter, best first.
func (r *recaller) find() ([]match, error) {
	if strings.TrimSpace(r.ask.Text) == "" {
		return r.newest()
	}
	known, err := r.split(r.query.Words)
	if err != nil {
		return nil, err
	}
	found := map[int64]*match{}
	cut, err := r.byWords(found, known)
	if err != nil {
		return nil, err
	}
	if err := r.bySubstring(found); err != nil {
		return nil, err
	}
	if err := r.byCharacters(found); err != nil {
		return nil, err
	}
	best, err := r.pass(found)
	if err != nil || len(best) >= r.limit {
		return best, err
	}
	if cut { // the filter is narrow: let it choose among all matches
		if err := r.byWordsFiltered(found, known); err != nil {
			return nil, err
		}
		if best, err = r.pass(found); err != nil || len(best) >= r.limit {
			return best, err
		}
	}
	return r.fillUp(best, found)
}

// fillUp appends what related words find behind the best matches of the
// question's own words.
func (r *recaller) fillUp(best []match, found map[int64]*match) ([]match, error) {
	if len(r.query.Related) == 0 {
		return best, nil
	}
	more := map[int64]*match{}
	if err := r.byWordsFiltered(more, r.query.Related); err != nil {
		return nil, err
	}
	for rowid := range found {
		delete(more, rowid)
	}
	kin, err := r.pass(more)
	if err != nil || len(kin) == 0 {
		return best, err
	}
	// Behind the worst of the others, in their own order.
	behind := 1.0
	if len(best) > 0 {
		behind = best[len(best)-1].score() / 2
	}
	top := kin[0].words
	for i := range kin {
		kin[i].words, kin[i].related = behind*kin[i].words/top, true
	}
	best = append(best, kin...)
	return best[:min(len(best), r.limit)], nil
}

// newest answers a query without words.
func (r *recaller) newest() ([]match, error) {
	return sqlrows.All(r.tx.Tx, func(s scanner) (m match, err error) {
		m.words = 1
		err = s.Scan(&m.rowid)
		return m, err
	}, selectNewest+r.filter.String()+orderNewest, append(r.filter.args, r.limit)...)
}

// pass drops the candidates the filter does not let through and returns the
// best of the rest, best first; of equals, the newest.
func (r *recaller) pass(found map[int64]*match) ([]match, error) {
	rowids := make([]int64, 0, len(found))
	for id := range found {
		rowids = append(rowids, id)
	}
	list, err := sqlrows.Marshal(rowids)
	if err != nil {
		return nil, err
	}
	var out []match
	err = r.tx.Each(passing+r.filter.String(), append([]any{list}, r.filter.args...), func(s scanner) error {
		var rowid, updatedAt int64
		var id string
		if err := s.Scan(&rowid, &updatedAt, &id); err != nil {
			return err
		}
		m := *found[rowid]
		m.updatedAt, m.id = updatedAt, id
		out = append(out, m)
		return nil
	})
	slices.SortFunc(out, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), cmp.Compare(b.updatedAt, a.updatedAt), cmp.Compare(b.id, a.id))
	})
	return out[:min(len(out), r.limit)], err
}

// load turns matches into hits, their scores relative to the best.
func (r *recaller) load(matches []match, explain bool) ([]amber.Hit, error) {
	hits := make([]amber.Hit, 0, len(matches))
	for _, m := range matches {
		mem, err := sqlrows.ScanMemory(r.tx.Row(selectByRowid, m.rowid))
		if r.tx.SetAside("memories", err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load hit: %w", err)
		}
		hit := amber.Hit{
			ID: mem.ID, Score: m.score() / matches[0].score(), Title: mem.Title, Kind: mem.Kind, Scope: mem.Scope,
			Snippet: analyze.Snippet(mem.Content, r.query, snippetBytes), Content: mem.Content, Trust: mem.Trust,
			CreatedAt: mem.CreatedAt, UpdatedAt: mem.UpdatedAt,
			Provenance: amber.Provenance{Backend: backendName, Locator: "memory/" + string(mem.ID)},
		}
		if explain {
			if hit.Why, err = r.explain(m, mem); err != nil {
				return nil, fmt.Errorf("explain hit: %w", err)
			}
		}
		hits = append(hits, hit)
	}
	return hits, nil
}
