package sqlite

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/analyze"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

// maxGramMatches bounds how many memories one part of a query may bring in
// through the gram index, newest first.
const maxGramMatches = 5000

// minPart is the length of the shortest part of a word that is looked for, in
// characters: the length of a gram.
const minPart = 3

const (
	selectGrams = `SELECT rowid FROM memory_grams WHERE memory_grams MATCH ? ORDER BY rowid DESC LIMIT ?`
	selectBody  = `SELECT body FROM memory_characters WHERE id = ?`

	// A gram of one or two characters is the beginning of grams of three.
	selectPrefix = `SELECT doc FROM memory_gram_instances WHERE term >= ? AND term < ? GROUP BY doc ORDER BY doc DESC LIMIT ?`

	// approximateRows stands for the number of memories where only its order
	// of magnitude matters.
	approximateRows = `SELECT coalesce(max(rowid), 0) FROM memories`
)

// bySubstring looks inside words for those no memory contains as a word.
func (r *recaller) bySubstring(found map[int64]*match) error {
	for _, w := range r.unknown {
		if utf8.RuneCountInString(w) < minPart {
			continue
		}
		rowids, err := r.containing(w)
		if err != nil {
			return err
		}
		weight, err := r.rarity(len(rowids))
		if err != nil {
			return err
		}
		for _, id := range rowids {
			at(found, id).substring += weight
		}
	}
	return nil
}

// containing returns the memories that contain a part of a word. The index
// keeps no positions, so that all grams are there does not mean they are
// there in a row: the text decides.
func (r *recaller) containing(part string) ([]int64, error) {
	grams := analyze.Grams(part, minPart)
	quoted := make([]string, len(grams))
	for i, g := range grams {
		quoted[i] = quote(g)
	}
	rowids, err := sqlrows.All(r.tx.Tx, scanRowid, selectGrams, strings.Join(quoted, " AND "), maxGramMatches)
	if err != nil || len(grams) == 1 {
		return rowids, err
	}
	sure := rowids[:0]
	for _, id := range rowids {
		var body string
		if err := r.tx.Row(selectBody, id).Scan(&body); err != nil {
			return nil, err
		}
		if strings.Contains(analyze.Fold(body), part) {
			sure = append(sure, id)
		}
	}
	return sure, nil
}

// byCharacters looks for the characters of scripts written without spaces,
// two at a time.
func (r *recaller) byCharacters(found map[int64]*match) error {
	seen := map[string]bool{}
	for _, run := range r.query.Runs {
		for _, gram := range analyze.Grams(run, 2) {
			if seen[gram] {
				continue
			}
			seen[gram] = true
			rowids, err := sqlrows.All(r.tx.Tx, scanRowid, selectPrefix, gram, gram+string(utf8.MaxRune), maxGramMatches)
			if err != nil {
				return err
			}
			weight, err := r.rarity(len(rowids))
			if err != nil {
				return err
			}
			for _, id := range rowids {
				at(found, id).cjk += weight
			}
		}
	}
	return nil
}

// rarity is what a term that n memories contain adds to a score, on the scale
// of bm25.
func (r *recaller) rarity(n int) (float64, error) {
	var total float64
	if err := r.tx.Row(approximateRows).Scan(&total); err != nil {
		return 0, err
	}
	return max(math.Log((total-float64(n)+0.5)/(float64(n)+0.5)), 1e-6), nil
}

func scanRowid(s scanner) (id int64, err error) {
	err = s.Scan(&id)
	return id, err
}
