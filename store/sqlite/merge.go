package sqlite

import (
	"fmt"

	"github.com/amber-memory/amber"
)

// A full-text index is a log-structured tree: every transaction adds a
// segment, and segments are merged into larger ones. FTS5 would merge now and
// then, much at a time; a fence, and every other writer, would wait for it.
// Instead each transaction merges a little in proportion to what it wrote.
const (
	mergeWords = `INSERT INTO memory_fts (memory_fts, rank) VALUES ('merge', ?)`
	mergeGrams = `INSERT INTO memory_grams (memory_grams, rank) VALUES ('merge', ?)`

	// Pages merged per unit, and the bytes of text that make one. A page is
	// merged once per level of the tree; these numbers keep the segments of an
	// index at about sixteen.
	wordPages = 2
	gramPages = 4
	unitBytes = 1024
)

// units is how much of the indexes a memory makes up.
func units(m amber.Memory) int {
	return 1 + (len(m.Title)+len(m.Topic)+len(m.Summary)+len(m.Content))/unitBytes
}

// mergeIndexes merges for the memories this transaction wrote.
func (t *tx) mergeIndexes() error {
	if t.indexed == 0 {
		return nil
	}
	if _, err := t.exec(mergeWords, t.indexed*wordPages); err != nil {
		return fmt.Errorf("merge words: %w", err)
	}
	if _, err := t.exec(mergeGrams, t.indexed*gramPages); err != nil {
		return fmt.Errorf("merge grams: %w", err)
	}
	return nil
}
