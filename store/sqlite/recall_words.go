package sqlite

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

// candidates is how many of the best word matches the filter is tried on
// first: ranking costs about the same for a few more, and looking them up in
// the table is cheap beside it.
func (r *recaller) candidates() int { return max(64, 4*r.limit) }

const (
	hasWord = `SELECT EXISTS (SELECT 1 FROM memory_fts WHERE memory_fts MATCH ?)`

	bestWords = `SELECT rowid, rank FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rank LIMIT ?`

	// The index is asked first and the table probed for each match. A join
	// could go the other way round and ask the index once per row.
	bestWordsFiltered = `SELECT rowid, rank FROM memory_fts WHERE memory_fts MATCH ?
AND EXISTS (SELECT 1 FROM memories WHERE memories.rowid = memory_fts.rowid AND `
	orderRank = `) ORDER BY rank LIMIT ?`
)

// split returns the words some memory contains and keeps those none does.
func (r *recaller) split(words []string) (known []string, err error) {
	for _, w := range words {
		var has bool
		if err := r.tx.Row(hasWord, quote(w)).Scan(&has); err != nil {
			return nil, err
		}
		if has {
			known = append(known, w)
		} else {
			r.unknown = append(r.unknown, w)
		}
	}
	return known, nil
}

// quote makes a word a string of the full-text query language, in which
// nothing but a quote means anything.
func quote(word string) string { return `"` + strings.ReplaceAll(word, `"`, `""`) + `"` }

// anyOf matches memories that contain at least one of the words.
func anyOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " OR ")
}

// byWords finds the best matches of the words. It reports whether there may
// be more of them.
func (r *recaller) byWords(found map[int64]*match, words []string) (cut bool, err error) {
	if len(words) == 0 {
		return false, nil
	}
	n := 0
	err = r.tx.Each(bestWords, []any{anyOf(words), r.candidates()}, func(s scanner) error {
		n++
		return addWords(found, s)
	})
	return n == r.candidates(), err
}

// byWordsFiltered finds the best matches of the words among those that pass
// the filter.
func (r *recaller) byWordsFiltered(found map[int64]*match, words []string) error {
	query := bestWordsFiltered + r.filter.String() + orderRank
	args := append([]any{r.within(anyOf(words))}, r.filter.args...)
	return r.tx.Each(query, append(args, r.candidates()), func(s scanner) error { return addWords(found, s) })
}

// within narrows a full-text query to the scopes and kinds of the filter, so
// that the index never ranks what the filter drops.
func (r *recaller) within(match string) string {
	facets := make([]string, 0, 5)
	for _, v := range visibleTo(r.ask.Filter) {
		scope, identity, _ := strings.Cut(v, "\x1f")
		facets = append(facets, sqlrows.ScopeFacet(amber.Scope(scope), identity))
	}
	match = "(" + match + ") AND facets : (" + anyOf(facets) + ")"
	if len(r.ask.Kinds) == 0 {
		return match
	}
	facets = facets[:0]
	for _, k := range r.ask.Kinds {
		facets = append(facets, sqlrows.KindFacet(k))
	}
	return match + " AND facets : (" + anyOf(facets) + ")"
}

func addWords(found map[int64]*match, s scanner) error {
	var rowid int64
	var rank float64
	if err := s.Scan(&rowid, &rank); err != nil {
		return err
	}
	at(found, rowid).words = -rank // bm25 is better the lower it is
	return nil
}

// at returns the match of a row, made on first use.
func at(found map[int64]*match, rowid int64) *match {
	m := found[rowid]
	if m == nil {
		m = &match{rowid: rowid}
		found[rowid] = m
	}
	return m
}
