package search

import (
	"maps"
	"sync"
)

// Cache keeps what segments hold for the next question: they do not change. It is for
// one index, and safe for concurrent use.
type Cache struct {
	mu       sync.Mutex
	docs     map[int64]cached
	vocables map[int64]vocables
	signs    map[int64]cachedSigns
	model    string // whose signs are kept
}

type cached struct {
	edition int64
	documents
}

type vocables struct {
	edition int64
	words   []string
}

type cachedSigns struct {
	edition int64
	Signs
}

// words returns the words that the terms of a segment stand for, read once.
func (c *Cache) words(rows Rows, s Segment) ([]string, error) {
	if c != nil {
		c.mu.Lock()
		had, ok := c.vocables[s.ID]
		c.mu.Unlock()
		if ok && had.edition == s.Edition {
			return had.words, nil
		}
	}
	b, err := rows.Terms(s.ID)
	if err != nil {
		return nil, err
	}
	terms, err := openTexts(b)
	if err != nil {
		return nil, err
	}
	words := terms[:0]
	for _, t := range terms {
		if w, ok := vocable(t); ok {
			words = append(words, w)
		}
	}
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.vocables == nil {
			c.vocables = map[int64]vocables{}
		}
		c.vocables[s.ID] = vocables{s.Edition, words}
	}
	return words, nil
}

// Chunk names a part of the signs of a store, and tells when it changes.
type Chunk struct{ ID, Edition int64 }

// Signs returns the signs of the vectors of a model: those of chunks that changed are read.
func (c *Cache) Signs(model string, chunks []Chunk, read func(ids []int64) (map[int64]Signs, error)) ([]Signs, error) {
	had := map[int64]cachedSigns{}
	if c != nil {
		c.mu.Lock()
		if c.model == model {
			had = maps.Clone(c.signs)
		}
		c.mu.Unlock()
	}
	var missing []int64
	for _, k := range chunks {
		if s, ok := had[k.ID]; !ok || s.edition != k.Edition {
			missing = append(missing, k.ID)
		}
	}
	fresh, err := read(missing)
	if err != nil {
		return nil, err
	}
	out := make([]Signs, 0, len(chunks))
	keep := make(map[int64]cachedSigns, len(chunks))
	for _, k := range chunks {
		s, ok := fresh[k.ID]
		if !ok {
			s = had[k.ID].Signs
		}
		keep[k.ID] = cachedSigns{k.Edition, s}
		out = append(out, s)
	}
	if c != nil {
		c.mu.Lock()
		c.signs, c.model = keep, model
		c.mu.Unlock()
	}
	return out, nil
}

// documents returns the documents of a segment, read once. Who gets them must not
// change them.
func (c *Cache) documents(rows Rows, s Segment) (documents, error) {
	if c != nil {
		c.mu.Lock()
		had, ok := c.docs[s.ID]
		c.mu.Unlock()
		if ok && had.edition == s.Edition {
			return had.documents, nil
		}
	}
	b, err := rows.Docs(s.ID)
	if err != nil {
		return documents{}, err
	}
	d, err := openDocuments(b)
	if err == nil && len(d.rows) != s.Docs {
		err = errList
	}
	if err != nil || c == nil {
		return d, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.docs == nil {
		c.docs = map[int64]cached{}
	}
	c.docs[s.ID] = cached{s.Edition, d}
	return d, nil
}

// keep forgets all segments but some.
func (c *Cache) keep(segments []Segment) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.docs) <= 2*len(segments) {
		return
	}
	left := make(map[int64]cached, len(segments))
	for _, s := range segments {
		if had, ok := c.docs[s.ID]; ok {
			left[s.ID] = had
		}
	}
	c.docs = left
	maps.DeleteFunc(c.vocables, func(id int64, _ vocables) bool { _, ok := left[id]; return !ok })
}
