package sqlite

import "fmt"

// A full-text index is a log-structured tree: every transaction adds a
// segment, and segments are merged into larger ones. FTS5 would merge seldom
// and much at a time; a fence, and every other writer, would wait for it.
// Instead one write in mergeEvery merges a little, so that most writes cost
// the same at any size and none costs much more.
const (
	mergeWords = `INSERT INTO memory_fts (memory_fts, rank) VALUES ('merge', ?)`
	mergeGrams = `INSERT INTO memory_grams (memory_grams, rank) VALUES ('merge', ?)`

	// mergeEvery counts entries of the change log, which every process sees
	// alike, so that short-lived processes merge as well.
	mergeEvery = 4
	// Pages merged per entry. A page is merged once per level of the tree;
	// these numbers keep the segments of an index at about sixteen.
	wordPages = 2
	gramPages = 4
)

// mergeIndexes merges when the log has passed a multiple of mergeEvery in
// this transaction.
func (t *tx) mergeIndexes() error {
	steps := t.Seq/mergeEvery - t.FirstSeq/mergeEvery
	if !t.Indexed || steps == 0 {
		return nil
	}
	if _, err := t.Exec(mergeWords, steps*mergeEvery*wordPages); err != nil {
		return fmt.Errorf("merge words: %w", err)
	}
	if _, err := t.Exec(mergeGrams, steps*mergeEvery*gramPages); err != nil {
		return fmt.Errorf("merge grams: %w", err)
	}
	return nil
}
